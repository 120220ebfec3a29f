//! Cancels a slow call: by a notification, or over HTTP in the modern era by closing the stream.

use super::{LineUse, Probe, Stage, TOOL_CALL_STEP};
use crate::{
    evidence::{Line, Step},
    rule::Mode,
    wire::{Expect, HttpAsk, Say, bytes, notification, request},
};
use serde_json::{Value, json};
use std::time::Duration;
use trunkline_protocol::Era;

/// The call that is cancelled; its answer, if one comes, belongs to [`CANCEL_STEP`].
pub(crate) const CANCELLED_CALL_STEP: Step = Step("cancelled-call");
/// The notification that cancels it, and the messages after it.
pub(crate) const CANCEL_STEP: Step = Step("cancel");
/// A plain request after the cancellation.
pub(crate) const CANCEL_AFTER_STEP: Step = Step("after-cancel");
/// The call whose stream is closed before it is answered.
pub(crate) const CLOSED_CALL_STEP: Step = Step("closed-call");
/// A plain request after that; the variant is the remaining duration of the call in milliseconds.
pub(crate) const CLOSED_AFTER_STEP: Step = Step("after-closed-call");

/// Faster calls cannot be cancelled in time.
const SLOW: Duration = Duration::from_millis(250);

/// Extra time for the repeated call, as the machine may be busy.
const MARGIN: Duration = Duration::from_secs(1);

const TOKEN: &str = "trunkline-lint-cancelled";

pub(crate) static CANCELLED_CALLS: Probe =
    Probe::new("cancelled-calls", Mode::Active, |stage| Box::pin(run(stage))).line(LineUse::Risky);

async fn run(stage: &mut Stage) {
    let Some((name, arguments, took)) = stage.find(slowest) else { return };
    let http = stage.speaker.url().is_some();
    // In the legacy era, closing the stream does not cancel the call, and the cancellation would
    // need a second connection.
    if (http && stage.era() == Era::Legacy) || !stage.known.take_call() {
        return;
    }
    let id = stage.speaker.fresh_id();
    let params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": TOKEN}});
    let call = request(stage.era(), &id, "tools/call", params);
    if http {
        stage.speaker.patience(took / 4);
        let ask = HttpAsk::post(bytes(&call));
        stage.speaker.http((CLOSED_CALL_STEP, name), ask, Expect::Answer(id)).await;
        stage.speaker.patience(stage.known.patience().max(took + MARGIN));
        let left = (took * 3 / 4).as_millis().to_string();
        stage.speaker.ask_variant((CLOSED_AFTER_STEP, left), "server/discover", json!({})).await;
    } else {
        stage.speaker.say(Say::new(CANCELLED_CALL_STEP, &call, Expect::NoWait).variant(name)).await;
        tokio::time::sleep(took / 4).await;
        let params = json!({"requestId": id, "reason": "probing"});
        let cancel = notification(stage.era(), "notifications/cancelled", params);
        stage.speaker.patience(took + MARGIN);
        stage.speaker.say(Say::new(CANCEL_STEP, &cancel, Expect::Answer(id))).await;
        stage.speaker.patience(stage.known.patience());
        stage.sentinel(CANCEL_AFTER_STEP).await;
    }
    stage.speaker.patience(stage.known.patience());
}

/// The slowest call: name, arguments, duration.
fn slowest(line: &Line) -> Option<(String, Value, Duration)> {
    let slow = line.exchanges.iter().filter(|call| call.step == TOOL_CALL_STEP && call.took >= SLOW);
    let slow = slow.filter(|call| call.answer.is_some()).max_by_key(|call| call.took)?;
    let params = line.frames[slow.sent?].json()?.get("params")?;
    Some((params["name"].as_str()?.to_owned(), params["arguments"].clone(), slow.took))
}
