//! Requests lists with a cursor that the server never issued.

use super::{Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::Mode,
};
use serde_json::json;

pub(crate) const BAD_CURSOR_STEP: Step = Step("bad-cursor");

pub(crate) static BAD_CURSOR: Probe = Probe::new("bad-cursor", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    for list in List::ALL {
        if stage.known.has_capability(list.capability()) {
            let params = json!({"cursor": "trunkline-lint-no-such-cursor"});
            stage.speaker.ask_variant((BAD_CURSOR_STEP, list.method()), list.method(), params).await;
        }
    }
}
