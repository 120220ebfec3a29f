//! `structured-content`: a result matches the tool's output schema.

use crate::{
    probes::{LISTS, TOOL_CALL_STEP, TOOL_CALLS},
    rules::prelude::*,
};
use trunkline_schema::{Budget, Schema};

pub(super) static RULE: Rule = Rule {
    name: "structured-content",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Active,
    summary: "a tool with an `outputSchema` returns `structuredContent` that fits it",
    clause: Clause::of("2025-11-25", "server/tools", "Output Schema"),
    why: "Clients validate the result and drop it when it does not fit; programs that rely on the schema break.",
    fix: "Return `structuredContent` that fits `outputSchema` with every result that is no error, or change the schema.",
    needs: &[&TOOL_CALLS, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in case.all(&TOOL_CALLS, TOOL_CALL_STEP)? {
        let tool = tools.iter().find(|tool| tool.text("name") == Some(asked.variant()));
        let Some(schema) = tool.and_then(|tool| tool.value.get("outputSchema")) else { continue };
        // A request for input or a task is not a final result.
        let complete =
            |result: &&serde_json::Value| result.get("resultType").is_none_or(|kind| kind == "complete");
        let Some(result) = asked.result().filter(|result| result["isError"] != true).filter(complete) else {
            continue;
        };
        seen = true;
        let about = format!("tool {}", asked.variant());
        let Some(content) = result.get("structuredContent") else {
            let message = "the tool has an `outputSchema`, but its result has no `structuredContent`";
            findings.push(asked.finding(message, "/result/structuredContent").about(about));
            continue;
        };
        // Other rules report unusable schemas; a validation that exceeds its budget is no
        // evidence.
        let Ok(schema) = Schema::of_its_draft(schema) else { continue };
        let Ok(errors) = schema.errors(content, Budget::FULL) else { continue };
        if let Some(error) = errors.first() {
            let message = format!("`structuredContent` does not fit `outputSchema`: {error}");
            let pointer = format!("/result/structuredContent{}", error.instance_path());
            findings.push(asked.finding(message, &pointer).about(about));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no tool with an `outputSchema` gave a result")) }
}
