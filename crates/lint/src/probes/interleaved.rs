//! Many parallel requests: each must be answered once, with its own id.

use super::{LineUse, Probe, Stage};
use crate::{evidence::Step, rule::Mode, wire::request};
use serde_json::{Value, json};
use std::time::Duration;

pub(crate) const INTERLEAVED_STEP: Step = Step("interleaved");

/// Slower lists, one after the other, would exceed the timeout.
const QUICK: Duration = Duration::from_millis(500);

/// Requests in flight together.
const REQUESTS: i64 = 20;

pub(crate) static INTERLEAVED: Probe =
    Probe::new("interleaved", Mode::Negative, |stage| Box::pin(run(stage))).line(LineUse::Risky);

async fn run(stage: &mut Stage) {
    let method = stage.basic_method();
    let era = stage.era();
    let ids: Vec<Value> = (0..REQUESTS).map(|n| json!(9300 + n)).collect();
    // Alternates two methods, so that a swapped answer shows by its contents.
    let quick = stage.known.slowest_list() < QUICK;
    let lists = quick && stage.known.has_capability("tools");
    let methods = [method, if lists { "tools/list" } else { method }];
    let turns = ids.iter().zip(methods.into_iter().cycle());
    let messages = turns.map(|(id, method)| (id.clone(), request(era, id, method, json!({})))).collect();
    stage.speaker.ask_together(INTERLEAVED_STEP, messages).await;
}
