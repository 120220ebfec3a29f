//! Executions that are tasks of the handler.
//!
//! The task stays where it is, and its own client talks to it directly. Its record makes it visible
//! to the other ways in. The process that saw it begin asks the handler about it, but only when
//! somebody looks: a task that nobody follows here costs its server no request.

use super::{
    Command, Executions, Happened, NotBegun, decoded, drive, encoded,
    ended::Ended,
    lease::Held,
    queue::Priority,
    quota::Allowance,
    record::{OpenQuestion, Owner, Record, State, hexadecimal, now, record_key},
};
use crate::{
    phase::{Phase, reached},
    service::Service,
};
use ring::digest::{SHA256, digest};
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, timeout};
use tracing::warn;
use trunkline_protocol::{
    Call, CallRecord, Caller, Era, Fault, FaultKind, Object, Outcome, Raw,
    message::{TaskState, TaskStatus, meta::PROGRESS_TOKEN},
    method,
};
use trunkline_store::{Condition, StoreError};

/// Most tasks of one caller, and of all callers, that this process links.
const MAX_PER_OWNER: usize = 64;
const MAX_LINKED: usize = 4096;
/// Lifetime of a task that names none, and the longest one.
pub(super) const LONGEST: Duration = Duration::from_hours(24);
/// Timeout for polling a task's state.
const LOOK: Duration = Duration::from_secs(2);

/// Polls one task of the handler, and stores its state.
struct Link {
    executions: Arc<Executions>,
    service: Arc<Service>,
    /// The call that became the task, without its arguments. Requests about the task have its
    /// caller and `_meta`, so that they reach the same session of a server.
    call: Call,
    record: Record,
    task: String,
    allowance: Allowance,
    _held: Option<Arc<Held>>,
    _slot: LinkSlot,
}

/// The slot and the bytes of a task. They are taken before a call that must become a task, so that
/// it is refused before the tool has run.
pub(crate) struct TaskRoom {
    slot: LinkSlot,
    pub(super) allowance: Allowance,
}

/// A slot for one linked task; dropping it frees the slot.
struct LinkSlot {
    executions: Arc<Executions>,
    owner: String,
}

impl Executions {
    pub(crate) async fn room(self: &Arc<Self>, caller: &Caller) -> Result<TaskRoom, NotBegun> {
        let owner = Owner::of(caller);
        let slot = self.slot(&owner)?;
        let allowance = Allowance::new(&self.quota, owner.digits()).await?;
        Ok(TaskRoom { slot, allowance })
    }

    /// Records a task that a call became. A record without a link would say `running` until it
    /// expires, so this is done to its end even if the request is dropped meanwhile.
    pub(crate) async fn link(
        self: &Arc<Self>,
        service: &Arc<Service>,
        call: Call,
        task: &Raw,
        room: TaskRoom,
    ) -> Result<(), NotBegun> {
        let id: String = task.member_as("taskId").ok_or_else(|| {
            NotBegun::Refused(Fault::new(FaultKind::BadAnswer, "the server started a task without `taskId`"))
        })?;
        let lifetime = task.member_as::<u64>("ttlMs").map_or(LONGEST, Duration::from_millis).min(LONGEST);
        let linking = self.clone().linked(service.clone(), call, (id, lifetime), room);
        let linked = tokio::spawn(linking).await;
        linked.unwrap_or_else(|error| Err(StoreError::Unknown(error.to_string())))?;
        Ok(())
    }

    async fn linked(
        self: Arc<Self>,
        service: Arc<Service>,
        call: Call,
        (id, lifetime): (String, Duration),
        room: TaskRoom,
    ) -> Result<(), StoreError> {
        let owner = Owner::of(&call.caller);
        let held = self.lease.hold().await?;
        let mut record = Record::begun(&owner, &tool_of(&call), &service.path, lifetime);
        record.instance.clone_from(&self.lease.instance);
        record.task = Some(id.clone());
        let key = record_key(&record.id).unwrap_or_default();
        let kept = record.lifetime(self.retention);
        // The index first: without its record it leads nowhere.
        let index = encoded(&record.id);
        self.store.put(&index_key(&owner, &id), index, Condition::Always, Some(kept)).await?;
        if let Err(error) = self.store.put(&key, encoded(&record), Condition::Absent, Some(kept)).await {
            // It may have been stored, and nothing would ever end it.
            drop(self.store.remove(&key, Condition::Always).await);
            return Err(error);
        }
        let link = Link {
            executions: self,
            service,
            call: without_arguments(call),
            record,
            task: id,
            allowance: room.allowance,
            _held: held,
            _slot: room.slot,
        };
        tokio::spawn(link.run(Instant::now() + lifetime));
        Ok(())
    }

