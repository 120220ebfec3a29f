//! `call --async` and `executions` on the command line, against a running gateway.

use crate::{
    door::Door,
    rest::echo_site,
    site::{Site, until},
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{fs, process::Output};

/// Runs the binary against the gateway.
fn executions(site: &Site, door: &Door, words: &[&str]) -> Output {
    site.binary().arg("executions").args(words).args(["--url", &door.endpoint]).output().unwrap()
}

/// Starts an execution on the command line and returns its id.
fn start(site: &Site, door: &Door, words: &[&str]) -> String {
    let output = site.binary().args(["call", &door.endpoint]).args(words).arg("--async").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let id = told(&output).trim().to_owned();
    assert!(id.len() == 48 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{output:?}");
    id
}

fn told(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn complained(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_an_execution_is_started_waited_for_shown_and_listed_on_the_command_line() {
    let site = echo_site("cli-executions");
    let mut door = site.open();
    let id = start(&site, &door, &["echo_echo", "text=hello"]);
    let waited = executions(&site, &door, &["wait", &id]);
    assert_eq!((waited.status.code(), told(&waited).as_str()), (Some(0), "hello\n"), "{waited:?}");
    let shown = executions(&site, &door, &["show", &id, "--json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!((&shown["state"], &shown["executionId"]), (&json!("done"), &json!(id)));

    let gate = format!("path={}", site.path("never").display());
    let other = start(&site, &door, &["echo_gate", "text=x", &gate]);
    let listed = told(&executions(&site, &door, &["list"]));
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with(&id) && lines[1].starts_with(&other), "{listed}");
    let done = told(&executions(&site, &door, &["list", "--state", "done", "--tool", "echo_echo"]));
    assert!(done.lines().count() == 1 && done.contains("echo_echo"), "{done}");
    let short = executions(&site, &door, &["wait", &other, "--timeout", "1ms"]);
    assert_eq!(short.status.code(), Some(1), "it has not ended: {short:?}");
    assert_eq!(executions(&site, &door, &["show", &other]).status.code(), Some(1));

    let all = executions(&site, &door, &["list", "--state", "finished"]);
    assert_eq!(all.status.code(), Some(2));
    assert!(complained(&all).contains("queued, running, waiting"), "{all:?}");
    let none = executions(&site, &door, &["show", &"0".repeat(48)]);
    assert_eq!(none.status.code(), Some(2));
    assert!(complained(&none).contains("EXECUTION_NOT_FOUND"), "{none:?}");
    door.signal(Signal::KILL);
    door.ended().await;
    assert_eq!(executions(&site, &door, &["list"]).status.code(), Some(3), "nobody listens");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_an_execution_is_cancelled_on_the_command_line() {
    let site = echo_site("cli-cancel");
    let mut door = site.open();
    let (log, gate) = (site.path("log"), site.path("never"));
    let (log, gate) = (format!("log={}", log.display()), format!("path={}", gate.display()));
    let id = start(&site, &door, &["echo_gate", "text=x", &gate, &log]);
    until(|| fs::read_to_string(site.path("log")).is_ok(), || "it does not run".to_owned()).await;
    let cancelled = executions(&site, &door, &["cancel", &id]);
    assert_eq!(cancelled.status.code(), Some(0), "{cancelled:?}");
    assert!(told(&cancelled).starts_with("echo_gate: cancelled"), "{cancelled:?}");
    let again = executions(&site, &door, &["cancel", &id]);
    assert_eq!(again.status.code(), Some(0), "it is cancelled: {again:?}");
    assert_eq!(executions(&site, &door, &["wait", &id]).status.code(), Some(1));
    let done = start(&site, &door, &["echo_echo", "text=x"]);
    executions(&site, &door, &["wait", &done]);
    let late = executions(&site, &door, &["cancel", &done]);
    assert_eq!(late.status.code(), Some(1), "it has ended: {late:?}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_a_question_is_answered_on_the_command_line_if_the_answer_fits() {
    let site = echo_site("cli-answer");
    let mut door = site.open();
    let id = start(&site, &door, &["echo_ask"]);
    let asks = executions(&site, &door, &["wait", &id]);
    assert_eq!(asks.status.code(), Some(1), "it has not ended: {asks:?}");
    assert!(told(&asks).contains("Who?"), "{asks:?}");
    for (words, complaint) in [
        (&["answer", &id][..], "name"),
        (&["answer", &id, "nme=Ada"], "name"),
        (&["answer", &id, "name:=7"], "name"),
        (&["answer", &id, "Ada"], "is not an argument"),
    ] {
        let refused = executions(&site, &door, words);
        assert_eq!(refused.status.code(), Some(2), "{words:?}: {refused:?}");
        assert!(complained(&refused).contains(complaint), "{words:?}: {refused:?}");
    }
    let other = executions(&site, &door, &["answer", &id, "name=Ada", "--question", "another"]);
    assert_eq!(other.status.code(), Some(2), "{other:?}");
    let given = executions(&site, &door, &["answer", &id, "name=Ada"]);
    assert_eq!(given.status.code(), Some(0), "{given:?}");
    let done = executions(&site, &door, &["wait", &id]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert!(told(&done).contains("Ada"), "{done:?}");
    let late = executions(&site, &door, &["answer", &id, "name=Bo"]);
    assert_eq!(late.status.code(), Some(2), "nothing is asked: {late:?}");

    let declined = start(&site, &door, &["echo_ask"]);
    executions(&site, &door, &["wait", &declined]);
    let given = executions(&site, &door, &["answer", &declined, "--decline"]);
    assert_eq!(given.status.code(), Some(0), "{given:?}");
    assert!(told(&executions(&site, &door, &["wait", &declined])).contains("decline"));
    door.stop().await;
}
