//! Argument checks that take more than a millisecond run on a blocking thread and not on a runtime
//! thread.

use super::{Inner, call::bad_arguments, faults};
use crate::catalog::{Checker, Refusal};
use futures_util::{StreamExt, stream};
use std::sync::Arc;
use tokio::{sync::Semaphore, task};
use trunkline_protocol::{Call, Fault, FaultKind, Raw, Reply};
use trunkline_schema::Budget;

/// Most checks at once. Further calls wait for a permit.
pub(super) const MAX_CHECKS: usize = 2;

impl Inner {
    /// Checks the arguments on a blocking thread, then calls the tool.
    pub(super) fn check_on_blocking_thread(
        self: &Arc<Self>,
        checker: Arc<Checker>,
        arguments: Option<Raw>,
        call: Call,
    ) -> Reply {
        let inner = Arc::clone(self);
        let reply = async move {
            match checked(&inner.checks, &checker, arguments).await {
                Ok(()) => {}
                Err(Refusal::Unfit(complaint)) => return Reply::ready(Ok(bad_arguments(&complaint))),
                Err(Refusal::TooExpensive) => return Reply::ready(Err(too_expensive())),
            }
            // The snapshot may have changed during the check.
            let catalog = inner.now.load_full();
            match catalog.view(call.view.as_deref()) {
                Some(view) => inner.call_checked(&catalog, view, call, Some(&checker)),
                None => Reply::ready(Err(faults::no_view(call.view.as_deref()))),
            }
        };
        Reply::new(stream::once(reply).flatten())
    }
}

/// Dropping the future stops waiting. A check that has begun cannot be cancelled; it keeps its
/// permit and ends within its budget.
async fn checked(
    checks: &Arc<Semaphore>,
    checker: &Arc<Checker>,
    arguments: Option<Raw>,
) -> Result<(), Refusal> {
    let Ok(permit) = Arc::clone(checks).acquire_owned().await else { return Err(Refusal::TooExpensive) };
    let checker = Arc::clone(checker);
    let check = task::spawn_blocking(move || {
        let verdict = checker.check(arguments.as_ref(), Budget::FULL);
        drop(permit);
        verdict
    });
    check.await.unwrap_or(Err(Refusal::TooExpensive))
}

fn too_expensive() -> Fault {
    let message =
        "the arguments are too expensive to check against the tool's schema: nest them less, or send less";
    Fault::new(FaultKind::InvalidRequest, message)
}
