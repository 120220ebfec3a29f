//! Requests with wrong, missing, or valid but unusual HTTP headers.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Mode},
    wire::{Expect, HttpAsk, bytes, request},
};
use serde_json::json;
use std::time::Duration;
use trunkline_protocol::Era;

pub(crate) const VERSION_HEADER_STEP: Step = Step("version-header");
pub(crate) const MEDIA_TYPE_STEP: Step = Step("media-type");
pub(crate) const ACCEPT_STEP: Step = Step("accept");
/// `Accept` with both types in another form.
pub(crate) const ACCEPT_FORM_STEP: Step = Step("accept-form");
/// `Content-Type` with a parameter.
pub(crate) const MEDIA_PARAMETER_STEP: Step = Step("media-type-parameter");
/// A handshake for an older revision, and a request after it.
pub(crate) const OLDER_REVISION_STEP: Step = Step("older-revision");
pub(crate) const OLDER_REVISION_AFTER: Step = Step("after-older-revision");
pub(crate) const STREAM_END_STEP: Step = Step("stream-end");

const ACCEPT_FORMS: [&str; 3] = [
    "text/event-stream, application/json",
    "application/json,text/event-stream",
    "application/json;q=0.9, text/event-stream;q=0.8",
];

/// A revision before the newest legacy one, in which the version header is already known.
const OLDER: &str = "2025-06-18";

/// Time for a stream to end after its response.
const STREAM_END: Duration = Duration::from_millis(1500);

pub(crate) static HTTP_HEADERS: Probe =
    Probe::new("http-headers", Mode::Negative, |stage| Box::pin(run(stage)))
        .carriers(Carriers::StreamableHttp)
        .line(LineUse::Own);

async fn run(stage: &mut Stage) {
    let era = stage.era();
    ask(stage, (VERSION_HEADER_STEP, "absent"), "mcp-protocol-version", "").await;
    ask(stage, (MEDIA_TYPE_STEP, "text/plain"), "content-type", "text/plain").await;
    ask(stage, (ACCEPT_STEP, "application/json"), "accept", "application/json").await;
    for form in ACCEPT_FORMS {
        ask(stage, (ACCEPT_FORM_STEP, form), "accept", form).await;
    }
    let media = "application/json; charset=utf-8";
    ask(stage, (MEDIA_PARAMETER_STEP, media), "content-type", media).await;
    if era == Era::Legacy {
        let mut older = stage.fresh(HTTP_HEADERS.name).await;
        let agreed = older.initialize(OLDER_REVISION_STEP, OLDER).await;
        if agreed.is_some_and(|result| result["protocolVersion"] == OLDER) {
            older.ask(OLDER_REVISION_AFTER, stage.basic_method(), json!({})).await;
        }
        stage.done(older).await;
    }
    let id = stage.speaker.fresh_id();
    // A server is more likely to stream a list than a short answer.
    let method = if stage.known.has_capability("tools") { "tools/list" } else { stage.basic_method() };
    let mut last = HttpAsk::post(bytes(&request(era, &id, method, json!({}))));
    last.linger = STREAM_END;
    stage.speaker.http((STREAM_END_STEP, ""), last, Expect::Answer(id)).await;
}

/// Sends a basic request with this value of a header.
async fn ask(stage: &mut Stage, at: (Step, &str), header: &'static str, value: &str) {
    let id = stage.speaker.fresh_id();
    let message = request(stage.era(), &id, stage.basic_method(), json!({}));
    let ask = HttpAsk::post(bytes(&message)).header(header, value);
    stage.speaker.http(at, ask, Expect::Answer(id)).await;
}
