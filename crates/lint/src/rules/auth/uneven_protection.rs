//! `uneven-protection`: no method works without a token if others require one.

use crate::{
    evidence::Evidence,
    probes::{AUTH_EACH_STEP, AUTHORIZATION, DISCOVER, INITIALIZE, LISTS, UNKNOWN_TOOL},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "uneven-protection",
    group: Group::Auth,
    level: Level::Warning,
    mode: Mode::Negative,
    carriers: Carriers::StreamableHttp,
    summary: "no method answers without a token where others ask for one",
    clause: Clause::of("2025-11-25", "basic/authorization", "Token Requirements"),
    why: "What answers strangers tells them which tools there are, and often does what the protected methods are protected for.",
    fix: "Check the token before the method is looked at, in one place for all requests.",
    needs: &[&AUTHORIZATION, &LISTS, &UNKNOWN_TOOL],
    check: Check::Target(check),
    ..Rule::USUAL
};

fn check(evidence: &Evidence) -> Verdict {
    if let Some(finding) = open_door(evidence) {
        return Ok(vec![finding]);
    }
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

/// Reports a server whose introduction needs no token while later requests do.
fn open_door(evidence: &Evidence) -> Option<Finding> {
    let open = [DISCOVER, INITIALIZE]
        .into_iter()
        .flat_map(|step| evidence.asked(step))
        .find(|asked| asked.result().is_some())?;
    let lines = evidence.lines.iter().enumerate().filter(|(_, line)| line.purpose != AUTHORIZATION.name);
    let mut all = lines.flat_map(|(index, line)| {
        line.exchanges.iter().map(move |exchange| Asked::new(evidence, index, exchange))
    });
    let method = |asked: &Asked<'_>| Some(asked.sent()?.json()?.get("method")?.as_str()?.to_owned());
    // A server of one era may answer 401 to all requests of the other.
    let closed = all.find(|asked| {
        let refused = asked.http().is_some_and(|http| http.status == 401);
        refused && asked.line().era == open.line().era && method(asked).is_some()
    })?;
    let (answered, refused) = (method(&open)?, method(&closed)?);
    let message = format!("`{answered}` is answered, and `{refused}` is refused with 401");
    Some(closed.finding(message, "").with_frames(open.frames()).about(refused))
}
