//! Consent: asked at the client by elicitation, or given by an operator while the call waits.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    door::Door,
    peers,
    site::{HANG, PAUSE, Site},
    wire::Wire,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{fs, process::Output, time::Instant};
use tokio::{process::Command, time::timeout};

const SECRET: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

/// A gateway whose `echo` needs consent, with an audit trail and a store on disk.
fn site(name: &str, approval_timeout: &str) -> Site {
    let site = Site::new(name);
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "policy": {"default": "allow", "rules": [
            {"name": "careful", "effect": "ask", "tools": ["echo_echo"], "reason": "it is loud"},
        ]},
        "limits": {"approvalTimeout": approval_timeout},
        "store": {"path": site.path("store/data.redb")},
        "audit": {"enabled": true, "directory": site.path("audit")},
    }));
    site
}

/// The text of the whole audit trail.
pub(crate) fn trail(site: &Site) -> String {
    let mut text = String::new();
    let mut folders = vec![site.path("audit")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                text.push_str(&fs::read_to_string(path).unwrap_or_default());
            }
        }
    }
    text
}

/// Runs `trunkline approvals`.
pub(crate) fn approvals(site: &Site, door: &Door, words: &[&str]) -> (bool, Value, String) {
    let mut command = site.binary();
    command.arg("approvals").args(words).args(["--json", "--url", &format!("http://{}", door.address)]);
    let output = command.output().unwrap();
    let told = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.success(), told, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Waits until a call waits for an operator, and returns its record.
pub(crate) async fn pending(site: &Site, door: &Door) -> Value {
    let began = Instant::now();
    loop {
        let (fine, told, errors) = approvals(site, door, &["list"]);
        assert!(fine, "{errors}");
        let all = told["approvals"].as_array().unwrap().clone();
        if let Some(found) = all.into_iter().find(|approval| approval["state"] == "pending") {
            return found;
        }
        assert!(began.elapsed() < HANG, "{told:#}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// The arguments of a foreign client that calls `echo_echo`.
pub(crate) fn errand(door: &Door, era: &str, text: &str) -> [String; 3] {
    let errand = json!([{"target": [door.endpoint], "calls": [["echo_echo", {"text": text}]]}]);
    [era.to_owned(), "http".to_owned(), errand.to_string()]
}

pub(crate) async fn finished(mut command: Command) -> Output {
    command.kill_on_drop(true);
    timeout(HANG, command.output()).await.expect("the client ends").unwrap()
}

/// Starts a call in the background.
fn calling(door: &Door, revision: &'static str) -> tokio::task::JoinHandle<Value> {
    let address = door.address.clone();
    tokio::spawn(async move {
        let mut caller = Caller::connect(&address, "/mcp", None, revision).await;
        caller.begin().await;
        caller.call("echo_echo", json!({"text": "hello", "password": SECRET})).await
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_typescript_client_is_asked_in_both_eras() {
    let site = site("elicit", "1m");
    let mut door = site.open();
    for era in ["legacy", "modern"] {
        let mut client = peers::typescript("2");
        client.args(errand(&door, era, era)).env("ANSWER", r#"{"decision":"allow once"}"#);
        let output = finished(client).await;
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{era}: {}", String::from_utf8_lossy(&output.stderr)));
        assert_eq!(report[0]["results"][0]["content"][0]["text"], era, "{report:#}");
        let asked = report[0]["asked"][0].as_str().unwrap();
        assert!(asked.contains("echo_echo") && asked.contains("it is loud"), "{asked}");
        // The person says no, or the client accepts the form without anybody having chosen.
        for answer in [r#"{"decision":"deny"}"#, "{}"] {
            let mut client = peers::typescript("2");
            client.args(errand(&door, era, "never")).env("ANSWER", answer);
            let output = finished(client).await;
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success(), "{era} {answer}");
            assert!(
                errors.contains("did not agree") || errors.contains("decision"),
                "{era} {answer}: {errors}"
            );
        }
    }
    door.stop().await;
    let trail = trail(&site);
    assert_eq!(trail.matches("\"consent-given\"").count(), 2, "{trail}");
    assert!(trail.matches("\"consent-refused\"").count() >= 2, "{trail}");
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_decides_while_a_python_client_waits() {
    let site = site("operator", "2m");
    let mut door = site.open();
    for era in ["legacy", "modern"] {
        let mut client = peers::python("sdk");
        client.args(errand(&door, era, era)).env("SILENT", "1");
        let client = tokio::spawn(finished(client));
        let waiting = pending(&site, &door).await;
        let id = waiting["id"].as_str().unwrap();
        assert_eq!(waiting["tool"], "echo_echo", "{waiting:#}");
        assert_eq!(waiting["reason"], "it is loud", "{waiting:#}");
        assert!(waiting["rule"].as_str().unwrap().contains("rule `careful`"), "{waiting:#}");
        let (fine, decided, errors) = approvals(&site, &door, &["approve", id]);
        assert!(fine, "{errors}");
        assert_eq!(decided["state"], "approved");
        let output = client.await.unwrap();
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{era}: {}", String::from_utf8_lossy(&output.stderr)));
        assert_eq!(report[0]["results"][0]["content"][0]["text"], era, "{report:#}");
        // A decision is final.
        let (fine, _, errors) = approvals(&site, &door, &["deny", id]);
        assert!(!fine && errors.contains("approved already"), "{errors}");
    }
    door.stop().await;
    let trail = trail(&site);
    assert_eq!(trail.matches("\"approval-pending\"").count(), 2, "{trail}");
    assert_eq!(trail.matches("\"approval-approved\"").count(), 2, "{trail}");
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a11_the_caller_cannot_agree_to_its_own_call() {
    let site = site("own", "2m");
    let mut door = site.open();
    let call = calling(&door, MODERN);
    let waiting = pending(&site, &door).await;
    let id = waiting["id"].as_str().unwrap();
    // Secrets in the arguments are masked.
    let shown = waiting["arguments"].as_str().unwrap();
    assert!(shown.contains("hello") && !shown.contains(SECRET), "{shown}");
    // Any program of this machine can send this request, so it is not enough.
    for path in ["approve", "approve?for=tool&lasting=1h"] {
        let mut wire = Wire::open(&door.address).await.unwrap();
        for headers in ["", "Trunkline-Operator: \r\n", "Trunkline-Operator: wrong\r\n"] {
            let what = format!("POST /control/approvals/{id}/{path}");
            let answer = wire.send(&what, headers, "").await.unwrap();
            assert_eq!(answer.status, 403, "{}", answer.text());
        }
    }
    // Neither can a tool call.
    let mut caller = Caller::open(&door, None, LEGACY).await;
    assert!(caller.tools().await.iter().all(|tool| tool.starts_with("echo_")));
    let (fine, _, errors) = approvals(&site, &door, &["deny", id, "--note", "not today"]);
    assert!(fine, "{errors}");
    let answer = call.await.unwrap();
    assert_eq!(answer["error"]["data"]["code"], "approval-refused", "{answer:#}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("not today"), "{answer:#}");
    door.stop().await;
    assert!(!trail(&site).contains(SECRET));
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_expires_and_an_agreement_lasts() {
    let site = site("expiry", "1s");
    let mut door = site.open();
    let answer = calling(&door, LEGACY).await.unwrap();
    assert_eq!(answer["error"]["data"]["code"], "approval-expired", "{answer:#}");
    let (_, all, _) = approvals(&site, &door, &["list"]);
    assert_eq!(all["approvals"][0]["state"], "expired", "{all:#}");
    let id = all["approvals"][0]["id"].as_str().unwrap();
    let (fine, _, errors) = approvals(&site, &door, &["approve", id]);
    assert!(!fine && errors.contains("expired already"), "{errors}");
    door.stop().await;
    site.emptied().await;

    let site = self::site("lasting", "2m");
    let mut door = site.open();
    let call = calling(&door, MODERN);
    let id = pending(&site, &door).await["id"].as_str().unwrap().to_owned();
    let words = ["approve", &id, "--for", "caller", "--lasting", "1h"];
    let (fine, decided, errors) = approvals(&site, &door, &words);
    assert!(fine, "{errors}");
    assert!(decided["scope"].as_str().unwrap().contains("for this caller"), "{decided:#}");
    assert!(call.await.unwrap()["result"].is_object());
    // It holds after a restart, too, and the trail says whose agreement was used.
    door.stop().await;
    let mut door = site.open();
    let answer = calling(&door, LEGACY).await.unwrap();
    assert!(answer["result"].is_object(), "{answer:#}");
    door.stop().await;
    assert!(trail(&site).contains("\"approval-used\""));
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_kill_nothing_runs_and_the_record_says_so() {
    let site = site("killed", "10m");
    let mut door = site.open();
    let call = calling(&door, MODERN);
    let id = pending(&site, &door).await["id"].as_str().unwrap().to_owned();
    door.signal(Signal::KILL);
    door.ended().await;
    assert!(call.await.is_err(), "the call has no answer");
    let mut door = site.open();
    let (fine, shown, errors) = approvals(&site, &door, &["show", &id]);
    assert!(fine, "{errors}");
    assert_eq!(shown["state"], "abandoned", "{shown:#}");
    let (fine, _, errors) = approvals(&site, &door, &["approve", &id]);
    assert!(!fine && errors.contains("abandoned already"), "{errors}");
    // A client that hangs up withdraws its question.
    let call = calling(&door, MODERN);
    let id = pending(&site, &door).await["id"].as_str().unwrap().to_owned();
    call.abort();
    let began = Instant::now();
    while approvals(&site, &door, &["show", &id]).1["state"] != "withdrawn" {
        assert!(began.elapsed() < HANG);
        tokio::time::sleep(PAUSE).await;
    }
    door.stop().await;
    site.emptied().await;
}
