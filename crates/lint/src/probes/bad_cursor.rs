//! Requests lists with a cursor that the server never issued.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::{Carriers, Eras, Mode},
};
use serde_json::json;

pub(crate) const BAD_CURSOR_STEP: Step = Step("bad-cursor");

pub(crate) static BAD_CURSOR: Probe = Probe {
    name: "bad-cursor",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    for list in List::ALL {
        if stage.known.has_capability(list.capability()) {
            let params = json!({"cursor": "trunkline-lint-no-such-cursor"});
            stage.speaker.ask_variant((BAD_CURSOR_STEP, list.method()), list.method(), params).await;
        }
    }
}
