//! Lists the tools again, after the server was used.

use super::{LineUse, MAX_PAGES, Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::{Carriers, Eras, Mode},
};
use serde_json::{Value, json};

pub const RELIST_STEP: Step = Step("tools-listed-again");

pub static RELIST: Probe = Probe {
    name: "relist",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Risky,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    if !stage.known.has_capability("tools") {
        return;
    }
    let mut params = json!({});
    for _ in 0..MAX_PAGES {
        let heard = stage.speaker.ask(RELIST_STEP, List::Tools.method(), params).await;
        let cursor = heard.result().and_then(|result| result.get("nextCursor"));
        let Some(Value::String(cursor)) = cursor else { break };
        params = json!({"cursor": cursor});
    }
}
