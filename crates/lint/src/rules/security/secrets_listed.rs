//! `secrets-listed`: no listing or greeting holds a secret.

use super::texts;
use crate::{
    evidence::Case,
    outcome::{Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
use crate::rules::secrets;

pub(super) static RULE: Rule = Rule {
    name: "secrets-listed",
    group: Group::Security,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    summary: "no listing or greeting holds a secret",
    clause: Clause::practice("OWASP MCP Top 10", "MCP01 secret exposure"),
    why: "Everything a server lists goes to the model and into logs; a key in it is a key given away.",
    fix: "Take the secret out, replace it at its issuer, and let the server read it from its environment.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for text in texts::all(case)? {
        if let Some(kind) = secrets::find(text.content) {
            findings.push(text.finding(format!("there is what looks like {kind}")));
        }
    }
    Ok(findings)
}
