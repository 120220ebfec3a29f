//! Executions: tool calls that outlive the request that started them.
//!
//! An execution is a [`Record`] in the store, a log of its events, a log of commands (cancel,
//! answer), and an [`End`] once it has one. The process that accepted it runs it ([`drive`]); every
//! process with the same store can read, follow, cancel and answer it, because all of that goes
//! through the store. It is in `serve`, because all ways in (REST, MCP tasks, the command line by
//! way of REST) are here, and because it needs only a handler, with or without a gateway.
//!
//! A record says `running` before its call is made, so one that says `queued` has not run. An
//! execution whose process is dead is settled by the next process that looks at it: `failed` if it
//! had not run, `unknown` otherwise. Nothing is ever run again.

mod drive;
mod ended;
mod follow;
mod keys;
mod lease;
mod linked;
pub(crate) mod queue;
mod quota;
pub(crate) mod record;
pub(crate) mod run;
#[cfg(test)]
mod tests;
mod watching;

use crate::{rest::RestLimits, service::Service};
use bytes::Bytes;
use ended::Ended;
use lease::Lease;
use parking_lot::Mutex;
use quota::{Allowance, Bounds, NotCounted, Quota};
use record::{End, Owner, Record, State, now, record_key};
use run::Run;
use serde::Serialize;
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::sync::watch;
use trunkline_protocol::{Call, Caller, Fault, FaultKind, Outcome, Raw};
use trunkline_resilience::FairSlots;
use trunkline_store::{Condition, Outcome as Written, Retention, Store, StoreError, Version};

pub(crate) use follow::{Follower, Happened};
pub(crate) use keys::{Claim, KeyReused};
pub(crate) use linked::TaskRoom;
pub(crate) use watching::Watch;

/// Most events of one execution, and most bytes of them.
const MAX_EVENTS: u64 = 10_000;
const MAX_EVENT_BYTES: usize = 16 << 20;
/// Most attempts to update a record under concurrent writes.
const MAX_CONFLICTS: usize = 32;
/// Records that are read at once.
const PAGE: usize = 100;

pub(crate) struct Executions {
    store: Arc<dyn Store>,
    lease: Arc<Lease>,
    retention: Duration,
    quota: Arc<Quota>,
    watches: Arc<FairSlots>,
    /// Number of executions that this process runs.
    live: watch::Sender<usize>,
    /// Number of tasks of the handler that this process links, by owner.
    linked: Mutex<HashMap<String, usize>>,
}

/// A caller at one view, for deciding which executions it may see.
pub(crate) struct Viewer {
    pub(crate) owner: Owner,
    pub(crate) view: String,
    /// True for a role that may see the executions of all callers.
    pub(crate) is_operator: bool,
}

/// The result of asking for an execution.
pub(crate) enum Begun {
    New(Record),
    /// An earlier request with the same idempotency key has started it.
    Known(Record),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum NotBegun {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Key(#[from] KeyReused),
    #[error(transparent)]
    Refused(Fault),
}

/// A command to the process that runs an execution.
#[derive(Debug, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Command {
    Cancel,
    Answer {
        question: String,
        answer: Raw,
        /// The id of the caller that answers, who may be an operator.
        by: String,
    },
    /// Asks how a task of the handler is, and the answer that it was looked at.
    Look,
    Looked,
}

impl Executions {
    pub(crate) fn new(store: Arc<dyn Store>, limits: RestLimits, connections: usize) -> Arc<Self> {
        let lease = Lease::new(store.clone(), crate::era::unguessable());
        let retention = limits.retention;
        // A result is kept from the end of its execution on.
        let bytes = Bounds { caller: limits.kept_bytes, total: limits.kept_bytes_total };
        let quota = Arc::new(Quota::new(store.clone(), bytes, limits.timeout + retention));
        let (live, linked) = (watch::Sender::new(0), Mutex::default());
        let watches = watching::slots(connections);
        Arc::new(Self { store, lease, retention, quota, watches, live, linked })
    }

    /// Starts an execution. It runs until its end, whatever becomes of the request.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        service: &Arc<Service>,
        mut run: Run,
        record: Record,
        claim: Option<&Claim>,
    ) -> Result<Begun, NotBegun> {
        if let Some(claim) = claim
            && let Some(known) = self.claimed(claim).await?
        {
            return Ok(Begun::Known(known));
        }
        // Before the run applies, because that may displace a run of another caller.
        let allowance = Allowance::new(&self.quota, record.owner.digits()).await?;
        let held = self.lease.hold().await?;
        if let Err(full) = run.apply() {
            allowance.give_back().await;
            return Err(NotBegun::Refused(full));
        }
        let record = Record { instance: self.lease.instance.clone(), ..record };
        let key = record_key(&record.id).unwrap_or_default();
        let lifetime = record.lifetime(self.retention);
        self.store.put(&key, encoded(&record), Condition::Absent, Some(lifetime)).await?;
        let claimed = match claim {
            Some(claim) => self.claim(claim, &record.id, lifetime).await,
            None => Ok(None),
        };
        if !matches!(claimed, Ok(None)) {
            // It never runs, so it must not be seen.
            self.store.remove(&key, Condition::Always).await?;
        }
        if let Some(known) = claimed? {
            return Ok(Begun::Known(known));
        }
        let driver = drive::Driver::new(self.clone(), run, record.clone(), (held, allowance));
        tokio::spawn(driver.run(service.phase()));
        Ok(Begun::New(record))
    }

