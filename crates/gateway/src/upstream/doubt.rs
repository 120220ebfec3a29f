//! Doubt: whether a session that failed a call is still one. A process that ends is noticed; an address behind which nobody is
//! any more, or a process that hangs, shows only when it is asked.

use super::{core::Core, era::sign_of_life, flight::is_loss, lists::own_call, live::Live};
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use trunkline_protocol::{Fault, FaultKind};
use trunkline_resilience::{BreakerState, within_time};

/// How long a sign of life may take.
const LIMIT: Duration = Duration::from_secs(10);

impl Core {
    /// Asks a session for a sign of life, beside whoever doubts it; one that is gone is given up.
    pub(super) fn doubt(self: &Arc<Self>, live: &Arc<Live>) {
        if live.doubted.swap(true, Ordering::AcqRel) {
            return;
        }
        let (core, live) = (self.clone(), live.clone());
        tokio::spawn(async move {
            tokio::select! {
                _ = live.gone() => {}
                verdict = examine(&live) => match verdict {
                    Some(fault) => core.lost(&live, &fault),
                    None => live.doubted.store(false, Ordering::Release),
                },
            }
        });
    }
}

/// Why the session is no use any more, if so.
async fn examine(live: &Live) -> Option<Fault> {
    let asked = live.session.call(own_call(sign_of_life(live.session.revision()), None));
    match within_time(LIMIT, asked.outcome()).await {
        Some(Err(fault)) if is_loss(&fault) => Some(fault),
        Some(Err(fault)) if fault.peer().is_none() && fault.kind() == FaultKind::ConnectionLost => {
            Some(fault)
        }
        // A server that is busy may be silent for a while; one that also failed call after call hangs.
        None if !matches!(live.breaker.state(), BreakerState::Closed { .. }) => {
            let fault =
                format!("the server failed call after call and gave no sign of life within {LIMIT:?}");
            Some(Fault::new(FaultKind::Timeout, fault))
        }
        Some(_) | None => None,
    }
}
