//! `steers-other-tools`: a tool speaks for itself only.

use crate::{
    evidence::{Case},
    outcome::{Finding, Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use super::texts::{self, Text};

pub(super) static RULE: Rule = Rule {
    name: "steers-other-tools",
    group: Group::Security,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no text tells the model how to use the tools of others",
    clause: Clause::practice("OWASP MCP Top 10", "MCP03 tool poisoning"),
    why: "One server's description changes what another server's tool does; the user approved neither.",
    fix: "Describe this tool; leave other tools to their own descriptions.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let texts = texts::of(case)?;
    Ok(texts.iter().filter_map(judge).collect())
}

const ORDERS: [&str; 8] = [
    "when the send_email tool", "whenever another tool", "when using other tools", "when any other tool", "instead of the other",
    "all other tools must", "when you call other tools", "other servers' tools",
];

fn judge(text: &Text<'_>) -> Option<Finding> {
    let lower = text.words.to_lowercase();
    let found = ORDERS.iter().find(|order| lower.contains(*order))?;
    Some(text.finding(format!("the text steers other tools: {found:?}")))
}
