//! Known and unknown notifications; none may be answered.

use super::{Probe, Stage};
use crate::{evidence::Step, rule::Mode};
use serde_json::json;

pub(crate) const NOTIFICATIONS_STEP: Step = Step("notification");
pub(crate) const NOTIFICATIONS_AFTER: Step = Step("after-notifications");

pub(crate) static NOTIFICATIONS: Probe =
    Probe::new("notifications", Mode::Negative, |stage| Box::pin(run(stage)));

async fn run(stage: &mut Stage) {
    let cancelled = json!({"requestId": "trunkline-lint-no-such-request", "reason": "probing"});
    stage.speaker.tell(NOTIFICATIONS_STEP, "notifications/cancelled", cancelled).await;
    stage.speaker.tell(NOTIFICATIONS_STEP, "notifications/trunkline-lint/unknown", json!({})).await;
    stage.sentinel(NOTIFICATIONS_AFTER).await;
}
