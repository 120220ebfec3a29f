//! `arguments-checked`: wrong arguments are refused.

use crate::{
    probes::{LISTS, TOOL_CALL_ILL_TYPED_STEP, TOOL_CALL_LACKING_STEP, TOOL_CALLS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "arguments-checked",
    group: Group::Tools,
    level: Level::Error,
    mode: Mode::Active,
    summary: "a call with a missing or ill-typed argument is refused, as an error or a result with `isError`",
    clause: Clause::of("2025-11-25", "server/tools", "Security Considerations"),
    why: "The tool runs with something it did not expect: it does the wrong thing, or fails where nobody sees why.",
    fix: "Validate the arguments against `inputSchema` before the tool runs.",
    needs: &[&TOOL_CALLS, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let lacking = case.asked(TOOL_CALL_LACKING_STEP).map(|asked| (asked, "without the required argument"));
    let ill_typed =
        case.asked(TOOL_CALL_ILL_TYPED_STEP).map(|asked| (asked, "with a value of the wrong type for"));
    let mut findings = Vec::new();
    let mut seen = false;
    for (asked, what) in lacking.chain(ill_typed) {
        seen = true;
        let accepted = asked.result().is_some_and(|result| result["isError"] != true);
        if accepted {
            let (tool, field) = asked.variant().split_once(':').unwrap_or((asked.variant(), ""));
            let message = format!("a call of `{tool}` {what} `{field}` is accepted");
            findings.push(asked.finding(message, "/result").about(format!("tool {tool}")));
        }
    }
    if seen { Ok(findings) } else { Err(case.missing(&TOOL_CALLS)) }
}
