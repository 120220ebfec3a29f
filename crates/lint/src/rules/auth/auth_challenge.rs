//! `auth-challenge`: a request without a token is answered with 401 and a Bearer challenge.

use super::bare;
use crate::{
    evidence::Evidence,
    outcome::{Level, Verdict},
    probes::AUTHORIZATION,
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};

pub(super) static RULE: Rule = Rule {
    name: "auth-challenge",
    group: Group::Auth,
    level: Level::Error,
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    summary: "a request without a token is answered with 401 and a Bearer challenge",
    clause: Clause::of("2025-11-25", "basic/authorization", "Authorization Server Location"),
    why: "Without the challenge a client does not know that it should ask the user to log in, and shows an error instead.",
    fix: "Send `WWW-Authenticate: Bearer resource_metadata=\"…\"` with every 401.",
    needs: &[&AUTHORIZATION],
    check: Check::Target(check),
};

fn check(evidence: &Evidence) -> Verdict {
    let asked = bare(evidence)?;
    let challenge = asked.http().and_then(|head| head.header("www-authenticate"));
    Ok(match challenge {
        None => vec![asked.finding("the 401 has no `WWW-Authenticate`", "")],
        Some(text) if !text.to_ascii_lowercase().contains("bearer") => {
            vec![asked.finding(format!("the 401 asks for `{text}`, not for a Bearer token"), "")]
        }
        Some(_) => Vec::new(),
    })
}
