//! `tool-order-stable`: the order of tools is the same every time.

use crate::{
    probes::{LISTS, LISTS_AGAIN, TOOLS_AGAIN_STEP},
    rules::prelude::*,
};
use serde_json::Value;

pub(super) static RULE: Rule = Rule {
    name: "tool-order-stable",
    group: Group::Tools,
    level: Level::Warning,
    summary: "`tools/list` gives the tools in the same order every time",
    clause: Clause::of("2026-07-28", "server/tools", "Capabilities"),
    why: "Providers cache prompts by their text: a list in another order makes every request cost the full price.",
    fix: "Sort the tools, or keep them in a list instead of a hash map.",
    needs: &[&LISTS, &LISTS_AGAIN],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let first = case.first(&LISTS, List::Tools.step())?;
    let names = |asked: &Asked<'_>| -> Vec<String> {
        let tools = asked.result().and_then(|result| result.get("tools")?.as_array());
        tools.into_iter().flatten().filter_map(|tool| tool.get("name")).map(Value::to_string).collect()
    };
    let wanted = names(&first);
    for again in case.all(&LISTS_AGAIN, TOOLS_AGAIN_STEP)? {
        let got = names(&again);
        let (mut one, mut other) = (wanted.clone(), got.clone());
        one.sort();
        other.sort();
        if one == other && wanted != got {
            let message = "the same tools came in another order when the list was asked for again";
            return Ok(vec![again.finding(message, "/result/tools").with_frames(first.answer_ref())]);
        }
    }
    Ok(Vec::new())
}
