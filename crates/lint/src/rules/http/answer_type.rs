//! `answer-type`: an answer is `application/json` or `text/event-stream`.

use super::exchanges;
use crate::{
    evidence::Case,
    outcome::{Finding, Level, Verdict},
    probes::{INTRODUCTION, LISTS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "answer-type",
    group: Group::Http,
    level: Level::Error,
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    summary: "an answer is `application/json` or `text/event-stream`",
    clause: Clause::of("2025-11-25", "basic/transports", "Sending Messages to the Server"),
    why: "Clients choose the reader by `Content-Type`; with another one they do not find the answer.",
    fix: "Set `Content-Type: application/json` on single answers and `text/event-stream` on streams.",
    needs: &[&INTRODUCTION, &LISTS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    let mut findings: Vec<Finding> = Vec::new();
    for asked in exchanges(case)? {
        let Some(http) = asked.http().filter(|http| asked.answer().is_some() && http.status == 200) else { continue };
        let media = http.media();
        if !matches!(media.as_deref(), Some("application/json" | "text/event-stream")) && findings.is_empty() {
            let media = media.map_or("no content type".to_owned(), |media| format!("`{media}`"));
            findings.push(asked.finding(format!("an answer has {media}"), ""));
        }
    }
    Ok(findings)
}
