//! Liveness check of a session that failed a call. The end of a process is noticed by itself; a
//! dead address or a hanging process is noticed only by sending a request.

use super::{call::is_loss, core::Core, era::sign_of_life, lists::own_call, live_session::LiveSession};
use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use trunkline_protocol::{Fault, FaultKind};
use trunkline_resilience::timeout;

/// Timeout of the check.
const LIMIT: Duration = Duration::from_secs(10);

impl Core {
    /// Starts a check of the session, unless one runs; a dead session is removed from the pool.
    pub(super) fn check_liveness(self: &Arc<Self>, live: &Arc<LiveSession>) {
        if live.being_checked.swap(true, Ordering::AcqRel) {
            return;
        }
        let (core, live) = (self.clone(), live.clone());
        tokio::spawn(async move {
            tokio::select! {
                _ = live.lost() => {}
                verdict = core.examine(&live) => match verdict {
                    Some(fault) => core.lost(&live, &fault),
                    None => live.being_checked.store(false, Ordering::Release),
                },
            }
        });
    }

    /// The reason to give the session up, if there is one.
    async fn examine(&self, live: &LiveSession) -> Option<Fault> {
        let asked = live.session.call(own_call(sign_of_life(live.session.revision()), None));
        match timeout(LIMIT, asked.outcome()).await {
            Some(Err(fault)) if is_loss(&fault) => Some(fault),
            Some(Err(fault)) if fault.peer().is_none() && fault.kind() == FaultKind::ConnectionLost => {
                Some(fault)
            }
            // A busy server may be slow to answer; if several calls timed out as well, it hangs.
            None if self.is_suspect(live) => {
                let fault = format!(
                    "the server failed several calls and did not answer a liveness check within {LIMIT:?}"
                );
                Some(Fault::new(FaultKind::Timeout, fault))
            }
            Some(_) | None => None,
        }
    }

    /// True if as many calls in a row timed out on the session as open a breaker. The sessions of
    /// a server share their breaker, so it does not tell which of them hangs.
    pub(super) fn is_suspect(&self, live: &LiveSession) -> bool {
        live.timeouts.load(Ordering::Relaxed) >= self.options.breaker.failures
    }
}
