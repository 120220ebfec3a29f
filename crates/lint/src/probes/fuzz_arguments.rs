//! Calls tools with generated arguments that have one odd value.

use super::{LineUse, Probe, Stage};
use crate::{
    evidence::{List, Step},
    rule::Mode,
    sample::{self, Rng},
};
use serde_json::json;

pub(crate) const FUZZ_CALL_STEP: Step = Step("fuzz-call");
pub(crate) const FUZZ_CALL_AFTER: Step = Step("after-fuzz-call");

pub(crate) static FUZZ_ARGUMENTS: Probe =
    Probe::new("fuzz-arguments", Mode::Fuzz, |stage| Box::pin(run(stage))).line(LineUse::Own);

/// Number of failures after which the probe stops.
const ENOUGH: usize = 5;

async fn run(stage: &mut Stage) {
    stage.speaker.ask(List::Tools.step(), List::Tools.method(), json!({})).await;
    let tools = stage.callable_tools();
    if tools.is_empty() {
        return;
    }
    let mut rng = Rng::new(stage.known.active.seed);
    let mut failures = 0;
    for _ in 0..stage.known.active.cases {
        let tool = rng.choose(&tools).clone();
        let (Some(name), Some(schema)) = (tool["name"].as_str(), tool.get("inputSchema")) else { continue };
        if !stage.known.take_call() {
            return;
        }
        let (field, arguments) = sample::odd(schema, &sample::sample(schema), &mut rng);
        let params = json!({"name": name, "arguments": arguments});
        stage.speaker.ask_variant((FUZZ_CALL_STEP, format!("{name}:{field}")), "tools/call", params).await;
        let alive = stage.sentinel(FUZZ_CALL_AFTER).await.answer.is_some();
        if !alive {
            failures += 1;
            if failures == ENOUGH {
                return;
            }
            stage.renew(FUZZ_ARGUMENTS.name).await;
        }
    }
}
