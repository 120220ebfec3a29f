//! A call's question to an operator.

use super::{Approval, ApprovalState, Approvals, LOGS, Outcome, Scope, places::Place};
use crate::policy::Consent;
use std::sync::Arc;
use trunkline_protocol::{Fault, FaultKind};
use trunkline_resilience::timeout;
use trunkline_store::Condition;

/// A question to an operator. Dropping it withdraws the question.
pub(crate) struct Question {
    pub(super) approvals: Approvals,
    pub(super) approval: Approval,
    /// The session of the waiting call.
    pub(super) session: Option<Arc<str>>,
    pub(super) is_over: bool,
    pub(super) _place: Place,
}

impl Question {
    pub(crate) fn id(&self) -> &str {
        &self.approval.id
    }

    /// Waits for the decision.
    pub(crate) async fn decided(mut self) -> Result<(), Fault> {
        let log = format!("{LOGS}{}", self.approval.id);
        let options = &self.approvals.0.options;
        let answered = timeout(options.timeout, options.store.appended(&log, 0)).await;
        if let Some(Err(error)) = answered {
            let text = "the store with the decision cannot be reached";
            return Err(Fault::new(FaultKind::StoreUnavailable, text).with_detail(error.to_string()));
        }
        // A decision in the last moment counts, so the record is read in any case.
        let found = self.approvals.find(&self.approval.id).await;
        self.is_over = true;
        let state = match found {
            Ok((mut found, version)) => {
                if found.state == ApprovalState::Pending {
                    found.state = ApprovalState::Expired;
                    found = self.approvals.conclude(found, version).await;
                }
                found
            }
            Err(_) => Approval { state: ApprovalState::Expired, ..self.approval.clone() },
        };
        match state.state {
            ApprovalState::Approved => {
                self.keep_for_session(&state);
                Ok(())
            }
            ApprovalState::Denied => Err(refused(&state)),
            _ => {
                self.approvals.note(&state, &state.caller);
                self.approvals.forget_oldest(state.id.clone()).await;
                let text = format!("nobody decided about `{}` in time", state.tool);
                Err(Fault::new(FaultKind::ApprovalExpired, text).harmless_to_repeat())
            }
        }
    }

    /// The session is one of this process, so an agreement for it is kept here, wherever the
    /// operator decided.
    fn keep_for_session(&self, decided: &Approval) {
        let scope = Scope::Session.to_string();
        if let (Some(session), Some(by)) = (&self.session, &decided.decided_by)
            && decided.scope.as_ref() == Some(&scope)
        {
            self.approvals.0.sessions.keep(session, &decided.tool, Consent::Operator, by);
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (approvals, mut approval) = (self.approvals.clone(), self.approval.clone());
        runtime.spawn(async move {
            // A decision that was made in the meantime stays as it is.
            let Ok((found, version)) = approvals.find(&approval.id).await else { return };
            if found.state == ApprovalState::Pending {
                approval.state = ApprovalState::Withdrawn;
                let written = approvals.write(&approval, Condition::Unchanged(version)).await;
                if matches!(written, Ok(Outcome::Done(_))) {
                    approvals.note(&approval, &approval.caller);
                    approvals.forget_oldest(approval.id).await;
                }
            }
        });
    }
}

fn refused(approval: &Approval) -> Fault {
    let why = approval.note.as_ref().map(|note| format!(": {note}")).unwrap_or_default();
    let text = format!("an operator did not agree to `{}`{why}", approval.tool);
    Fault::new(FaultKind::ApprovalRefused, text)
}
