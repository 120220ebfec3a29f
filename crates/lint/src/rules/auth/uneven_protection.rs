//! `uneven-protection`: no method answers without a token where others ask for one.

use crate::{
    evidence::Evidence,
    outcome::{Level, Skip, Verdict},
    probes::{AUTH_EACH_STEP, AUTHORIZATION},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "uneven-protection",
    group: Group::Auth,
    level: Level::Warning,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    summary: "no method answers without a token where others ask for one",
    clause: Clause::of("2025-11-25", "basic/authorization", "Token Requirements"),
    why: "What answers strangers tells them which tools there are, and often does what the protected methods are protected for.",
    fix: "Check the token before the method is looked at, in one place for all requests.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
};

fn check(evidence: &Evidence) -> Verdict {
    super::bare(evidence)?;
    let (mut findings, mut seen) = (Vec::new(), false);
    for asked in evidence.asked(AUTH_EACH_STEP) {
        let Some(http) = asked.http() else { continue };
        seen = true;
        if http.is_success() {
            let message = format!("`{}` is answered without a token", asked.variant());
            findings.push(asked.finding(message, "").about(asked.variant()));
        }
    }
    if seen { Ok(findings) } else { Err(Skip::not_verified("no other method was tried without a token")) }
}
