//! `initialize-again`: a client that begins again in its session is not locked out.

use super::sessions;
use crate::{
    probes::{INITIALIZE_AGAIN_STEP, INTRODUCED_AGAIN, SESSIONS},
    rules::prelude::*,
};

pub(super) static RULE: Rule = Rule {
    name: "initialize-again",
    group: Group::Http,
    level: Level::Info,
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    summary: "another `initialize` inside a session is answered in that session",
    clause: Clause::practice("practice", "clients that reconnect"),
    why: "Clients that lose their stream begin again with the session id they have; a refusal locks them out, and a new session leaves the old one behind.",
    fix: "Answer it again in the same session, or with 404, upon which clients drop the session id and begin anew.",
    needs: &[&SESSIONS],
    check: Check::Server(check),
};

fn check(case: &Case<'_>) -> Verdict {
    sessions(case)?;
    let again = case.first(&SESSIONS, INITIALIZE_AGAIN_STEP)?;
    let http = again.http().ok_or_else(|| Skip::not_verified(again.describe()))?;
    if http.status == 404 {
        return Ok(Vec::new());
    }
    if again.result().is_none() {
        let message = format!("another `initialize` inside a session is refused: {}", again.describe());
        return Ok(vec![again.finding(message, "")]);
    }
    let begun = again.line().exchanges.iter().find(|exchange| exchange.step == INTRODUCED_AGAIN);
    let session = begun.and_then(|begun| begun.http.as_ref()?.header("mcp-session-id"));
    let other = http.header("mcp-session-id").filter(|other| Some(*other) != session);
    let finding =
        other.map(|_| again.finding("another `initialize` inside a session begins a second one", ""));
    Ok(finding.into_iter().collect())
}
