//! `argument-error-hint`: an argument error names the argument.

use crate::{
    probes::{LISTS, TOOL_CALL_ILL_TYPED_STEP, TOOL_CALL_LACKING_STEP, TOOL_CALLS},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "argument-error-hint",
    group: Group::Tools,
    level: Level::Warning,
    mode: Mode::Active,
    summary: "the error for a wrong argument says which one is wrong",
    clause: Clause::of("2025-11-25", "server/tools", "Error Handling"),
    why: "A model corrects itself only when the text tells it what to correct; otherwise it repeats the same call.",
    fix: "Answer with `isError` and a text such as \"`path` must be a string\"; -32603 says that the server is broken.",
    needs: &[&TOOL_CALLS, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let wrong = case.asked(TOOL_CALL_LACKING_STEP).chain(case.asked(TOOL_CALL_ILL_TYPED_STEP));
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in wrong {
        let (tool, field) = asked.variant().split_once(':').unwrap_or((asked.variant(), ""));
        let about = format!("tool {tool}");
        if asked.error_code() == Some(-32603) {
            seen = true;
            let message = format!("a wrong `{field}` gives an internal error (-32603)");
            findings.push(asked.finding(message, "/error/code").about(about));
            continue;
        }
        let refused =
            asked.error().is_some() || asked.result().is_some_and(|result| result["isError"] == true);
        if !refused {
            continue;
        }
        seen = true;
        let said = said(asked.answer());
        if !said.contains(field) {
            findings.push(
                asked
                    .finding(format!("the error does not name `{field}`"), "")
                    .about(about)
                    .level(Level::Info),
            );
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no call with wrong arguments was refused")) }
}

/// The text of an answer that a model reads.
fn said(answer: Option<&Value>) -> String {
    let Some(answer) = answer else { return String::new() };
    let content = answer.pointer("/result/content").and_then(Value::as_array).into_iter().flatten();
    let mut texts: Vec<&str> = content.filter_map(|block| block.get("text")?.as_str()).collect();
    texts.extend(answer.pointer("/error/message").and_then(Value::as_str));
    let data = answer.pointer("/error/data").map(ToString::to_string).unwrap_or_default();
    format!("{} {data}", texts.join(" "))
}
