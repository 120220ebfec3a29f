//! Approvals: calls that wait for the consent of an operator.
//!
//! A waiting call has a record in the store. An operator decides by writing that record; the
//! waiting process learns of it by the record's log, so any process with the same store can
//! decide. A record outlives the process: a call that waited when the process was killed is never
//! made, and its record says so.

mod grant;
mod places;
mod question;
mod record;
mod session_grants;

use crate::policy::{Asked, Consent};
use bytes::Bytes;
use grant::Grant;
use parking_lot::Mutex;
use places::Places;
use session_grants::SessionGrants;
use std::{
    collections::VecDeque,
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};
use trunkline_protocol::{Call, Fault, FaultKind, time::iso_8601};
use trunkline_store::{Condition, Outcome, Retention, Store, StoreError, Version};

pub use grant::Scope;
pub(crate) use question::Question;
pub(crate) use record::shown_arguments;
pub use record::{Approval, ApprovalState};

/// Time for which a record is kept after its question.
const KEPT: Duration = Duration::from_hours(7 * 24);
/// Time for which a record is kept that nobody decided about.
const KEPT_UNDECIDED: Duration = Duration::from_hours(1);
/// Most of these records that are kept; a caller could fill the store with questions that it
/// withdraws.
const MAX_UNDECIDED: usize = 1000;
/// Most records in one list.
const MAX_LISTED: usize = 1000;
/// Records that are read from the store at once.
const PAGE: usize = 1000;
const RECORDS: &str = "approval/";
const LOGS: &str = "approval-log/";
/// The person who agreed by elicitation, in records.
const AT_CLIENT: &str = "the person at the client";

/// Writes a line about a decision to the audit trail: what, who, and details.
pub type Note = Arc<dyn Fn(&str, &str, &str) + Send + Sync>;

/// The settings of approvals.
#[derive(Clone)]
pub struct ApprovalOptions {
    pub store: Arc<dyn Store>,
    /// Maximum time that a call waits for a decision.
    pub timeout: Duration,
    /// Most calls that wait at once.
    pub most: usize,
    /// True if operators can reach this process. Otherwise only clients are asked.
    pub reachable: bool,
    /// True if no other process uses the store, so that a pending record of another process is
    /// that of an earlier run.
    pub alone: bool,
}

/// The calls that wait for an operator. Clones share everything.
#[derive(Clone)]
pub struct Approvals(Arc<Inner>);

struct Inner {
    options: ApprovalOptions,
    /// Identifies this process in records.
    process: String,
    places: Places,
    sessions: SessionGrants,
    /// Ids of the records that nobody decided about, oldest first.
    undecided: Mutex<VecDeque<String>>,
    note: Mutex<Option<Note>>,
}

/// The reason why a decision was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum NotDecided {
    #[error("there is no approval `{0}`")]
    Unknown(String),
    #[error("the approval is {} already", word(.0.state))]
    Over(Box<Approval>),
    #[error("a caller cannot agree to its own call")]
    OwnCall,
    #[error("the client has no session: agree once, or for the caller or tool with a time")]
    NoSession,
    #[error("the store cannot be used: {0}")]
    Store(#[from] StoreError),
}

/// An operator's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub agrees: bool,
    pub scope: Scope,
    pub note: Option<String>,
}

impl Approvals {
    pub fn new(options: ApprovalOptions) -> Self {
        let process = uuid::Uuid::new_v4().simple().to_string();
        let places = Places::new(options.most);
        let (undecided, note) = (Mutex::default(), Mutex::new(None));
        let sessions = SessionGrants::default();
        Self(Arc::new(Inner { options, process, places, sessions, undecided, note }))
    }

    /// Sets the function that records questions and decisions.
    pub fn record_with(&self, note: Note) {
        *self.0.note.lock() = Some(note);
    }

    /// All pending records and the newest of the others, in the order of their questions.
    pub async fn list(&self) -> Result<Vec<Approval>, StoreError> {
        let mut all = Vec::new();
        let mut after = String::new();
        loop {
            let values = self.0.options.store.list(RECORDS, &after, PAGE).await?;
            let is_last = values.len() < PAGE;
            for (key, value) in values {
                if let Ok(approval) = serde_json::from_slice::<Approval>(&value.bytes) {
                    all.push(self.settled(approval, value.version).await);
                }
                after = key;
            }
            if is_last {
                break;
            }
        }
        // Questions that were withdrawn must not hide those that wait.
        let is_over = |one: &Approval| one.state != ApprovalState::Pending;
        all.sort_by(|one, other| {
            (is_over(one), &other.asked_at, &other.id).cmp(&(is_over(other), &one.asked_at, &one.id))
        });
        all.truncate(MAX_LISTED);
        all.sort_by(|one, other| (&one.asked_at, &one.id).cmp(&(&other.asked_at, &other.id)));
        Ok(all)
    }

