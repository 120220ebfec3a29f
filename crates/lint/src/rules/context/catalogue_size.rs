//! `catalogue-size`: lists of resources and prompts are short.

use crate::{probes::LISTS, report::estimate, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "catalogue-size",
    group: Group::Context,
    level: Level::Info,
    summary: "the lists of resources, templates and prompts take at most 10,000 tokens each",
    clause: Clause::practice("client limits", "context cost"),
    why: "Clients that show the lists to the model pay for them with every request.",
    fix: "Use templates instead of a resource for every record, and list what users choose from.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const MOST: usize = 10_000;

fn check(case: &Case<'_>) -> Verdict {
    let (mut findings, mut seen) = (Vec::new(), false);
    for list in [List::Resources, List::Templates, List::Prompts] {
        let Ok(items) = case.list(list) else { continue };
        seen = true;
        let tokens: usize = items.iter().map(|item| estimate(item.value)).sum();
        if tokens > MOST
            && let Some(first) = items.first()
        {
            let message = format!("its {} entries take about {tokens} tokens", items.len());
            let at = format!("/result/{}", list.member());
            findings.push(Finding::new(message).about(list.method()).at(first.frame, at));
        }
    }
    if seen {
        Ok(findings)
    } else {
        Err(Skip::not_applicable("the server lists neither resources nor prompts"))
    }
}
