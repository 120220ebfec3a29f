//! Wrong headers, verbs and sessions over HTTP.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Mode},
    wire::{EraHeaders, Expect, HttpAsk, bytes, request},
};
use base64::Engine as _;
use http::Method;
use serde_json::{Value, json};
use trunkline_protocol::Era;

pub(crate) const BAD_VERSION_HEADER_STEP: Step = Step("bad-version-header");
pub(crate) const METHOD_MISMATCH_STEP: Step = Step("method-header-mismatch");
pub(crate) const METHOD_MISSING_STEP: Step = Step("method-header-missing");
pub(crate) const NAME_MISMATCH_STEP: Step = Step("name-header-mismatch");
pub(crate) const NAME_MISSING_STEP: Step = Step("name-header-missing");
pub(crate) const NAME_ENCODED_STEP: Step = Step("name-header-encoded");
pub(crate) const GET_STEP: Step = Step("get");
pub(crate) const DELETE_STEP: Step = Step("delete");
pub(crate) const BOGUS_SESSION_STEP: Step = Step("bogus-session");

pub(crate) static HTTP_EDGES: Probe = Probe::new("http-edges", Mode::Negative, |stage| Box::pin(run(stage)))
    .carriers(Carriers::StreamableHttp)
    .line(LineUse::Risky);

const CALL: &str = "tools/call";
const NO_TOOL: &str = "trunkline-lint-no-such-tool";

async fn run(stage: &mut Stage) {
    post(stage, BAD_VERSION_HEADER_STEP, plain(stage), &[("mcp-protocol-version", "1999-01-01")]).await;
    match stage.era() {
        Era::Modern => modern(stage).await,
        Era::Legacy => legacy(stage).await,
    }
}

async fn modern(stage: &mut Stage) {
    post(stage, METHOD_MISMATCH_STEP, plain(stage), &[("mcp-method", "prompts/list")]).await;
    post(stage, METHOD_MISSING_STEP, plain(stage), &[("mcp-method", "")]).await;
    if stage.known.has_capability("tools") {
        let call = (CALL, json!({"name": NO_TOOL, "arguments": {}}));
        post(stage, NAME_MISMATCH_STEP, call.clone(), &[("mcp-name", "another-tool")]).await;
        post(stage, NAME_MISSING_STEP, call.clone(), &[("mcp-name", "")]).await;
        let encoded = base64::engine::general_purpose::STANDARD.encode(NO_TOOL);
        let encoded = format!("=?base64?{encoded}?=");
        post(stage, NAME_ENCODED_STEP, call, &[("mcp-name", &encoded)]).await;
    }
    verb(stage, (GET_STEP, Method::GET)).await;
    verb(stage, (DELETE_STEP, Method::DELETE)).await;
}

async fn legacy(stage: &mut Stage) {
    verb(stage, (GET_STEP, Method::GET)).await;
    if stage.speaker.session().is_some() {
        let bogus = "trunkline-lint-no-such-session";
        post(stage, BOGUS_SESSION_STEP, plain(stage), &[("mcp-session-id", bogus)]).await;
    }
}

/// A request that every server answers.
fn plain(stage: &Stage) -> (&'static str, Value) {
    (stage.basic_method(), json!({}))
}

async fn post(
    stage: &mut Stage,
    step: Step,
    (method, params): (&str, Value),
    headers: &[(&'static str, &str)],
) {
    let id = stage.speaker.fresh_id();
    let mut ask = HttpAsk::post(bytes(&request(stage.era(), &id, method, params)));
    for (name, value) in headers {
        ask = ask.header(name, *value);
    }
    stage.speaker.http((step, ""), ask, Expect::Any).await;
}

async fn verb(stage: &mut Stage, (step, method): (Step, Method)) {
    let ask = HttpAsk { era_headers: EraHeaders::Added, ..HttpAsk::bare(method) }
        .header("accept", "text/event-stream");
    stage.speaker.http_head((step, ""), ask).await;
}