    pub async fn show(&self, id: &str) -> Result<Approval, NotDecided> {
        let (approval, version) = self.find(id).await?;
        Ok(self.settled(approval, version).await)
    }

    /// Decides about a waiting call. The operator must be another caller, unless the local user
    /// proved to be the operator.
    pub async fn decide(
        &self,
        id: &str,
        operator: &str,
        is_proven: bool,
        decision: &Decision,
    ) -> Result<Approval, NotDecided> {
        let (found, version) = self.find(id).await?;
        let found = self.settled(found, version).await;
        if found.state != ApprovalState::Pending {
            return Err(NotDecided::Over(Box::new(found)));
        }
        if found.caller == operator && !is_proven {
            return Err(NotDecided::OwnCall);
        }
        if decision.agrees && decision.scope == Scope::Session && !found.session {
            return Err(NotDecided::NoSession);
        }
        let mut decided = found.clone();
        decided.state = if decision.agrees { ApprovalState::Approved } else { ApprovalState::Denied };
        decided.decided_by = Some(operator.to_owned());
        decided.decided_at = Some(iso_8601(SystemTime::now()));
        decided.scope = decision.agrees.then(|| decision.scope.to_string());
        decided.note.clone_from(&decision.note);
        // The grant is written first: a decision that cannot be kept is none.
        let (caller, tool) = (&decided.caller, &decided.tool);
        if decision.agrees
            && let Some(grant) = Grant::new(Consent::Operator, operator, caller, tool, decision.scope)
        {
            grant.keep(&*self.0.options.store).await?;
        }
        match self.write(&decided, Condition::Unchanged(version)).await? {
            Outcome::Done(_) => {}
            Outcome::Conflict => return Err(NotDecided::Over(Box::new(self.show(id).await?))),
        }
        let retention = Retention { lifetime: KEPT, events: 1 };
        self.0
            .options
            .store
            .append(&format!("{LOGS}{id}"), Bytes::from_static(b"decided"), retention)
            .await?;
        self.note(&decided, operator);
        Ok(decided)
    }

    /// True if an earlier decision covers this call, which is recorded as its use.
    pub(crate) async fn is_granted(&self, call: &Call, asked: &Asked) -> bool {
        let granted = self.granted_by(call, asked).await;
        if let Some(by) = &granted {
            let detail = format!("`{}` by the agreement of {by}", asked.subject);
            self.tell("approval-used", &call.caller.id, &detail);
        }
        granted.is_some()
    }

    /// The person whose earlier decision covers this call.
    pub(crate) async fn granted_by(&self, call: &Call, asked: &Asked) -> Option<String> {
        let find = |session: &Arc<str>| self.0.sessions.find(session, &asked.subject, asked.consent);
        if let Some(by) = call.session.as_ref().and_then(find) {
            return Some(format!("{by} {}", Scope::Session));
        }
        let found = Grant::find(&*self.0.options.store, &call.caller.id, &asked.subject, asked.consent).await;
        found
            .unwrap_or_else(|error| {
                tracing::warn!(%error, "agreements cannot be read");
                None
            })
            .map(|grant| grant.by)
    }

    /// True if operators can decide here.
    pub(crate) fn is_reachable(&self) -> bool {
        self.0.options.reachable
    }

    /// Records and keeps the answer of the person at the client; `None` if it is a refusal.
    pub(crate) async fn answered(&self, call: &Call, asked: &Asked, agreed: Option<Scope>) {
        let Asked { subject, rule, .. } = asked;
        let Some(scope) = agreed else {
            let detail = format!("`{subject}` by {AT_CLIENT}; {rule}");
            return self.tell("consent-refused", &call.caller.id, &detail);
        };
        let detail = format!("`{subject}` by {AT_CLIENT}, {scope}; {rule}");
        self.tell("consent-given", &call.caller.id, &detail);
        if let (Scope::Session, Some(session)) = (scope, &call.session) {
            self.0.sessions.keep(session, subject, Consent::Client, AT_CLIENT);
        }
        if let Some(grant) = Grant::new(Consent::Client, AT_CLIENT, &call.caller.id, subject, scope)
            && let Err(error) = grant.keep(&*self.0.options.store).await
        {
            tracing::warn!(%error, "an agreement cannot be kept");
        }
    }

