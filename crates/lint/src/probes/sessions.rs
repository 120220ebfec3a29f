//! Legacy sessions: requests without the id, after DELETE, and several new sessions.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{EraHeaders, Expect, HttpAsk, Say, Speaker, bytes, initialize_params, request},
};
use http::Method;
use serde_json::json;
use trunkline_protocol::{Era, Revision};

pub(crate) const SESSION_MISSING_STEP: Step = Step("session-missing");
pub(crate) const SESSION_DELETE_STEP: Step = Step("session-delete");
pub(crate) const ENDED_SESSION_STEP: Step = Step("ended-session");
/// A request of the first of two clients, after the second has connected.
pub(crate) const FIRST_CLIENT_STEP: Step = Step("first-client");
pub(crate) const SECOND_CLIENT_STEP: Step = Step("second-client");
/// Another `initialize` inside a session.
pub(crate) const INITIALIZE_AGAIN_STEP: Step = Step("initialize-again");
/// A request of another session, after the first was ended.
pub(crate) const OTHER_SESSION_STEP: Step = Step("other-session");

pub(crate) static SESSIONS: Probe = Probe::new("sessions", Mode::Negative, |stage| Box::pin(run(stage)))
    .eras(Eras::Legacy)
    .carriers(Carriers::StreamableHttp)
    .line(LineUse::Last);

async fn run(stage: &mut Stage) {
    let mut other = stage.another(SESSIONS.name).await;
    stage.speaker.ask(FIRST_CLIENT_STEP, "ping", json!({})).await;
    other.ask(SECOND_CLIENT_STEP, "ping", json!({})).await;
    let (session, other_session) = (stage.speaker.session(), other.session());
    if session.is_some() {
        let mut again = stage.another(SESSIONS.name).await;
        initialize_again(&mut again).await;
        stage.done(again).await;
        ask(stage, SESSION_MISSING_STEP).await;
        let delete = HttpAsk { era_headers: EraHeaders::Added, ..HttpAsk::bare(Method::DELETE) };
        let deleted = stage.speaker.http((SESSION_DELETE_STEP, ""), delete, Expect::Nothing).await;
        if deleted.http.is_some_and(|http| http.is_success()) && session != other_session {
            stage.speaker.ask(ENDED_SESSION_STEP, "ping", json!({})).await;
            other.ask(OTHER_SESSION_STEP, "ping", json!({})).await;
        }
    }
    stage.done(other).await;
}

async fn initialize_again(speaker: &mut Speaker) {
    let id = speaker.fresh_id();
    let params = initialize_params(Revision::NEWEST_LEGACY.as_str());
    let message = request(Era::Legacy, &id, "initialize", params);
    speaker.say(Say::new(INITIALIZE_AGAIN_STEP, &message, Expect::Answer(id))).await;
}

async fn ask(stage: &mut Stage, step: Step) {
    let id = stage.speaker.fresh_id();
    let ask = HttpAsk::post(bytes(&request(Era::Legacy, &id, "ping", json!({}))));
    let ask = ask.header("mcp-session-id", "");
    stage.speaker.http((step, ""), ask, Expect::Answer(id)).await;
}
