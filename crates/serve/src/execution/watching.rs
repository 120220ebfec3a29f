//! Requests that wait for an execution, or follow its events. Each holds a connection for as long
//! as the execution runs, so one caller may have only a share of the connections for them.

use super::Executions;
use std::sync::Arc;
use trunkline_protocol::{Caller, Fault, FaultKind};
use trunkline_resilience::{FairSlot, FairSlots};

/// One caller with a key or token has one of so many connections for it.
const SHARE: usize = 4;

/// The right of a request to wait; dropping it lets another request of its caller wait.
pub(crate) type Watch = Option<FairSlot>;

pub(super) fn slots(connections: usize) -> Arc<FairSlots> {
    FairSlots::new(connections, Some(connections.div_ceil(SHARE)))
}

impl Executions {
    /// The local user is the only caller, and may have all connections.
    pub(crate) fn watch(&self, caller: &Caller) -> Result<Watch, Fault> {
        if Caller::is_local(caller) {
            return Ok(None);
        }
        let full = || {
            let text = "too many of your requests wait for executions (a quarter of limits.connections)";
            Fault::new(FaultKind::RateLimited, text).with_data(serde_json::json!({"retryAfter": 1}).into())
        };
        self.watches.try_acquire(&caller.id).map(Some).ok_or_else(full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s07_one_caller_waits_with_a_share_of_the_connections() {
        let slots = slots(10);
        let held: Vec<_> = (0..10).map_while(|_| slots.try_acquire("hog")).collect();
        assert_eq!(held.len(), 3);
        let other = slots.try_acquire("other");
        assert!(other.is_some() && slots.try_acquire("hog").is_none());
        drop(held);
        assert!(slots.try_acquire("hog").is_some());
    }
}
