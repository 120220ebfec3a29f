//! Measures how often the wanted tool is among the first results.
//!
//! `recall <catalogue.json> <questions.json> [half]`: the catalogue is an array of tools with
//! `server`, `name`, `description` and `inputSchema`; a question has `q`, `kind`, `half` and
//! `targets`, pairs of server and name of which any one is right.

#![expect(clippy::print_stdout, reason = "an example prints its figures")]

use serde_json::Value;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};
use trunkline_search::{Argument, Document, Index};

/// Questions of one kind: how many, and how many were answered within each of [`WITHIN`].
type Row = (u32, [u32; WITHIN.len()]);

const WITHIN: [usize; 3] = [1, 5, 10];

fn main() {
    let mut args = std::env::args().skip(1);
    let mut read = || -> Value {
        let path = args.next().expect("usage: recall <catalogue.json> <questions.json> [half]");
        serde_json::from_slice(&std::fs::read(&path).expect("a readable file")).expect("a JSON file")
    };
    let (catalogue, questions) = (read(), read());
    let half = args.next();
    let tools = catalogue.as_array().expect("an array of tools");
    let started = Instant::now();
    let index = index(tools);
    println!("{} tools indexed in {:?}", index.len(), started.elapsed());

    let mut figures: BTreeMap<&str, Row> = BTreeMap::new();
    let mut times: Vec<Duration> = Vec::new();
    for question in questions.as_array().expect("an array of questions") {
        if half.as_deref().is_some_and(|half| half != "all" && question["half"] != half) {
            continue;
        }
        let started = Instant::now();
        let hits = index.search(text(&question["q"]), 10, |_| true);
        times.push(started.elapsed());
        let place = hits.iter().position(|hit| is_wanted(question, &tools[hit.document]));
        for kind in [text(&question["kind"]), "all"] {
            let (asked, found) = figures.entry(kind).or_default();
            *asked += 1;
            for (count, within) in found.iter_mut().zip(WITHIN) {
                *count += u32::from(place.is_some_and(|place| place < within));
            }
        }
    }
    report(&figures, &times);
}

fn report(figures: &BTreeMap<&str, Row>, times: &[Duration]) {
    let count = u32::try_from(times.len()).unwrap_or(u32::MAX).max(1);
    let mean = times.iter().sum::<Duration>() / count;
    println!("{mean:?} a question, {:?} at most", times.iter().max().copied().unwrap_or_default());
    for (kind, (asked, found)) in figures {
        let shares: Vec<String> =
            found.iter().map(|count| format!("{:.3}", f64::from(*count) / f64::from(*asked))).collect();
        println!("{kind:8} {asked:4} {}", shares.join(" "));
    }
}

fn is_wanted(question: &Value, tool: &Value) -> bool {
    let targets = question["targets"].as_array().expect("targets");
    targets.iter().any(|pair| pair[0] == tool["server"] && pair[1] == tool["name"])
}

fn index(tools: &[Value]) -> Index {
    let arguments: Vec<Vec<Argument<'_>>> = tools.iter().map(arguments).collect();
    Index::new(tools.iter().zip(&arguments).map(|(tool, arguments)| Document {
        server: text(&tool["server"]),
        name: text(&tool["name"]),
        description: text(&tool["description"]),
        arguments,
        ..Document::default()
    }))
}

fn arguments(tool: &Value) -> Vec<Argument<'_>> {
    let properties = tool["inputSchema"]["properties"].as_object();
    properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| Argument {
            name,
            description: text(&schema["description"]),
            values: schema["enum"].as_array().into_iter().flatten().map(text).collect(),
        })
        .collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
