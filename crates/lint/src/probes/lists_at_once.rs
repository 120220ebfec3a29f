//! Requests the tool list several times in parallel, if it is slow enough to measure.

use super::{Probe, Stage, TOOLS_AGAIN_STEP};
use crate::{
    evidence::{Exchange, List, Step},
    rule::Mode,
    wire::request,
};
use serde_json::{Value, json};
use std::time::Duration;

pub(crate) const LISTS_AT_ONCE_STEP: Step = Step("lists-at-once");

pub(crate) static LISTS_AT_ONCE: Probe =
    Probe::new("lists-at-once", Mode::Passive, |stage| Box::pin(run(stage)));

/// Number of parallel requests.
const AT_ONCE: usize = 8;
/// For faster answers, queueing cannot be distinguished from work.
const TELLING: Duration = Duration::from_millis(200);
/// Slower answers would exceed the timeout when processed one by one.
const TOO_LONG: Duration = Duration::from_secs(1);

async fn run(stage: &mut Stage) {
    let quickest = stage.speaker.so_far(|line| {
        let again = line.exchanges.iter().filter(|exchange| exchange.step == TOOLS_AGAIN_STEP);
        again.filter(|exchange| exchange.answer.is_some()).map(Exchange::own_time).min()
    });
    if quickest.is_some_and(|took| (TELLING..TOO_LONG).contains(&took)) {
        let era = stage.era();
        let ids: Vec<Value> = (0..AT_ONCE).map(|_| stage.speaker.fresh_id()).collect();
        let method = List::Tools.method();
        let messages = ids.iter().map(|id| (id.clone(), request(era, id, method, json!({})))).collect();
        stage.speaker.ask_together(LISTS_AT_ONCE_STEP, messages).await;
    }
}
