//! Tasks of a 2025-11-25 server for callers that use the tasks extension.
//!
//! Such a server sends a task's questions as requests while `tasks/result` is pending. So we keep
//! `tasks/result` open in the background, return the questions from `tasks/get` and take the
//! answers from `tasks/update`.

use crate::{
    connection::Inner,
    conversation::{self, Rounds},
    era::{Ask, add_outcome, flat, lift_error, stripped},
    handshake,
    switchboard::Standing,
};
use parking_lot::{Mutex, MutexGuard};
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::{sync::Notify, task::AbortHandle};
use trunkline_protocol::{
    Call, Era, ErrorObject, Fault, FaultKind, Object, Outcome, Part, Question, Raw,
    message::{
        InputRequest, InputRequests, TaskIdParams, TaskStatus, UpdateTaskParams, declares_tasks, meta,
        tasks_needed,
    },
    method,
};
use trunkline_resilience::timeout;

/// Limit of tasks with an open `tasks/result`.
const MAX_WAITING: usize = 256;
/// Wait for the first question after the status `input_required`.
const FIRST_QUESTION: Duration = Duration::from_secs(2);

/// The tasks with an open `tasks/result`, by task id.
#[derive(Default)]
pub(crate) struct PendingTasks(Mutex<HashMap<String, Arc<PendingTask>>>);

struct PendingTask {
    state: Mutex<State>,
    changed: Notify,
    work: Mutex<Option<AbortHandle>>,
}

#[derive(Default)]
struct State {
    questions: Vec<(String, Question)>,
    asked: usize,
    outcome: Option<Result<Raw, ErrorObject>>,
}

/// True if this method is a request about one task.
pub(crate) fn is_about_task(name: &str) -> bool {
    matches!(name, method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL)
}

/// Answers a request about a task as a server with the extension would.
pub(crate) async fn answer(connection: Arc<Inner>, call: Call) -> Outcome {
    if !follows_tasks(call.params.as_ref()) {
        return Err(tasks_needed());
    }
    connection.ready().await?;
    let params = call.params.clone().unwrap_or_else(Raw::empty_object);
    let id = params.decode::<TaskIdParams>().map_err(|error| unreadable(&error))?.task_id;
    match call.method.as_ref() {
        method::TASKS_UPDATE => {
            let answers: UpdateTaskParams = params.decode().map_err(|error| unreadable(&error))?;
            connection.pending_tasks.answer(&id, &answers.input_responses.0);
            Ok(done())
        }
        method::TASKS_CANCEL => {
            connection.pending_tasks.end(&id);
            match connection.about_task(method::TASKS_CANCEL, own_params(&call, &id)).await? {
                Ok(_) => Ok(done()),
                // It may have ended already, which is fine; `tasks/get` fails if it does not
                // exist.
                Err(_) => connection.task(&call, &id).await.map(|_| done()),
            }
        }
        _ => connection.task_with_outcome(&call, &id).await,
    }
}

impl Inner {
    /// The whole task in the form of a notification to listeners.
    pub(crate) async fn whole_task(self: &Arc<Self>, id: &str) -> Outcome {
        let call = Call::new(method::TASKS_GET, Some(one("taskId", id).to_raw()));
        let whole = self.task_with_outcome(&call, id).await?;
        let Some(mut task) = whole.object() else { return Ok(whole) };
        // A notification has no `resultType`.
        task.remove("resultType");
        Ok(task.to_raw())
    }

    async fn task_with_outcome(self: &Arc<Self>, call: &Call, id: &str) -> Outcome {
        let mut task = self.task(call, id).await?;
        let status = task.get("status").and_then(|raw| raw.decode::<TaskStatus>().ok());
        match status {
            Some(TaskStatus::Completed | TaskStatus::Failed) => {
                let outcome = match self.pending_tasks.take_outcome(id) {
                    Some(outcome) => outcome,
                    None => self.about_task(method::TASKS_RESULT, one("taskId", id)).await?,
                };
                self.pending_tasks.end(id);
                add_outcome(&mut task, outcome);
            }
            Some(TaskStatus::InputRequired) => {
                let requests = self.questions_of(id).await?;
                if requests.0.is_empty() {
                    task.set("status", Raw::string("working"));
                } else {
                    let requests = Raw::encode(&requests).map_err(|error| unreadable(&error))?;
                    task.set("inputRequests", requests);
                }
            }
            Some(TaskStatus::Cancelled) => self.pending_tasks.end(id),
            Some(TaskStatus::Working | TaskStatus::Unknown(_)) | None => {}
        }
        Ok(task.to_raw())
    }

    async fn task(&self, call: &Call, id: &str) -> Result<Object, Fault> {
        match self.about_task(method::TASKS_GET, own_params(call, id)).await? {
            Ok(task) => Ok(flat(&task)),
            Err(error) => {
                let error = lift_error(error, Era::Legacy, call.revision.era(), &call.method);
                Err(Fault::from_peer(error, Era::Legacy, &call.method))
            }
        }
    }