    /// The execution of a task of the handler.
    pub(crate) async fn of_task(&self, caller: &Caller, task: &str) -> Result<Option<Record>, StoreError> {
        let Some(value) = self.store.get(&index_key(&Owner::of(caller), task)).await? else {
            return Ok(None);
        };
        match decoded::<String>(&value.bytes) {
            Some(id) => self.read(&id).await,
            None => Ok(None),
        }
    }

    /// Has the link of a task look at it, if there is one.
    pub(crate) async fn look_at_task(&self, caller: &Caller, task: &str) -> Result<(), StoreError> {
        if let Some(record) = self.of_task(caller, task).await? {
            self.look(&record).await?;
        }
        Ok(())
    }

    /// The record after a look at the task behind it, if there is one that has not ended.
    pub(crate) async fn looked_at(&self, record: Record) -> Result<Record, StoreError> {
        let Some(number) = self.look(&record).await? else { return Ok(record) };
        // The answer to the look follows it in the log of commands.
        let log = super::command_log(&record.id);
        if let Ok(answered) = timeout(LOOK, self.store.appended(&log, number)).await {
            answered?;
        }
        Ok(self.read(&record.id).await?.unwrap_or(record))
    }

    /// Asks the process that has the link to look at the task. Returns the number of the command.
    pub(super) async fn look(&self, record: &Record) -> Result<Option<u64>, StoreError> {
        if record.task.is_none() || record.state.is_final() {
            return Ok(None);
        }
        let (log, kept) = (super::command_log(&record.id), self.commands_kept(record));
        self.store.append(&log, encoded(&Command::Look), kept).await.map(Some)
    }

    fn slot(self: &Arc<Self>, owner: &Owner) -> Result<LinkSlot, NotBegun> {
        let owner = owner.digits();
        let mut linked = self.linked.lock();
        let all: usize = linked.values().sum();
        let own = linked.entry(owner.clone()).or_default();
        if *own >= MAX_PER_OWNER || all >= MAX_LINKED {
            let text = "too many tasks are kept; wait until some expire";
            return Err(NotBegun::Refused(Fault::new(FaultKind::Overloaded, text)));
        }
        *own += 1;
        Ok(LinkSlot { executions: self.clone(), owner })
    }
}

impl Drop for LinkSlot {
    fn drop(&mut self) {
        let mut linked = self.executions.linked.lock();
        if let Some(own) = linked.get_mut(&self.owner) {
            *own -= 1;
            if *own == 0 {
                linked.remove(&self.owner);
            }
        }
    }
}

impl Link {
    /// Obeys commands until the task has ended or expires. A task outlives this process: then its
    /// record says `unknown`.
    async fn run(mut self, until: Instant) {
        let mut phase = self.service.phase();
        let mut commands = drive::commands(&self.executions, &self.record.id, 0);
        loop {
            tokio::select! {
                biased;
                _ = reached(&mut phase, Phase::Stopped) => return,
                (seen, given) = &mut commands => {
                    commands = drive::commands(&self.executions, &self.record.id, seen);
                    if given.iter().all(|command| matches!(command, Command::Looked)) {
                        continue;
                    }
                    for command in given {
                        self.obey(command).await;
                    }
                    let is_over = self.look().await;
                    self.tell_looked().await;
                    if is_over {
                        return;
                    }
                }
                () = tokio::time::sleep_until(until) => {
                    if !self.look().await {
                        let text = "the task's time to live is over";
                        self.finish(Err(Fault::new(FaultKind::Unavailable, text)), State::Unknown).await;
                    }
                    return;
                }
            }
        }
    }

    async fn obey(&self, command: Command) {
        let call = match command {
            Command::Cancel => self.request(method::TASKS_CANCEL, None),
            Command::Answer { question, answer, by } => {
                let mut answers = Object::new();
                answers.set(question, answer);
                let record = Some(Arc::new(CallRecord::with_answers_of(vec![by])));
                Call { record, ..self.request(method::TASKS_UPDATE, Some(answers)) }
            }
            Command::Look | Command::Looked => return,
        };
        let name = call.method.clone();
        if let Err(fault) = self.service.handler.call(call).outcome().await {
            warn!(%fault, method = %name, "a task of a server did not take a command");
        }
    }

