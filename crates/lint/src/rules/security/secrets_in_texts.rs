//! `secrets-in-texts`: texts contain no secrets.

use super::texts::{self, Text};
use crate::{
    probes::{INTRODUCTION, LISTS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "secrets-in-texts",
    group: Group::Security,
    level: Level::Error,
    summary: "no text of the server holds a key or a password",
    clause: Clause::of("2025-11-25", "server/utilities/logging", "Security"),
    why: "Definitions travel to every client and into every model's context, and are logged on the way.",
    fix: "Take the secret out, and change it: it has been published.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let texts = texts::of(case)?;
    Ok(texts.iter().filter_map(judge).collect())
}

fn judge(text: &Text<'_>) -> Option<Finding> {
    trunkline_secrets::find(text.words)
        .map(|what| text.finding(format!("the text holds what looks like {what}")))
}
