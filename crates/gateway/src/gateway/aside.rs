//! Checks of arguments that take long, away from the thread that serves connections.

use super::{Inner, call::bad_arguments, faults};
use crate::catalog::{Checker, Refusal};
use futures_util::{StreamExt, stream};
use std::sync::Arc;
use tokio::{sync::Semaphore, task};
use trunkline_protocol::{Call, Fault, FaultKind, Raw, Reply};
use trunkline_schema::Budget;

/// Checks that run at once. Others wait for their turn, which ends with their calls.
pub(super) const MAX_CHECKS: usize = 2;

impl Inner {
    /// Checks the arguments on a thread of its own, and calls the tool then.
    pub(super) fn check_aside(
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
            // The rules may have changed meanwhile, and the tool, too.
            let catalog = inner.now.load_full();
            match catalog.view(call.view.as_deref()) {
                Some(view) => inner.call_checked(&catalog, view, call, Some(&checker)),
                None => Reply::ready(Err(faults::no_view(call.view.as_deref()))),
            }
        };
        Reply::new(stream::once(reply).flatten())
    }
}

/// A call that is dropped stops waiting; a check that has begun ends by its budget and keeps its place until then.
async fn checked(
    checks: &Arc<Semaphore>,
    checker: &Arc<Checker>,
    arguments: Option<Raw>,
) -> Result<(), Refusal> {
    let Ok(place) = Arc::clone(checks).acquire_owned().await else { return Err(Refusal::TooExpensive) };
    let checker = Arc::clone(checker);
    let check = task::spawn_blocking(move || {
        let verdict = checker.check(arguments.as_ref(), Budget::FULL);
        drop(place);
        verdict
    });
    check.await.unwrap_or(Err(Refusal::TooExpensive))
}

fn too_expensive() -> Fault {
    let message =
        "the arguments are too expensive to check against the tool's schema: nest them less, or send less";
    Fault::new(FaultKind::InvalidRequest, message)
}
