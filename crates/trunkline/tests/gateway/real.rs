//! Ten third-party servers behind one gateway: used by third-party clients, and killed.

use crate::{
    caller::{Caller, MODERN},
    cell::{Carrier, Cell, Client},
    door::Door,
    processes,
    site::Site,
    ten::{Real, servers},
    visit::{Errand, NAME, Report, SAMPLE, visit},
};
use rustix::process::Signal;
use serde_json::json;
use std::time::{Duration, Instant};
use trunkline_protocol::Era;

/// Tolerance for the number of descriptors: closing connections, timers.
const SLACK: usize = 2;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u01_ten_real_servers_are_used_by_three_sdks_and_killed_in_turn() {
    let site = Site::new("ten");
    let servers = servers(&site);
    configure(&site, &servers);
    let mut door = site.open();
    let began = Instant::now();
    let mut caller = Caller::open(&door, None, MODERN).await;
    for real in &servers {
        let said = caller.insist(real.call.0, real.call.1.clone()).await;
        assert!(said.contains(real.says), "{}: {said}", real.name);
    }
    println!("ten servers answered {:?} after the door opened", began.elapsed());
    let began = Instant::now();
    for cell in
        [(Client::TypeScript2, Era::Modern), (Client::Python, Era::Legacy), (Client::Rmcp, Era::Modern)]
    {
        let cell = Cell { client: cell.0, carrier: Carrier::Http, era: cell.1 };
        let reports = visit(cell, &errands(&door, &servers)).await;
        assert!(reports.iter().all(|report| report.revision == cell.revision().as_str()), "{reports:#?}");
        everything_was_there(&reports[0], &servers);
        part_was_there(&reports[1], &reports[2]);
    }
    println!("three clients took {:?}", began.elapsed());
    // The idle connection may have been closed meanwhile.
    let mut caller = Caller::open(&door, None, MODERN).await;
    // The first round ends the sessions of disconnected clients; the second must not change
    // anything.
    println!("back after: {:?}", kill_each(&site, &servers, &mut caller).await);
    let before = processes::descriptors(door.pid());
    println!("back after: {:?}", kill_each(&site, &servers, &mut caller).await);
    let after = processes::descriptors(door.pid());
    println!("descriptors: {before} after one round of kills, {after} after two");
    assert!(after <= before + SLACK, "{before} descriptors became {after}");
    door.stop().await;
    let left = site.emptied().await;
    println!("nothing was left {left:?} after the gateway");
}

/// Kills all processes of each server in turn while the others are called; returns the longest
/// outage of each.
async fn kill_each<'a>(site: &Site, servers: &'a [Real], caller: &mut Caller) -> Vec<(&'a str, Duration)> {
    let mut away = Vec::new();
    for victim in servers.iter().filter(|real| real.entry["command"].is_array()) {
        let pids = site.processes(victim.name);
        assert!(!pids.is_empty(), "{} has no process", victim.name);
        for pid in pids {
            processes::signal(pid, Signal::KILL);
        }
        let killed = Instant::now();
        for other in servers.iter().filter(|other| other.name != victim.name) {
            let said = caller.said(other.call.0, other.call.1.clone()).await;
            assert!(said.contains(other.says), "{}: {said}", other.name);
        }
        caller.insist(victim.call.0, victim.call.1.clone()).await;
        away.push((victim.name, killed.elapsed()));
    }
    away
}

fn errands(door: &Door, servers: &[Real]) -> Vec<Errand> {
    let mut calls: Vec<_> = servers.iter().map(|real| real.call.clone()).collect();
    calls.push(("everything_trigger-elicitation-request", json!({})));
    calls.push(("everything_trigger-sampling-request", json!({"prompt": "speak", "maxTokens": 10})));
    let time = || ("get_current_time", json!({"timezone": "UTC"}));
    vec![
        Errand {
            target: vec![door.endpoint.clone()],
            calls,
            reads: vec!["demo://resource/dynamic/text/1"],
            prompts: vec![("everything_simple-prompt", json!({}))],
        },
        Errand {
            target: vec![format!("{}/server/time", door.endpoint)],
            calls: vec![time()],
            ..Errand::default()
        },
        Errand {
            target: vec![format!("{}/reading", door.endpoint)],
            calls: vec![time(), ("read_graph", json!({}))],
            ..Errand::default()
        },
    ]
}

fn everything_was_there(report: &Report, servers: &[Real]) {
    for (real, result) in servers.iter().zip(&report.results) {
        let start = format!("{}_", real.name);
        assert!(
            report.tools.iter().any(|tool| tool.starts_with(&start)),
            "{}: {:?}",
            real.name,
            report.tools
        );
        assert_ne!(result["isError"], true, "{}: {result:#}", real.name);
        assert!(result.to_string().contains(real.says), "{}: {result:#}", real.name);
    }
    let asked = &report.results[servers.len()..];
    assert!(asked[0].to_string().contains(NAME), "{:#}", asked[0]);
    assert!(asked[1].to_string().contains(SAMPLE), "{:#}", asked[1]);
    assert_eq!(report.asked.len(), 1, "{:?}", report.asked);
    assert!(report.read[0]["contents"][0]["text"].is_string(), "{:#}", report.read[0]);
    assert!(report.prompted[0]["messages"][0]["content"]["text"].is_string(), "{:#}", report.prompted[0]);
}

fn part_was_there(alone: &Report, view: &Report) {
    assert!(alone.results[0].to_string().contains("UTC"), "{alone:#?}");
    assert!(alone.tools.iter().all(|tool| tool.ends_with("_time")), "{alone:#?}");
    assert!(view.results.iter().all(|result| result["isError"] != true), "{view:#?}");
    assert!(
        view.tools.len() > alone.tools.len() && !view.tools.iter().any(|tool| tool == "echo"),
        "{view:#?}"
    );
}

fn configure(site: &Site, servers: &[Real]) {
    let entries: serde_json::Map<_, _> =
        servers.iter().map(|real| (real.name.to_owned(), real.entry.clone())).collect();
    site.configure(&json!({
        "mcp": {"servers": entries},
        "views": {"reading": {"servers": ["time", "memory"], "naming": "bare"}},
        // Starting programs takes long on a busy machine.
        "defaults": {"timeout": {"startup": "60s"}},
    }));
}
