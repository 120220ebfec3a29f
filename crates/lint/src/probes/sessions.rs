//! Legacy sessions: requests without the id, after DELETE, and several new sessions.

use super::{INTRODUCED_AGAIN, LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{EraHeaders, Expect, HttpAsk, bytes, request},
};
use http::Method;
use serde_json::json;
use trunkline_protocol::Era;

pub(crate) const SESSION_MISSING_STEP: Step = Step("session-missing");
pub(crate) const SESSION_DELETE_STEP: Step = Step("session-delete");

/// Number of additional sessions whose ids are compared.
const MORE: usize = 2;

pub(crate) static SESSIONS: Probe = Probe {
    name: "sessions",
    mode: Mode::Negative,
    eras: Eras::Legacy,
    carriers: Carriers::StreamableHttp,
    line: LineUse::Own,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    let session = stage.speaker.so_far(|line| {
        let begun = line.exchanges.iter().find(|exchange| exchange.step == INTRODUCED_AGAIN)?;
        begun.http.as_ref()?.header("mcp-session-id").map(str::to_owned)
    });
    if session.is_none() {
        return;
    }
    for _ in 0..MORE {
        let more = stage.another(SESSIONS.name).await;
        stage.done(more).await;
    }
    ask(stage, SESSION_MISSING_STEP).await;
    let delete = HttpAsk { era_headers: EraHeaders::Added, ..HttpAsk::bare(Method::DELETE) };
    stage.speaker.http((SESSION_DELETE_STEP, ""), delete, Expect::Nothing).await;
}

async fn ask(stage: &mut Stage, step: Step) {
    let id = stage.speaker.fresh_id();
    let ask = HttpAsk::post(bytes(&request(Era::Legacy, &id, "ping", json!({}))));
    let ask = ask.header("mcp-session-id", "");
    stage.speaker.http((step, ""), ask, Expect::Answer(id)).await;
}
