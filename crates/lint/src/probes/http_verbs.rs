//! GET and DELETE on the endpoint.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{Dressed, Expect, HttpAsk},
};
use http::Method;
use std::time::Duration;
use trunkline_protocol::{Era, Revision};

pub const GET_STEP: Step = Step("get");
pub const DELETE_STEP: Step = Step("delete");

/// How long a stream that GET opens is read.
const STREAM: Duration = Duration::from_millis(1500);

pub static HTTP_VERBS: Probe = Probe {
    name: "http-verbs",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    line: LineUse::Own,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    stage.speaker.patience(STREAM);
    let dressed = |method: Method| HttpAsk { dressed: Dressed::Fully, ..HttpAsk::bare(method) };
    let get = dressed(Method::GET).header("accept", "text/event-stream");
    let newest = Revision::NEWEST.as_str();
    match stage.era() {
        // The end of a legacy session is another probe's business.
        Era::Legacy => drop(stage.speaker.http((GET_STEP, ""), get, Expect::Nothing).await),
        Era::Modern => {
            let get = get.header("mcp-protocol-version", newest);
            stage.speaker.http((GET_STEP, ""), get, Expect::Nothing).await;
            let delete = dressed(Method::DELETE).header("mcp-protocol-version", newest);
            stage.speaker.http((DELETE_STEP, ""), delete, Expect::Nothing).await;
        }
    }
}
