//! The first page of the tools once more, several times; where that is slow, several at once.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::{Carriers, Eras, Mode},
    wire::request,
};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

pub const LIST_AGAIN_STEP: Step = Step("list-again");
pub const LISTS_AT_ONCE_STEP: Step = Step("lists-at-once");

/// How often it is asked for, one after another.
pub const REPEATS: usize = 4;
/// How many are asked for at once.
pub const AT_ONCE: usize = 8;
/// When all of them together took longer, they have shown enough.
const LONG: Duration = Duration::from_secs(2);
/// Below this, waiting in a queue cannot be told from work.
const TELLING: Duration = Duration::from_millis(200);

pub static REPEATED_LISTS: Probe = Probe {
    name: "repeated-lists",
    mode: Mode::Passive,
    eras: Eras::Both,
    carriers: Carriers::Any,
    line: LineUse::Shared,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    if !stage.known.has_capability(List::Tools.capability()) {
        return;
    }
    let method = List::Tools.method();
    let began = Instant::now();
    let mut quickest = Duration::MAX;
    for _ in 0..REPEATS {
        let asked = Instant::now();
        stage.speaker.ask(LIST_AGAIN_STEP, method, json!({})).await;
        quickest = quickest.min(asked.elapsed());
        if began.elapsed() > LONG || stage.speaker.has_ended() {
            return;
        }
    }
    if quickest > TELLING {
        let era = stage.era();
        let ids: Vec<Value> = (0..AT_ONCE).map(|_| stage.speaker.fresh_id()).collect();
        let messages = ids.iter().map(|id| (id.clone(), request(era, id, method, json!({})))).collect();
        stage.speaker.ask_together(LISTS_AT_ONCE_STEP, messages).await;
    }
}