    async fn about_task(
        &self,
        name: &'static str,
        params: Object,
    ) -> Result<Result<Raw, ErrorObject>, Fault> {
        let limit = self.options.timeouts.call();
        let mut exchange = self.exchange(&Ask::new(name, params));
        match timeout(limit, handshake::answer(&mut exchange)).await {
            Some(answer) => answer.map_err(|loss| loss.fault),
            None => Err(Fault::new(FaultKind::Timeout, format!("`{name}` was not answered"))),
        }
    }

    /// The open questions of the task. Waits a moment for the first one, because the status says
    /// that there is one.
    async fn questions_of(self: &Arc<Self>, id: &str) -> Result<InputRequests, Fault> {
        let wait = self.wait_for(id)?;
        let asked = async {
            loop {
                let changed = wait.changed.notified();
                if !wait.state().questions.is_empty() || wait.state().outcome.is_some() {
                    return;
                }
                changed.await;
            }
        };
        timeout(FIRST_QUESTION, asked).await;
        let state = wait.state();
        let requests = state.questions.iter().map(|(key, question)| {
            let mut request = InputRequest::new(question.method.as_ref());
            request.params.clone_from(&question.params);
            (key.clone(), request)
        });
        Ok(InputRequests(requests.collect()))
    }

    fn wait_for(self: &Arc<Self>, id: &str) -> Result<Arc<PendingTask>, Fault> {
        let mut all = self.pending_tasks.all();
        if let Some(wait) = all.get(id) {
            return Ok(wait.clone());
        }
        if all.len() >= MAX_WAITING {
            return Err(Fault::new(FaultKind::Overloaded, "too many tasks wait for answers"));
        }
        let wait =
            Arc::new(PendingTask { state: Mutex::default(), changed: Notify::new(), work: Mutex::default() });
        all.insert(id.to_owned(), wait.clone());
        let mut ask = Ask::new(method::TASKS_RESULT, one("taskId", id));
        ask.standing = Standing::Askable(id.into());
        let work = tokio::spawn(follow(self.clone(), wait.clone(), ask));
        *wait.work.lock() = Some(work.abort_handle());
        Ok(wait)
    }
}

/// Collects the task's questions until its result arrives.
async fn follow(connection: Arc<Inner>, wait: Arc<PendingTask>, ask: Ask) {
    let mut reply = conversation::begin(connection, ask, Rounds::PassedOn, None, None);
    while let Some(part) = reply.next().await {
        match part {
            Part::Question(question) => {
                let mut state = wait.state();
                state.asked += 1;
                let key = format!("question-{}", state.asked);
                state.questions.push((key, question));
            }
            Part::Final(outcome) => {
                wait.state().outcome = Some(outcome.map_err(|fault| fault.to_error(Era::Legacy)));
            }
            Part::Notification(_) | Part::Detach => continue,
        }
        wait.changed.notify_waiters();
    }
}

impl PendingTasks {
    fn answer(&self, id: &str, answers: &Object) {
        let Some(wait) = self.all().get(id).cloned() else { return };
        let open = std::mem::take(&mut wait.state().questions);
        for (key, question) in open {
            match answers.get(&key) {
                Some(answer) => question.answer(Ok(answer.clone())),
                None => wait.state().questions.push((key, question)),
            }
        }
    }

    fn take_outcome(&self, id: &str) -> Option<Result<Raw, ErrorObject>> {
        self.all().get(id)?.state().outcome.take()
    }

    fn end(&self, id: &str) {
        let wait = self.all().remove(id);
        if let Some(work) = wait.and_then(|wait| wait.work.lock().take()) {
            work.abort();
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<PendingTask>>> {
        self.0.lock()
    }
}

impl PendingTask {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// The parameters of the caller's request, without the members of the modern protocol.
fn own_params(call: &Call, id: &str) -> Object {
    let mut params = call.params.as_ref().and_then(Raw::object).unwrap_or_default();
    params.set("taskId", Raw::string(id));
    let meta = params.get("_meta").and_then(Raw::object).and_then(stripped);
    match meta {
        Some(meta) => params.set("_meta", meta),
        None => _ = params.remove("_meta"),
    }
    params
}

fn one(name: &'static str, value: &str) -> Object {
    let mut params = Object::new();
    params.set(name, Raw::string(value));
    params
}

/// True if the caller declared the tasks extension in this call.
pub(crate) fn follows_tasks(params: Option<&Raw>) -> bool {
    meta::get(params, meta::CLIENT_CAPABILITIES).as_ref().is_some_and(declares_tasks)
}

fn done() -> Raw {
    serde_json::json!({"resultType": "complete"}).into()
}

fn unreadable(error: &serde_json::Error) -> Fault {
    Fault::new(FaultKind::InvalidRequest, format!("the parameters cannot be read: {error}"))
}
