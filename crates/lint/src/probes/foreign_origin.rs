//! Requests as a hostile web page in the user's browser would send them.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Mode},
    wire::{Dial, Expect, HttpAsk, bytes, initialize_params, request},
};
use http::Method;
use serde_json::json;
use trunkline_protocol::{Era, Revision};

pub(crate) const FOREIGN_ORIGIN_STEP: Step = Step("foreign-origin");
pub(crate) const FOREIGN_HOST_STEP: Step = Step("foreign-host");
/// The variant is the list of headers that the preflight asks for.
pub(crate) const PREFLIGHT_STEP: Step = Step("preflight");

pub(crate) static FOREIGN_ORIGIN: Probe =
    Probe::new("foreign-origin", Mode::Negative, |stage| Box::pin(run(stage)))
        .carriers(Carriers::Http)
        .line(LineUse::Fresh);

/// The last ones begin, end or are like an own name, for servers that compare only a part.
const FOREIGN: [(Step, &str, &str); 8] = [
    (FOREIGN_ORIGIN_STEP, "origin", "http://evil.example"),
    (FOREIGN_ORIGIN_STEP, "origin", "http://localhost.evil.example"),
    (FOREIGN_ORIGIN_STEP, "origin", "http://127.0.0.1.evil.example"),
    (FOREIGN_ORIGIN_STEP, "origin", "http://evil-localhost"),
    (FOREIGN_ORIGIN_STEP, "origin", "null"),
    (FOREIGN_HOST_STEP, "host", "evil.example"),
    (FOREIGN_HOST_STEP, "host", "localhost.evil.example"),
    (FOREIGN_HOST_STEP, "host", "127.0.0.1.evil.example"),
];

/// The origin of the Inspector, a client that runs in a browser.
const BROWSER: &str = "http://localhost:6274";

async fn run(stage: &mut Stage) {
    if let Some(dial) = stage.known.dial.over_http() {
        return ask_for_stream(stage, &dial).await;
    }
    let mut served = [false; 2];
    for (step, header, value) in FOREIGN {
        // One that is served is enough.
        let kind = usize::from(step == FOREIGN_HOST_STEP);
        if served[kind] {
            continue;
        }
        let id = stage.speaker.fresh_id();
        let message = match stage.era() {
            Era::Legacy => {
                request(Era::Legacy, &id, "initialize", initialize_params(Revision::NEWEST_LEGACY.as_str()))
            }
            Era::Modern => request(Era::Modern, &id, "server/discover", json!({})),
        };
        let ask = HttpAsk::post(bytes(&message)).header(header, value);
        let heard = stage.speaker.http((step, value), ask, Expect::Answer(id)).await;
        served[kind] = heard.http.is_some_and(|http| http.is_success());
    }
    preflight(stage).await;
}

/// Asks as a browser does before it sends a page's request.
async fn preflight(stage: &mut Stage) {
    let wanted = match stage.era() {
        Era::Legacy => "content-type,mcp-protocol-version,mcp-session-id",
        Era::Modern => "content-type,mcp-method,mcp-name,mcp-protocol-version",
    };
    let ask = HttpAsk::bare(Method::OPTIONS)
        .header("origin", BROWSER)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", wanted);
    stage.speaker.http_head((PREFLIGHT_STEP, wanted), ask).await;
}

/// With HTTP+SSE, a page that can open the stream can read every answer.
async fn ask_for_stream(stage: &mut Stage, dial: &Dial) {
    let mut speaker = dial.open(FOREIGN_ORIGIN.name, stage.era()).await;
    for (step, header, value) in FOREIGN {
        let ask = HttpAsk::bare(Method::GET).header("accept", "text/event-stream").header(header, value);
        speaker.http_head((step, value), ask).await;
    }
    stage.done(speaker).await;
}
