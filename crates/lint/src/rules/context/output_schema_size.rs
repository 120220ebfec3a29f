//! `output-schema-size`: output schemas are short.

use crate::{probes::LISTS, report::estimate, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "output-schema-size",
    group: Group::Context,
    level: Level::Info,
    summary: "no `outputSchema` takes more than 500 tokens",
    clause: Clause::practice("client limits", "context cost"),
    why: "Clients that pass output schemas to the model pay for them with every request.",
    fix: "Describe the members that a model acts on; leave the rest open with `additionalProperties`.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const MOST: usize = 500;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let tokens = tool.value.get("outputSchema").map_or(0, estimate);
        if tokens > MOST {
            findings.push(
                tool.finding(format!("its `outputSchema` takes about {tokens} tokens"), "/outputSchema"),
            );
        }
    }
    Ok(findings)
}
