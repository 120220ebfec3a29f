//! Requests as a hostile web page in the user's browser would send them.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{Dial, Expect, HttpAsk, bytes, initialize_params, request},
};
use http::Method;
use serde_json::json;
use trunkline_protocol::{Era, Revision};

pub(crate) const FOREIGN_ORIGIN_STEP: Step = Step("foreign-origin");
pub(crate) const FOREIGN_HOST_STEP: Step = Step("foreign-host");

pub(crate) static FOREIGN_ORIGIN: Probe = Probe {
    name: "foreign-origin",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Http,
    line: LineUse::Fresh,
    run: |stage| Box::pin(run(stage)),
};

const FOREIGN: [(Step, &str, &str); 2] =
    [(FOREIGN_ORIGIN_STEP, "origin", "http://evil.example"), (FOREIGN_HOST_STEP, "host", "evil.example")];

async fn run(stage: &mut Stage) {
    if let Some(dial) = stage.known.dial.over_http() {
        return ask_for_stream(stage, &dial).await;
    }
    for (step, header, value) in FOREIGN {
        let id = stage.speaker.fresh_id();
        let message = match stage.era() {
            Era::Legacy => {
                request(Era::Legacy, &id, "initialize", initialize_params(Revision::NEWEST_LEGACY.as_str()))
            }
            Era::Modern => request(Era::Modern, &id, "server/discover", json!({})),
        };
        let ask = HttpAsk::post(bytes(&message)).header(header, value);
        stage.speaker.http((step, ""), ask, Expect::Answer(id)).await;
    }
}

/// With HTTP+SSE, a page that can open the stream can read every answer.
async fn ask_for_stream(stage: &mut Stage, dial: &Dial) {
    let mut speaker = dial.open(FOREIGN_ORIGIN.name, stage.era()).await;
    for (step, header, value) in FOREIGN {
        let ask = HttpAsk::bare(Method::GET).header("accept", "text/event-stream").header(header, value);
        speaker.http_head((step, ""), ask).await;
    }
    stage.done(speaker).await;
}
