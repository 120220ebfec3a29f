//! `unicode-input`: text in any script arrives as it was sent.

use crate::{
    probes::{MARK, REQUEST_IDS, REQUEST_IDS_STEP, TEXT, UNICODE, UNICODE_STEP},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "unicode-input",
    group: Group::JsonRpc,
    level: Level::Error,
    mode: Mode::Negative,
    summary: "text outside ASCII is read as UTF-8",
    clause: Clause::of("2026-07-28", "basic/transports", "Messages"),
    why: "Names, paths and messages of users who do not write English are stored and searched in a mangled form.",
    fix: "Read standard input and request bodies as UTF-8, whatever the locale or the code page is.",
    needs: &[&UNICODE, &REQUEST_IDS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// The characters after the mark if the text was decoded with another encoding, or not at all.
const MANGLED: [&str; 5] = ["Ã", "?", "\u{fffd}", "├", "\\udc"];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    let repeated: Vec<_> = case.asked(UNICODE_STEP).collect();
    let ids = case.asked(REQUEST_IDS_STEP).filter(|asked| !asked.variant().is_ascii());
    let mut seen = !repeated.is_empty();
    for asked in ids.chain(repeated) {
        let Some(answer) = asked.answer() else { continue };
        seen = true;
        let text = answer.to_string();
        let mangled = text.split(MARK).skip(1).find(|rest| MANGLED.iter().any(|form| rest.starts_with(form)));
        if let Some(rest) = mangled.filter(|_| !text.contains(TEXT)) {
            let shown: String = rest.chars().take(12).collect();
            let message = format!("text outside ASCII comes back as `{MARK}{shown}`");
            findings.push(asked.finding(message, "").about(asked.variant()));
        }
    }
    if seen { Ok(findings) } else { Err(case.missing(&UNICODE)) }
}
