//! `line-endings`: blank lines and CR LF do no harm.

use crate::{
    evidence::Settled,
    probes::{LINE_ENDINGS, LINE_ENDINGS_STEP, LISTS},
    rules::{plain_fails, prelude::*},
};

pub(super) static RULE: Rule = Rule {
    name: "line-endings",
    group: Group::Stdio,
    level: Level::Warning,
    mode: Mode::Negative,
    carriers: Carriers::Stdio,
    summary: "a blank line is skipped, and a line may end with CR LF",
    clause: Clause::practice("practice", "lines on standard input"),
    why: "Clients on Windows and shells write such lines; the server crashes or refuses their first message.",
    fix: "Skip lines without content, and strip white space at the end of the others.",
    needs: &[&LISTS, &LINE_ENDINGS],
    check: Check::Server(check),
    ..Rule::USUAL
};

fn check(case: &Case<'_>) -> Verdict {
    let all = case.all(&LINE_ENDINGS, LINE_ENDINGS_STEP)?;
    plain_fails(case)?;
    let fails = |asked: &Asked<'_>| {
        asked.error().is_some() || matches!(asked.settled(), Settled::Silent(_) | Settled::Gone)
    };
    let finding = all.into_iter().find(fails).map(|asked| {
        let message = format!("a request with {} fails: {}", asked.variant(), asked.describe());
        asked.finding(message, "").about(asked.variant())
    });
    Ok(finding.into_iter().collect())
}
