//! `session-id-strength`: session ids are long, and nobody can guess the next one.

use crate::{
    evidence::{Asked, Case},
    outcome::{Level, Skip, Verdict},
    probes::{INITIALIZE, INTRODUCED_AGAIN, SESSIONS},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "session-id-strength",
    group: Group::Http,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "session ids are long, and nobody can guess the next one",
    clause: Clause::of("2025-11-25", "basic/transports", "Session Management"),
    why: "Whoever guesses a session id speaks for its owner: he reads the results and sends calls of his own.",
    fix: "Take at least 128 bits from a cryptographic source of randomness, for example a version 4 UUID.",
    needs: &[&SESSIONS],
    check: Check::Server(check),
};

/// A shorter id cannot hold 64 bits, not even in base64.
const SHORTEST: usize = 11;

fn check(case: &Case<'_>) -> Verdict {
    let begun: Vec<Asked<'_>> = case.asked(INITIALIZE).chain(case.asked(INTRODUCED_AGAIN)).collect();
    let sessions: Vec<(&str, Asked<'_>)> =
        begun.iter().filter_map(|asked| Some((asked.http()?.header("mcp-session-id")?, *asked))).collect();
    let Some((first, asked)) = sessions.first() else {
        return Err(Skip::not_applicable("the server begins no session"));
    };
    if sessions.len() < 2 {
        return Err(Skip::not_verified("only one session was begun"));
    }
    let shown: Vec<&str> = sessions.iter().map(|(session, _)| *session).take(3).collect();
    let finding = |message: String| Ok(vec![asked.finding(message, "").note(format!("ids seen: {}", shown.join(", ")))]);
    if let Some((again, _)) = sessions.iter().enumerate().find_map(|(at, session)| {
        sessions[..at].iter().any(|(known, _)| *known == session.0).then_some(*session)
    }) {
        return finding(format!("two sessions have the same id `{again}`"));
    }
    if first.len() < SHORTEST {
        return finding(format!("the session id `{first}` has {} characters only", first.len()));
    }
    // Ids that differ in a few places are counted up or made from the clock.
    let (second, _) = sessions[1];
    let different = first.chars().zip(second.chars()).filter(|(a, b)| a != b).count() + first.len().abs_diff(second.len());
    if different <= 4 {
        return finding(format!("two session ids differ in {different} characters only"));
    }
    Ok(Vec::new())
}
