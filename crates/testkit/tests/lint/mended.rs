//! Regression tests for false positives on real servers: a script does the same as the server, and
//! the rule must report nothing.

use super::fixture::dial;
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;
use trunkline_lint::{
    Level, Mode, Options, Report, Subject,
    engine::{Active, Callable, ServerSubject},
    report::{self, Detail},
};

/// Time beyond the timeout of the first answer that a run may wait for a server that never
/// answers.
const LITTLE_MORE: Duration = Duration::from_secs(5);

async fn lint(script: serde_json::Value) -> Report {
    let script = serde_json::from_value(script).expect("the script is one");
    let subject = ServerSubject { name: "server".to_owned(), dial: dial(&script, "stdio").await, lock: None };
    let options = Options {
        mode: Mode::Active,
        active: Active { tools: Callable::All, calls: 200, cases: 0, seed: 1 },
        ..Options::default()
    };
    trunkline_lint::lint(&[Subject::Server(subject)], &options).await
}

fn is_clean(report: &Report) {
    let text = report::text(report, Detail::Findings);
    assert!(report.worst().is_none_or(|worst| worst == Level::Info), "{text}");
    assert_eq!(report.summary.unreachable, 0, "{text}");
}

/// Found on server-everything, which has a tool that runs for ten seconds.
#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_its_time_is_no_request_without_an_answer() {
    let slow = json!({"when": {"method": "tools/call", "subject": "echo"}, "do": {"delay_ms": 10_000}});
    is_clean(&lint(json!({"faults": [slow]})).await);
}

/// Found on server-everything and mcp-server-time, which return the text in an error or as the
/// result.
#[tokio::test(start_paused = true)]
async fn whoever_repeats_our_megabyte_is_not_told_that_it_is_much() {
    is_clean(&lint(json!({})).await);
}

/// Found on a FastMCP tool that asks the user first.
#[tokio::test(start_paused = true)]
async fn a_question_to_the_client_is_no_result_that_lacks_its_content() {
    let question = json!({"resultType": "input_required", "requestState": "asked", "inputRequests": {}});
    let report = lint(json!({"faults": [
        {"when": {"method": "tools/list"}, "do": {"set": {"/result/tools/0/outputSchema": {"type": "object"}}}},
        {"when": {"method": "tools/call", "era": "modern", "subject": "add"}, "do": {"result": question}},
    ]}))
    .await;
    let found = report.findings().find(|(_, finding)| {
        finding.rule == "structured-content" && finding.eras.iter().any(|era| era == "modern")
    });
    assert!(found.is_none(), "{found:#?}");
}

/// Found on a Python server on a busy machine.
#[tokio::test(start_paused = true)]
async fn a_server_that_starts_slowly_keeps_nothing_in_a_buffer_and_both_its_eras() {
    let slow = |method| json!({"when": {"method": method, "nth": 1}, "do": {"delay_ms": 12_700}});
    let report = lint(json!({"faults": [slow("initialize"), slow("server/discover")]})).await;
    let found: Vec<_> = report.findings().filter(|(_, finding)| finding.level > Level::Info).collect();
    assert!(found.iter().all(|(_, finding)| finding.rule == "cold-start"), "{found:#?}");
    assert_eq!(report.targets[0].eras, ["modern", "legacy"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_costs_little_more_than_its_first_answer_may_take() {
    let began = Instant::now();
    let report = lint(json!({"faults": [{"when": {"kind": "request"}, "do": {"silence": true}}]})).await;
    let took = began.elapsed();
    assert!(took < Options::default().budget.start + LITTLE_MORE, "{took:?}");
    assert!(report.findings().any(|(_, finding)| finding.rule == "first-answer"));
}
