//! Consent for the session of a client: by its own person, or by an operator.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    consent::{approvals, finished, pending, trail},
    door::Door,
    outcome::Outcome::{self, Refused, Runs},
    peers,
    site::Site,
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

const FOR_SESSION: &str = r#"{"decision":"allow for this session"}"#;

fn site(name: &str) -> Site {
    let site = Site::new(name);
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "policy": {"rules": [{"effect": "ask", "tools": ["echo_echo"]}]},
        "audit": {"enabled": true, "directory": site.path("audit")},
    }));
    site
}

/// Lets a TypeScript client visit twice and call twice each time; returns its reports.
async fn visits(site: &Site, era: &str, kind: &str, target: &[String]) -> Result<Value, String> {
    let calls = json!([["echo_echo", {"text": "a"}], ["echo_echo", {"text": "b"}]]);
    let errand = json!({"target": target, "calls": calls});
    let mut client = peers::typescript("2");
    client.args([era, kind, &json!([errand, errand]).to_string()]);
    client.env("ANSWER", FOR_SESSION).env("HOME", site.folder.path());
    let output = finished(client).await;
    serde_json::from_slice(&output.stdout).map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Both calls of each visit were made, after one question.
fn assert_asked_once(reports: &Value, what: &str) {
    for report in reports.as_array().unwrap() {
        assert_eq!(report["results"][1]["content"][0]["text"], "b", "{what}: {report:#}");
        assert_eq!(report["asked"].as_array().unwrap().len(), 1, "{what}: {report:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_person_at_a_typescript_client_agrees_for_the_session() {
    let site = site("session-http");
    let mut door = site.open();
    let endpoint = [door.endpoint.clone()];
    let reports = visits(&site, "legacy", "http", &endpoint).await.unwrap();
    assert_asked_once(&reports, "legacy over HTTP");
    // Requests of the modern era over HTTP belong to no session, so that is no choice.
    let refused = visits(&site, "modern", "http", &endpoint).await.unwrap_err();
    assert!(refused.contains("did not agree") || refused.contains("decision"), "{refused}");
    door.stop().await;
    let trail = trail(&site);
    assert_eq!(trail.matches("the person at the client, for this session").count(), 2, "{trail}");
    assert_eq!(trail.matches("\"approval-used\"").count(), 2, "{trail}");
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_over_stdio_is_a_session_in_both_eras() {
    let site = site("session-stdio");
    let config = site.path("trunkline.json").display().to_string();
    let words = [env!("CARGO_BIN_EXE_trunkline"), "serve", "--stdio", "--config", &config];
    for era in ["legacy", "modern"] {
        let reports = visits(&site, era, "stdio", &words.map(str::to_owned)).await.unwrap();
        assert_asked_once(&reports, era);
    }
    site.emptied().await;
}

/// Starts a call in the background; the caller comes back with the answer.
fn calling(mut caller: Caller) -> JoinHandle<(Caller, Value)> {
    tokio::spawn(async move {
        let answer = caller.call("echo_echo", json!({"text": "hello"})).await;
        (caller, answer)
    })
}

/// The id of the call that waits, which has a session or not.
async fn waiting(site: &Site, door: &Door, has_session: bool) -> String {
    let record = pending(site, door).await;
    assert_eq!(record["session"], has_session, "{record:#}");
    record["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_agrees_for_the_session_of_a_legacy_client() {
    let site = site("session-operator");
    let mut door = site.open();
    let call = calling(Caller::open(&door, None, LEGACY).await);
    let id = waiting(&site, &door, true).await;
    let (fine, decided, errors) = approvals(&site, &door, &["approve", &id, "--for", "session"]);
    assert!(fine, "{errors}");
    assert_eq!(decided["scope"], "for this session", "{decided:#}");
    let (mut caller, answer) = call.await.unwrap();
    assert_eq!(Outcome::of(&answer), Runs, "{answer:#}");
    let answer = caller.call("echo_echo", json!({"text": "again"})).await;
    assert_eq!(Outcome::of(&answer), Runs, "{answer:#}");
    // The same caller in another session is asked again.
    let call = calling(Caller::open(&door, None, LEGACY).await);
    let id = waiting(&site, &door, true).await;
    assert!(approvals(&site, &door, &["deny", &id]).0);
    assert_eq!(Outcome::of(&call.await.unwrap().1), Refused);
    door.stop().await;
    let trail = trail(&site);
    assert!(trail.contains("by the agreement of local for this session"), "{trail}");
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_cannot_agree_for_a_session_that_does_not_exist() {
    let site = site("session-none");
    let mut door = site.open();
    let call = calling(Caller::open(&door, None, MODERN).await);
    let id = waiting(&site, &door, false).await;
    let (fine, _, errors) = approvals(&site, &door, &["approve", &id, "--for", "session"]);
    assert!(!fine && errors.contains("the client has no session"), "{errors}");
    let (fine, _, errors) = approvals(&site, &door, &["approve", &id, "--for", "caller"]);
    assert!(!fine && errors.contains("--lasting"), "{errors}");
    let (fine, decided, errors) = approvals(&site, &door, &["approve", &id]);
    assert!(fine, "{errors}");
    assert_eq!(decided["scope"], "once", "{decided:#}");
    assert_eq!(Outcome::of(&call.await.unwrap().1), Runs);
    door.stop().await;
    site.emptied().await;
}