    /// Begins a question to an operator.
    pub(crate) async fn open(&self, call: &Call, asked: &Asked) -> Result<Question, Fault> {
        let options = &self.0.options;
        if !options.reachable {
            let text =
                format!("`{}` needs the consent of a person, and this client cannot ask one", asked.subject);
            return Err(Fault::new(FaultKind::ApprovalRefused, text).with_detail(asked.rule.clone()));
        }
        let place = self.0.places.take(&call.caller).ok_or_else(|| {
            Fault::new(FaultKind::Overloaded, "too many calls wait for approval").harmless_to_repeat()
        })?;
        let approval = Approval::new(call, asked, options.timeout, &self.0.process);
        // It exists before its record does: a caller that hangs up meanwhile withdraws it.
        let (approvals, session) = (self.clone(), call.session.clone());
        let question = Question { approvals, approval, session, is_over: false, _place: place };
        self.write(&question.approval, Condition::Absent).await.map_err(|error| {
            Fault::new(FaultKind::StoreUnavailable, "the question to an operator cannot be stored")
                .with_detail(error.to_string())
        })?;
        self.note(&question.approval, &question.approval.caller);
        Ok(question)
    }

    async fn find(&self, id: &str) -> Result<(Approval, Version), NotDecided> {
        let unknown = || NotDecided::Unknown(id.to_owned());
        let is_id = id.len() <= 64 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let key = format!("{RECORDS}{id}");
        let value = if is_id { self.0.options.store.get(&key).await? } else { None };
        let value = value.ok_or_else(unknown)?;
        Ok((serde_json::from_slice(&value.bytes).map_err(|_| unknown())?, value.version))
    }

    /// The record, with its state as it is now: a pending one may be over without anyone having
    /// been there to write it.
    async fn settled(&self, mut approval: Approval, version: Version) -> Approval {
        if approval.state != ApprovalState::Pending {
            return approval;
        }
        if self.0.options.alone && approval.process != self.0.process {
            approval.state = ApprovalState::Abandoned;
        } else if approval.is_late() {
            approval.state = ApprovalState::Expired;
        } else {
            return approval;
        }
        self.conclude(approval, version).await
    }

    /// Writes an expiry or withdrawal, unless a decision was stored in the meantime.
    async fn conclude(&self, approval: Approval, version: Version) -> Approval {
        match self.write(&approval, Condition::Unchanged(version)).await {
            Ok(Outcome::Done(_)) => {}
            Ok(Outcome::Conflict) => {
                if let Ok((decided, _)) = self.find(&approval.id).await {
                    return decided;
                }
            }
            Err(error) => tracing::warn!(%error, "an approval cannot be written"),
        }
        approval
    }

    async fn write(&self, approval: &Approval, condition: Condition) -> Result<Outcome, StoreError> {
        let bytes = serde_json::to_vec(approval).unwrap_or_default();
        let key = format!("{RECORDS}{}", approval.id);
        let lifetime = match approval.state {
            ApprovalState::Withdrawn | ApprovalState::Expired => KEPT_UNDECIDED,
            _ => KEPT,
        };
        self.0.options.store.put(&key, bytes.into(), condition, Some(lifetime)).await
    }

    /// Remembers a record that nobody decided about, and removes the oldest beyond the limit.
    async fn forget_oldest(&self, id: String) {
        let oldest = {
            let mut undecided = self.0.undecided.lock();
            undecided.push_back(id);
            if undecided.len() > MAX_UNDECIDED { undecided.pop_front() } else { None }
        };
        let Some(oldest) = oldest else { return };
        let removed = self.0.options.store.remove(&format!("{RECORDS}{oldest}"), Condition::Always).await;
        if let Err(error) = removed {
            tracing::warn!(%error, "an old approval cannot be removed");
        }
    }

    fn note(&self, approval: &Approval, who: &str) {
        let about = format!("{} `{}` of {}", approval.id, approval.tool, approval.caller);
        let detail = match &approval.scope {
            Some(scope) => format!("{about}, {scope}; {}", approval.rule),
            None => format!("{about}; {}", approval.rule),
        };
        self.tell(&format!("approval-{}", word(approval.state)), who, &detail);
    }

    fn tell(&self, what: &str, who: &str, detail: &str) {
        tracing::info!(who, detail, "{what}");
        if let Some(note) = &*self.0.note.lock() {
            note(what, who, detail);
        }
    }
}

fn word(state: ApprovalState) -> &'static str {
    match state {
        ApprovalState::Pending => "pending",
        ApprovalState::Approved => "approved",
        ApprovalState::Denied => "denied",
        ApprovalState::Expired => "expired",
        ApprovalState::Withdrawn => "withdrawn",
        ApprovalState::Abandoned => "abandoned",
    }
}

impl fmt::Debug for Approvals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approvals").finish_non_exhaustive()
    }
}

impl fmt::Debug for ApprovalOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalOptions").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
