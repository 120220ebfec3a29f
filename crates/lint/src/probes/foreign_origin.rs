//! Requests as a hostile web page in the user's browser would send them.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{Expect, HttpAsk, bytes, initialize_params, request},
};
use serde_json::json;
use trunkline_protocol::{Era, Revision};

pub const FOREIGN_ORIGIN_STEP: Step = Step("foreign-origin");
pub const FOREIGN_HOST_STEP: Step = Step("foreign-host");

pub static FOREIGN_ORIGIN: Probe = Probe {
    name: "foreign-origin",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    line: LineUse::Fresh,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    for (step, header, value) in
        [(FOREIGN_ORIGIN_STEP, "origin", "http://evil.example"), (FOREIGN_HOST_STEP, "host", "evil.example")]
    {
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
