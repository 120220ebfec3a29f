//! `tool-order-stable`: the tool list keeps its order.

use crate::{
    evidence::{Asked, Case, List},
    outcome::{Level, Skip, Verdict},
    probes::{LISTS, LIST_AGAIN_STEP, REPEATED_LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "tool-order-stable",
    group: Group::Tools,
    level: Level::Warning,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "`tools/list` gives the same tools in the same order every time",
    clause: Clause::of("2026-07-28", "server/tools", "Capabilities"),
    why: "Every change of the list makes the model's cached prompt void: each request costs in full again.",
    fix: "Keep the tools in a list or sort them by name before they are sent.",
    needs: &[&LISTS, &REPEATED_LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    case.needs_capability("tools")?;
    let first = case.first(&LISTS, List::Tools.step())?;
    let again = case.all(&REPEATED_LISTS, LIST_AGAIN_STEP)?;
    let Some(names) = names(first) else { return Err(Skip::not_verified("`tools/list` gave no list")) };
    if again.iter().all(|asked| asked.result().is_none()) {
        return Err(Skip::not_verified("`tools/list` was not answered a second time"));
    }
    for asked in again {
        let Some(later) = self::names(asked) else { continue };
        if later == names {
            continue;
        }
        let (mut then, mut now) = (names.clone(), later.clone());
        then.sort_unstable();
        now.sort_unstable();
        let message = if then == now {
            "the tools come in another order when they are listed again"
        } else {
            "other tools come when they are listed again"
        };
        return Ok(vec![asked.finding(message, "/result/tools").with_frames(first.answer_ref())]);
    }
    Ok(Vec::new())
}

fn names(asked: Asked<'_>) -> Option<Vec<&str>> {
    let tools = asked.result()?.get("tools")?.as_array()?;
    Some(tools.iter().filter_map(|tool| tool.get("name")?.as_str()).collect())
}
