//! Measures how often a fitting tool is among the first results, and which share of all fitting
//! tools.
//!
//! `recall <catalogue.json> <questions.json> [half] [misses]`: the catalogue is an array of tools
//! with `server`, `name`, `description` and `inputSchema`; a question has `q`, `kind`, `half` and
//! `targets`, pairs of server and name that fit. `misses` prints the questions without a fitting
//! tool among the first results.

#![expect(clippy::print_stdout, reason = "an example prints its figures")]

use serde_json::Value;
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};
use trunkline_search::{Argument, Document, Index};

/// The figures of the questions of one kind.
#[derive(Default)]
struct Row {
    questions: u32,
    /// The number of questions with a fitting tool within each of [`WITHIN`].
    answered: [f64; WITHIN.len()],
    /// The sum of the shares of fitting tools that were found.
    shares: [f64; WITHIN.len()],
}

const WITHIN: [usize; 3] = [1, 5, 10];

fn main() {
    let mut args = std::env::args().skip(1);
    let mut read = || -> Value {
        let path = args.next().expect("usage: recall <catalogue.json> <questions.json> [half]");
        serde_json::from_slice(&std::fs::read(&path).expect("a readable file")).expect("a JSON file")
    };
    let (catalogue, questions) = (read(), read());
    let (half, shows_misses) = (args.next(), args.next().as_deref() == Some("misses"));
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
        let fits: Vec<bool> = hits.iter().map(|hit| is_wanted(question, &tools[hit.document])).collect();
        for kind in [text(&question["kind"]), "all"] {
            figures.entry(kind).or_default().add(question, &fits);
        }
        if shows_misses && !fits.contains(&true) {
            let names: Vec<&str> = hits.iter().map(|hit| text(&tools[hit.document]["name"])).collect();
            println!("- {}: {}", text(&question["q"]), names.join(" "));
        }
    }
    report(&figures, &times);
}

fn report(figures: &BTreeMap<&str, Row>, times: &[Duration]) {
    let count = u32::try_from(times.len()).unwrap_or(u32::MAX).max(1);
    let mean = times.iter().sum::<Duration>() / count;
    println!("{mean:?} a question, {:?} at most", times.iter().max().copied().unwrap_or_default());
    println!("{:9} {:>4} {:17} {:17}", "", "", "any fitting tool", "share of them");
    for (kind, row) in figures {
        let told = |sums: [f64; WITHIN.len()]| {
            sums.map(|sum| format!("{:.3}", sum / f64::from(row.questions))).join(" ")
        };
        println!("{kind:9} {:4} {} {}", row.questions, told(row.answered), told(row.shares));
    }
}

impl Row {
    /// Adds a question, and which of its results fit.
    fn add(&mut self, question: &Value, fits: &[bool]) {
        self.questions += 1;
        let targets = question["targets"].as_array().map_or(1, Vec::len);
        for (place, within) in WITHIN.into_iter().enumerate() {
            let found = fits.iter().take(within).filter(|fits| **fits).count();
            self.answered[place] += f64::from(u8::from(found > 0));
            self.shares[place] += ratio(found, targets);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of tools are small")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
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
