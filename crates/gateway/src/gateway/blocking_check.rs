//! Argument checks that take more than a millisecond, or whose schema must be compiled first, run
//! on a blocking thread and not on a runtime thread.

use super::{Inner, Passed};
use crate::catalog::{Checker, CheckerMemory, MAX_ARGUMENT_BYTES, Refusal};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::{sync::Semaphore, task};
use trunkline_protocol::{
    Call, Fault, FaultKind, Raw, Reply,
    message::{CallToolResult, meta::ERROR_DATA},
};
use trunkline_schema::Complaint;

/// Most checks at once. Further calls wait for a permit.
pub(super) const MAX_CHECKS: usize = 2;

impl Inner {
    /// Checks the arguments on a blocking thread, then calls the tool.
    pub(super) fn check_on_blocking_thread(
        self: &Arc<Self>,
        checker: Arc<Checker>,
        arguments: Option<Raw>,
        call: Call,
        passed: Passed,
    ) -> Reply {
        let inner = Arc::clone(self);
        let reply = async move {
            let checkers = Arc::clone(&inner.shared.checkers);
            if let Err(refusal) = checked(&inner.shared.checks, checker, checkers, arguments).await {
                return refused(&refusal);
            }
            inner.by_newest(call, |catalog, view, call| inner.use_named(catalog, view, call, passed))
        };
        Reply::new(stream::once(reply).flatten())
    }
}

/// Dropping the future stops waiting. A check that has begun cannot be cancelled; it keeps its
/// permit and ends within its budget.
async fn checked(
    checks: &Arc<Semaphore>,
    checker: Arc<Checker>,
    memory: Arc<CheckerMemory>,
    arguments: Option<Raw>,
) -> Result<(), Refusal> {
    let Ok(permit) = Arc::clone(checks).acquire_owned().await else { return Err(Refusal::TooExpensive) };
    let check = task::spawn_blocking(move || {
        let verdict = checker.check_fully(arguments.as_ref(), &memory);
        drop(permit);
        verdict
    });
    check.await.unwrap_or(Err(Refusal::TooExpensive))
}

/// The answer to a call whose arguments are not sent.
pub(super) fn refused(refusal: &Refusal) -> Reply {
    Reply::ready(match refusal {
        Refusal::Unfit(_, complaints) => Ok(bad_arguments(text(refusal), complaints)),
        Refusal::TooExpensive | Refusal::TooLong(_) => {
            Err(Fault::new(FaultKind::InvalidRequest, text(refusal)))
        }
    })
}

/// The reason why the arguments are not sent.
pub(super) fn text(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Unfit(text, _) => format!("The arguments do not fit the tool's schema:\n{text}"),
        Refusal::TooExpensive => {
            "the arguments are too expensive to check against the tool's schema: nest them less, or send less"
                .to_owned()
        }
        Refusal::TooLong(bytes) => format!(
            "the arguments have {bytes} bytes, more than the {MAX_ARGUMENT_BYTES} that are checked against \
             the tool's schema: send less"
        ),
    }
}

fn bad_arguments(text: String, complaints: &[Complaint]) -> Raw {
    let mut result = CallToolResult::failure(FaultKind::InvalidRequest, text);
    if !complaints.is_empty() {
        let invalid: Vec<Value> = complaints.iter().map(Complaint::to_value).collect();
        let mut meta = result.meta.as_ref().and_then(Raw::object).unwrap_or_default();
        meta.set(ERROR_DATA, json!({ "invalid": invalid }).into());
        result.meta = Some(meta.to_raw());
    }
    result.to_raw()
}
