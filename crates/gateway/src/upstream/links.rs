//! Explains a call to an upstream: makes the checks of `call` without their effects.

use super::{core::Core, faults, server::Upstream, status::State};
use crate::explain::{Decision, Link, Stage};
use trunkline_protocol::Call;
use trunkline_resilience::Moment;

impl Upstream {
    /// The links of breaker, rate, slots and connection.
    pub fn links(&self, _call: &Call) -> Vec<Link> {
        let core = &self.core;
        let breaker = match core.breaker.peek() {
            Ok(()) => Link::passes(Stage::Breaker, "closed, or a trial is allowed"),
            Err(refused) => {
                let setting = format!("mcp.servers.{}.breaker", core.name);
                Link::stops(Stage::Breaker, &faults::resting(&core.name, &refused)).by_setting(setting)
            }
        };
        vec![breaker, rate(core).unwrap_or_else(|| connection(core))]
    }
}

/// The refusal by the server's own rate, if the call comes too soon.
fn rate(core: &Core) -> Option<Link> {
    let soon = core.rate.as_ref()?.peek("").err()?;
    let fault = faults::too_often(&core.name, soon.retry_after);
    Some(Link::stops(Stage::Upstream, &fault).by_setting(format!("mcp.servers.{}.rate", core.name)))
}

fn connection(core: &Core) -> Link {
    let (state, pause, has_sessions) = {
        let pool = core.pool();
        (pool.state, pool.pause(), pool.has_sessions())
    };
    let calls = core.calls();
    match (state, pause) {
        (State::Stopped, _) => Link::stops(Stage::Upstream, &core.stopped()),
        (_, Some(until)) if !has_sessions && Moment::from(until) > Moment::now() + core.options.patience => {
            let fault = core.away(None);
            let text = told(core, fault.message(), fault.detail());
            Link { text, ..Link::stops(Stage::Upstream, &fault) }
        }
        (State::Ready, _) => Link::passes(
            Stage::Upstream,
            format!("ready; {} in flight, {} queued", calls.in_flight, calls.waiting),
        ),
        (State::Idle, _) => Link::passes(Stage::Upstream, "not running; the call starts it"),
        (State::Connecting, _) => {
            Link::new(Stage::Upstream, Decision::Unknown, "it is being connected; the call waits for that")
        }
        (State::Lost | State::Failed, _) => {
            let text = "not connected; the call waits for the next attempt";
            Link::new(Stage::Upstream, Decision::Unknown, told(core, text, core.away(None).detail()))
        }
    }
}

/// The text with the last error, for operators.
fn told(core: &Core, text: &str, error: Option<&str>) -> String {
    let error = error.map(|error| format!(" ({error})")).unwrap_or_default();
    format!("{text}{error}; `trunkline doctor {}` says more", core.name)
}