    /// An execution that the viewer may see, in its true state.
    pub(crate) async fn find(&self, id: &str, viewer: &Viewer) -> Result<Option<Record>, StoreError> {
        let record = self.read(id).await?;
        Ok(record.filter(|record| viewer.sees(record)))
    }

    /// Executions whose ids follow `after` and that fit, in the order of their ids.
    pub(crate) async fn list(
        &self,
        viewer: &Viewer,
        after: Option<&str>,
        limit: usize,
        fits: impl Fn(&Record) -> bool,
    ) -> Result<Vec<Record>, StoreError> {
        let own = || format!("execution/{}/", viewer.owner.digits());
        let prefix = if viewer.is_operator { "execution/".to_owned() } else { own() };
        let mut after = after.and_then(record_key).unwrap_or_default();
        let mut found = Vec::new();
        while found.len() < limit {
            let page = self.store.list(&prefix, &after, PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            after.clone_from(last);
            for (_, value) in page {
                let Some(record) = decoded::<Record>(&value.bytes) else { continue };
                if !viewer.sees(&record) {
                    continue;
                }
                let record = self.settled(record, value.version).await?;
                if fits(&record) && found.len() < limit {
                    found.push(record);
                }
            }
        }
        Ok(found)
    }

    /// The end of an execution that has one.
    pub(crate) async fn end(&self, record: &Record) -> Result<End, StoreError> {
        let stored = self.store.get(&end_key(&record.id)).await?;
        Ok(stored.and_then(|value| decoded(&value.bytes)).unwrap_or_else(|| missing_end(record)))
    }

    pub(crate) async fn command(&self, record: &Record, command: &Command) -> Result<(), NotBegun> {
        let (bytes, id) = (encoded(command), &record.id);
        if matches!(command, Command::Answer { .. }) {
            self.quota.count(&record.owner.digits(), bytes.len()).await?;
        }
        self.store.append(&command_log(id), bytes, self.commands_kept(record)).await?;
        Ok(())
    }

    /// A log that expired would number its commands from 1 again, and the process that runs the
    /// execution waits for greater numbers. So it is kept until the execution must have ended.
    fn commands_kept(&self, record: &Record) -> Retention {
        Retention { lifetime: record.time_left() + self.retention, events: MAX_EVENTS }
    }

    /// Records a call that has ended already.
    pub(crate) async fn keep(
        &self,
        call: &Call,
        view: &str,
        (outcome, took): (&Outcome, Duration),
        mut room: TaskRoom,
    ) -> Result<Record, StoreError> {
        let owner = Owner::of(&call.caller);
        let ended = Ended::new((outcome, State::after(outcome)), took, &mut room.allowance).await;
        let mut record = Record::begun(&owner, &linked::tool_of(call), view, Duration::ZERO);
        record.created = record.created.saturating_sub(u64::try_from(took.as_millis()).unwrap_or_default());
        record.state = ended.state;
        self.store.put(&end_key(&record.id), ended.bytes, Condition::Always, Some(self.retention)).await?;
        let key = record_key(&record.id).unwrap_or_default();
        self.store.put(&key, encoded(&record), Condition::Absent, Some(self.retention)).await?;
        Ok(record)
    }

    /// Time for which a finished execution is kept.
    pub(crate) fn retention(&self) -> Duration {
        self.retention
    }

    /// True if no execution of this process runs.
    pub(crate) fn is_idle(&self) -> bool {
        *self.live.borrow() == 0
    }

    /// Resolves when no execution of this process runs.
    pub(crate) async fn idle(&self) {
        // The sender is a part of `self`, so it exists.
        drop(self.live.subscribe().wait_for(|live| *live == 0).await);
    }

    async fn read(&self, id: &str) -> Result<Option<Record>, StoreError> {
        let Some(key) = record_key(id) else { return Ok(None) };
        let Some(value) = self.store.get(&key).await? else { return Ok(None) };
        let Some(record) = decoded(&value.bytes) else { return Ok(None) };
        self.settled(record, value.version).await.map(Some)
    }

    /// Gives an execution whose process is dead its final state.
    async fn settled(&self, record: Record, version: Version) -> Result<Record, StoreError> {
        if record.state.is_final() || self.lease.is_alive(&record.instance).await? {
            return Ok(record);
        }
        let key = record_key(&record.id).unwrap_or_default();
        // The process may have died between storing the end and the state.
        let end = self.store.get(&end_key(&record.id)).await?.and_then(|value| decoded::<End>(&value.bytes));
        let state = match (&end, record.state) {
            (Some(end), _) => State::after(&end.outcome()),
            (None, State::Queued) => State::Failed,
            (None, _) => State::Unknown,
        };
        if end.is_none() {
            let abandoned =
                End::new(&abandoned(state), Duration::from_millis(now().saturating_sub(record.created)));
            self.store
                .put(&end_key(&record.id), encoded(&abandoned), Condition::Absent, Some(self.retention))
                .await?;
        }
        let settled = Record { state, updated: now(), questions: Vec::new(), ..record };
        let written = self
            .store
            .put(&key, encoded(&settled), Condition::Unchanged(version), Some(self.retention))
            .await?;
        if written == Written::Conflict {
            let now = self.store.get(&key).await?.and_then(|value| decoded(&value.bytes));
            return Ok(now.unwrap_or(settled));
        }
        self.append(&settled.id, &Happened::End).await?;
        Ok(settled)
    }

    /// Changes a record of this process. Another process may have settled it, because the lease
    /// could not be renewed in time; this one knows better.
    async fn update(&self, id: &str, change: impl Fn(&mut Record)) -> Result<(), StoreError> {
        let key = record_key(id).unwrap_or_default();
        for _ in 0..MAX_CONFLICTS {
            let Some(value) = self.store.get(&key).await? else { return Ok(()) };
            let Some(mut record) = decoded::<Record>(&value.bytes) else { return Ok(()) };
            change(&mut record);
            record.updated = now();
            let lifetime = record.lifetime(self.retention);
            let condition = Condition::Unchanged(value.version);
            if self.store.put(&key, encoded(&record), condition, Some(lifetime)).await? != Written::Conflict {
                return Ok(());
            }
        }
        Err(StoreError::Unavailable("a record is changed all the time".to_owned()))
    }

    async fn append(&self, id: &str, event: &Happened) -> Result<u64, StoreError> {
        // The log is kept from its last event on, which may be the first one of a long execution.
        let running = Duration::from_hours(24);
        let longer = if matches!(event, Happened::End) { Duration::ZERO } else { running };
        let retention = Retention { lifetime: self.retention + longer, events: MAX_EVENTS + 8 };
        self.store.append(&event_log(id), encoded(event), retention).await
    }
}

impl From<NotCounted> for NotBegun {
    fn from(error: NotCounted) -> Self {
        match error {
            NotCounted::Store(error) => Self::Store(error),
            NotCounted::Over(over) => Self::Refused(over.refusal()),
        }
    }
}

impl Viewer {
    fn sees(&self, record: &Record) -> bool {
        (self.is_operator || record.owner == self.owner) && (self.view.is_empty() || record.view == self.view)
    }
}

/// The record of an execution that waits for a slot.
pub(crate) fn queued(caller: &Caller, order: &run::Order, view: &str) -> Record {
    let created = now();
    Record {
        id: order.applicant.id.clone(),
        tool: order.tool.clone(),
        view: view.to_owned(),
        owner: Owner::of(caller),
        state: State::Queued,
        priority: order.applicant.priority,
        created,
        updated: created,
        deadline: created + u64::try_from(order.limit.as_millis()).unwrap_or(u64::MAX / 2),
        instance: String::new(),
        audit: Vec::new(),
        questions: Vec::new(),
        task: None,
    }
}

fn abandoned(state: State) -> Outcome {
    Err(if state == State::Failed {
        let text = "the server ended before the execution began; it has not run";
        Fault::new(FaultKind::Unavailable, text).harmless_to_repeat()
    } else {
        let text = "the server ended while the tool ran; it may or may not have had its effect";
        Fault::new(FaultKind::ConnectionLost, text).harmful_to_repeat()
    })
}

/// A substitute for the result of an execution whose stored result is gone.
fn missing_end(record: &Record) -> End {
    let text = "the result is no longer kept";
    End::new(
        &Err(Fault::new(FaultKind::StoreUnavailable, text)),
        Duration::from_millis(record.updated - record.created.min(record.updated)),
    )
}

fn end_key(id: &str) -> String {
    format!("execution-end/{id}")
}

fn event_log(id: &str) -> String {
    format!("execution-events/{id}")
}

fn command_log(id: &str) -> String {
    format!("execution-commands/{id}")
}

fn encoded(value: &impl Serialize) -> Bytes {
    // Records are texts and numbers, which JSON always has.
    serde_json::to_vec(value).unwrap_or_default().into()
}

fn decoded<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes)
        .inspect_err(|error| tracing::warn!(%error, "a stored value cannot be read"))
        .ok()
}
