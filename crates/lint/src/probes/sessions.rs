//! Sessions of the legacy era: left out, ended, and begun several times.

use super::{INTRODUCED_AGAIN, LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{Dressed, Expect, HttpAsk, bytes, request},
};
use http::Method;
use serde_json::json;
use trunkline_protocol::Era;

pub const SESSION_MISSING_STEP: Step = Step("session-missing");
pub const SESSION_DELETE_STEP: Step = Step("session-delete");

/// Sessions begun to compare their ids, beside those of other lines.
const MORE: usize = 2;

pub static SESSIONS: Probe = Probe {
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
    let delete = HttpAsk { dressed: Dressed::Fully, ..HttpAsk::bare(Method::DELETE) };
    stage.speaker.http((SESSION_DELETE_STEP, ""), delete, Expect::Nothing).await;
}

async fn ask(stage: &mut Stage, step: Step) {
    let id = stage.speaker.fresh_id();
    let ask = HttpAsk::post(bytes(&request(Era::Legacy, &id, "ping", json!({}))));
    let ask = ask.header("mcp-session-id", "");
    stage.speaker.http((step, ""), ask, Expect::Answer(id)).await;
}