    /// Polls the task and stores its state. Returns true if it has ended.
    async fn look(&mut self) -> bool {
        let asked = self.service.handler.call(self.request(method::TASKS_GET, None));
        let told = timeout(LOOK, asked.outcome()).await;
        let state = match told {
            Ok(Ok(task)) => TaskState::read(&task).ok(),
            // The server no longer knows it, or this caller may no longer use it.
            Ok(Err(fault)) if matches!(fault.kind(), FaultKind::InvalidRequest | FaultKind::NotAvailable) => {
                self.finish(Err(fault), State::Unknown).await;
                return true;
            }
            Ok(Err(_)) | Err(_) => None,
        };
        let Some(state) = state else { return false };
        match (state.status, state.outcome) {
            (TaskStatus::Cancelled, _) => {
                let fault = Fault::new(FaultKind::Cancelled, "the task was cancelled");
                self.finish(Err(fault), State::Cancelled).await;
            }
            (_, Some(outcome)) => {
                let outcome = outcome.map_err(|e| Fault::from_peer(e, Era::Modern, method::TOOLS_CALL));
                let state = State::after(&outcome);
                self.finish(outcome, state).await;
            }
            (TaskStatus::InputRequired, None) => {
                let elicits =
                    state.input_requests.0.into_iter().filter(|(_, it)| it.method == method::ELICIT);
                let open = elicits.map(|(id, it)| OpenQuestion { id, params: it.params }).collect();
                self.note(State::Waiting, open).await;
                return false;
            }
            _ => {
                self.note(State::Running, Vec::new()).await;
                return false;
            }
        }
        true
    }

    /// Writes a state down that is not the last one.
    async fn note(&mut self, state: State, open: Vec<OpenQuestion>) {
        let ids = |open: &[OpenQuestion]| open.iter().map(|it| it.id.clone()).collect::<Vec<_>>();
        if state == self.record.state && ids(&open) == ids(&self.record.questions) {
            return;
        }
        let bytes = open.iter().filter_map(|it| it.params.as_ref()).map(|it| it.as_bytes().len()).sum();
        let open = if self.allowance.covers(bytes).await { open } else { Vec::new() };
        let change = |record: &mut Record| {
            record.state = state;
            record.questions.clone_from(&open);
        };
        if let Err(error) = self.executions.update(&self.record.id, change).await {
            warn!(%error, "the state of a task cannot be stored");
            return;
        }
        // Only now, so that the next look writes a state that was not stored.
        (self.record.state, self.record.questions) = (state, open);
        let told = Happened::State(json!({"state": state.name()}).into());
        if let Err(error) = self.executions.append(&self.record.id, &told).await {
            warn!(%error, "the followers of a task cannot be told its state");
        }
    }

    async fn finish(&mut self, outcome: Outcome, state: State) {
        let took = Duration::from_millis(now().saturating_sub(self.record.created));
        let ended = Ended::new((&outcome, state), took, &mut self.allowance).await;
        self.executions.conclude(&self.record.id, &ended, &[]).await;
    }

    async fn tell_looked(&self) {
        let (log, kept) = (super::command_log(&self.record.id), self.executions.commands_kept(&self.record));
        if let Err(error) = self.executions.store.append(&log, encoded(&Command::Looked), kept).await {
            warn!(%error, "a look at a task cannot be answered");
        }
    }

    fn request(&self, name: &'static str, answers: Option<Object>) -> Call {
        let mut params = Object::new();
        params.set("taskId", Raw::string(&self.task));
        if let Some(answers) = answers {
            params.set("inputResponses", answers.to_raw());
        }
        if let Some(meta) = &self.call.params {
            params.set("_meta", meta.clone());
        }
        Call { method: name.into(), params: Some(params.to_raw()), ..self.call.clone() }
    }
}

impl Record {
    /// An execution that runs already, and has this time.
    pub(super) fn begun(owner: &Owner, tool: &str, view: &str, limit: Duration) -> Self {
        let created = now();
        Self {
            id: Self::new_id(owner),
            tool: tool.to_owned(),
            view: view.to_owned(),
            owner: owner.clone(),
            state: State::Running,
            priority: Priority::default(),
            created,
            updated: created,
            deadline: created + u64::try_from(limit.as_millis()).unwrap_or(u64::MAX / 2),
            instance: String::new(),
            audit: Vec::new(),
            questions: Vec::new(),
            task: None,
        }
    }
}

/// The call with only its `_meta` as parameters: arguments may be large, and a task lasts long.
fn without_arguments(call: Call) -> Call {
    let mut meta = call.params.as_ref().and_then(|params| params.member("_meta")?.object());
    if let Some(meta) = &mut meta {
        meta.remove(PROGRESS_TOKEN);
    }
    // A copy, because a slice would keep the whole message.
    let params = meta.and_then(|meta| Raw::encode(&meta.to_raw()).ok());
    Call { params, deadline: None, record: None, ..call }
}

/// The tool that a call names.
pub(crate) fn tool_of(call: &Call) -> String {
    call.params.as_ref().and_then(|params| params.member_as("name")).unwrap_or_default()
}

/// The key under which the execution of a task is found.
fn index_key(owner: &Owner, task: &str) -> String {
    let name = hexadecimal(digest(&SHA256, task.as_bytes()).as_ref());
    format!("execution-task/{}/{name}", owner.digits())
}
