//! Requests with wrong, missing, or valid but unusual HTTP headers.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{Expect, HttpAsk, bytes, request},
};
use serde_json::{Value, json};
use std::time::Duration;
use trunkline_protocol::Era;

pub(crate) const VERSION_HEADER_STEP: Step = Step("version-header");
pub(crate) const MEDIA_TYPE_STEP: Step = Step("media-type");
pub(crate) const ACCEPT_STEP: Step = Step("accept");
pub(crate) const STREAM_END_STEP: Step = Step("stream-end");

/// Time for a stream to end after its response.
const STREAM_END: Duration = Duration::from_millis(1500);

pub(crate) static HTTP_HEADERS: Probe = Probe {
    name: "http-headers",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    line: LineUse::Own,
    run: |stage| Box::pin(run(stage)),
};

/// The simplest request of each era.
fn plain(era: Era) -> (&'static str, Value) {
    match era {
        Era::Legacy => ("ping", json!({})),
        Era::Modern => ("server/discover", json!({})),
    }
}

async fn run(stage: &mut Stage) {
    let era = stage.era();
    let question = plain(era);
    ask(stage, (VERSION_HEADER_STEP, "absent"), question.clone(), ("mcp-protocol-version", "")).await;
    ask(stage, (MEDIA_TYPE_STEP, "text/plain"), question.clone(), ("content-type", "text/plain")).await;
    ask(stage, (ACCEPT_STEP, "application/json"), question.clone(), ("accept", "application/json")).await;
    let id = stage.speaker.fresh_id();
    // A server is more likely to stream a list than a short answer.
    let method = if stage.known.has_capability("tools") { "tools/list" } else { question.0 };
    let mut last = HttpAsk::post(bytes(&request(era, &id, method, question.1)));
    last.linger = STREAM_END;
    stage.speaker.http((STREAM_END_STEP, ""), last, Expect::Answer(id)).await;
}

async fn ask(
    stage: &mut Stage,
    at: (Step, &str),
    (method, params): (&str, Value),
    (name, value): (&'static str, &str),
) {
    let id = stage.speaker.fresh_id();
    let message = request(stage.era(), &id, method, params);
    let ask = HttpAsk::post(bytes(&message)).header(name, value);
    stage.speaker.http(at, ask, Expect::Answer(id)).await;
}
