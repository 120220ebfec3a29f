//! Requests whose HTTP headers are wrong, lacking, or right in an unusual way.

use super::{LineUse, NO_SUCH_VERSION, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{Expect, HttpAsk, bytes, request},
};
use base64::Engine as _;
use serde_json::{Value, json};
use std::time::Duration;
use trunkline_protocol::Era;

pub const VERSION_HEADER_STEP: Step = Step("version-header");
pub const HEADER_MISMATCH_STEP: Step = Step("header-mismatch");
pub const HEADER_ENCODED_STEP: Step = Step("header-encoded");
pub const MEDIA_TYPE_STEP: Step = Step("media-type");
pub const ACCEPT_STEP: Step = Step("accept");
pub const STREAM_END_STEP: Step = Step("stream-end");

/// How long a stream may stay open behind its response.
const STREAM_END: Duration = Duration::from_millis(1500);

const NO_SUCH_TOOL: &str = "trunkline-lint-no-such-tool";

pub static HTTP_HEADERS: Probe = Probe {
    name: "http-headers",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    line: LineUse::Own,
    run: |stage| Box::pin(run(stage)),
};

/// The least question of each era.
fn plain(era: Era) -> (&'static str, Value) {
    match era {
        Era::Legacy => ("ping", json!({})),
        Era::Modern => ("server/discover", json!({})),
    }
}

async fn run(stage: &mut Stage) {
    let era = stage.era();
    let question = plain(era);
    match era {
        Era::Legacy => {
            for (variant, value) in [("unsupported", NO_SUCH_VERSION), ("absent", "")] {
                let header = ("mcp-protocol-version", value);
                ask(stage, (VERSION_HEADER_STEP, variant), question.clone(), header).await;
            }
        }
        Era::Modern => modern(stage).await,
    }
    ask(stage, (MEDIA_TYPE_STEP, "text/plain"), question.clone(), ("content-type", "text/plain")).await;
    ask(stage, (ACCEPT_STEP, "application/json"), question.clone(), ("accept", "application/json")).await;
    let id = stage.speaker.fresh_id();
    let mut last = HttpAsk::post(bytes(&request(era, &id, question.0, question.1)));
    last.linger = STREAM_END;
    stage.speaker.http((STREAM_END_STEP, ""), last, Expect::Answer(id)).await;
}

async fn modern(stage: &mut Stage) {
    let question = plain(Era::Modern);
    for (variant, name, value) in [
        ("another `MCP-Protocol-Version`", "mcp-protocol-version", NO_SUCH_VERSION),
        ("no `MCP-Protocol-Version`", "mcp-protocol-version", ""),
        ("another `Mcp-Method`", "mcp-method", "prompts/list"),
        ("no `Mcp-Method`", "mcp-method", ""),
    ] {
        ask(stage, (HEADER_MISMATCH_STEP, variant), question.clone(), (name, value)).await;
    }
    if !stage.known.has_capability("tools") {
        return;
    }
    // No tool has this name, so none runs, whatever the server makes of the header.
    let call = ("tools/call", json!({"name": NO_SUCH_TOOL, "arguments": {}}));
    for (variant, value) in [("another `Mcp-Name`", "trunkline-lint-another-tool"), ("no `Mcp-Name`", "")] {
        ask(stage, (HEADER_MISMATCH_STEP, variant), call.clone(), ("mcp-name", value)).await;
    }
    let encoded = base64::engine::general_purpose::STANDARD.encode(NO_SUCH_TOOL);
    let value = format!("=?base64?{encoded}?=");
    ask(stage, (HEADER_ENCODED_STEP, "base64"), call, ("mcp-name", &value)).await;
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
