//! Servers that do nothing wrong, and were reported because a probe asked or waited in the wrong
//! way.

use super::fixture::dial;
use serde_json::{Value, json};
use trunkline_lint::{
    Group, Level, Mode, Options, Report, Subject,
    engine::{Active, Callable, ServerSubject},
    report::Kind,
    rules,
};

async fn lint(script: Value, mode: Mode) -> Report {
    let over = script["over"].as_str().unwrap_or("stdio").to_owned();
    let script = serde_json::from_value(script).expect("the script is one");
    let subject = ServerSubject { name: "server".to_owned(), dial: dial(&script, &over).await, lock: None };
    let active = Active { tools: Callable::All, calls: 50, cases: 0, seed: 1 };
    let options = Options { mode, active, ..Options::default() };
    trunkline_lint::lint(&[Subject::Server(subject)], &options).await
}

fn found(report: &Report) -> Vec<&str> {
    report.findings().map(|(_, finding)| finding.rule).collect()
}

/// A modern server over HTTP compares the version header with the body first.
#[tokio::test]
async fn a_missing_version_may_be_a_header_mismatch() {
    let lacks = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
    let error = json!({"code": -32020, "message": "Header mismatch: MCP-Protocol-Version"});
    let script = json!({"over": "http", "eras": ["modern"], "faults": [
        {"when": {"era": "modern", "lacks": lacks}, "do": {"error": error, "status": 400}},
    ]});
    let report = lint(script, Mode::Negative).await;
    assert!(!found(&report).contains(&"meta-required"), "{:?}", found(&report));
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_to_an_earlier_request_is_not_the_answer_to_malformed_json() {
    let late = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}"#;
    let script = json!({"eras": ["legacy"], "faults": [
        {"when": {"kind": "malformed"}, "do": {"silence": true, "before": [late]}},
    ]});
    let report = lint(script, Mode::Negative).await;
    assert!(!found(&report).contains(&"parse-error-code"), "{:?}", found(&report));
}

#[tokio::test(start_paused = true)]
async fn a_list_that_takes_four_seconds_is_slow_and_not_broken() {
    let script = json!({"faults": [{"when": {"method": "tools/list"}, "do": {"delay_ms": 4_000}}]});
    let report = lint(script, Mode::Negative).await;
    let speed: Vec<&str> =
        rules::all().filter(|it| it.group == Group::Performance).map(|it| it.name).collect();
    let others = report.findings().filter(|(_, it)| it.level > Level::Info && !speed.contains(&it.rule));
    let others: Vec<_> = others.map(|(_, finding)| (finding.rule, &finding.message)).collect();
    assert!(others.is_empty(), "{others:#?}");
    let rule =
        |name: &str| report.targets[0].rules.iter().find(|rule| rule.rule.name == name).map(|it| it.outcome);
    assert_eq!(rule("tool-description"), Some(Kind::Passed));
    assert_eq!(rule("list-latency"), Some(Kind::Finding));
}

#[tokio::test(start_paused = true)]
async fn one_progress_message_proves_nothing() {
    let once = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$token,"progress":1}}"#;
    let script = json!({"faults": [
        {"when": {"method": "tools/call", "has": "/params/_meta/progressToken"}, "do": {"before": [once]}},
    ]});
    let report = lint(script, Mode::Active).await;
    let rule = report.targets[0].rules.iter().find(|rule| rule.rule.name == "progress-rises");
    assert_eq!(rule.map(|rule| rule.outcome), Some(Kind::NotVerified));
}

#[test]
fn advice_about_descriptions_is_no_warning() {
    let rule = rules::find("parameter-description").expect("the rule is there");
    assert_eq!((rule.level, rule.clause.revision), (Level::Info, None));
}
