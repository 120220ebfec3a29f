//! Tasks for clients of 2025-11-25. Each maps to a task of the handler (tasks extension), or to a
//! result that the handler returned immediately.
//!
//! Every task is stored with its owner; for any other caller it does not exist.

mod result;
mod task_store;

use crate::{
    era::{Head, lift, nested},
    service::Service,
    session::Session,
};
use std::sync::Arc;
use trunkline_protocol::{
    Call, Fault, FaultKind, Object, Outcome, Part, Raw, Reply, Request,
    message::{ResultType, TaskIdParams, TaskStatus},
    method,
};

pub(crate) use task_store::TaskStore;
use task_store::{Known, ResultLocation};

/// Most tasks whose state `tasks/list` refreshes from the handler.
const MAX_REFRESHED: usize = 64;

/// True for a task request of revision 2025-11-25.
pub(crate) fn concerns(session: &Session, request: &Request, head: &Head) -> bool {
    session.revision.has_core_tasks()
        && match request.method.as_ref() {
            method::TOOLS_CALL => head.task.is_some(),
            method::TASKS_GET | method::TASKS_RESULT | method::TASKS_LIST | method::TASKS_CANCEL => true,
            _ => false,
        }
}

/// Starts to answer a request for which [`concerns`] is true.
pub(crate) fn begin(service: &Arc<Service>, session: &Arc<Session>, request: &Request, head: &Head) -> Reply {
    let tasks = SessionTasks { service: service.clone(), session: session.clone() };
    let params = request.params.clone();
    match request.method.as_ref() {
        method::TOOLS_CALL => tasks.start(lift(request, head, session)),
        method::TASKS_RESULT => result::wait(tasks, params),
        // Clients without an identity of their own would see each other's tasks.
        method::TASKS_LIST if !session.is_identified() => Reply::ready(Err(Fault::new(
            FaultKind::NotAvailable,
            "`tasks/list` needs an authenticated client",
        ))),
        method::TASKS_LIST => Reply::from_future(async move { tasks.list().await }),
        method::TASKS_CANCEL => Reply::from_future(async move { tasks.cancel(params).await }),
        _ => Reply::from_future(async move {
            let known = tasks.known(params.as_ref())?;
            Ok(tasks.look(&known).await?.task)
        }),
    }
}

/// Handles the task requests of one session.
#[derive(Clone)]
struct SessionTasks {
    service: Arc<Service>,
    session: Arc<Session>,
}

/// The current state of a task.
struct TaskSnapshot {
    /// In the form of 2025-11-25.
    task: Raw,
    /// As the handler returned it; `None` if the result is in our own store.
    original: Option<Raw>,
}

impl SessionTasks {
    /// Calls a tool, and turns any successful result into a task.
    fn start(self, call: Call) -> Reply {
        use futures_util::StreamExt;
        let reply = self.service.handler.call(call);
        Reply::new(reply.map(move |part| match part {
            Part::Final(Ok(result)) => Part::Final(self.started(&result)),
            other => other,
        }))
    }

    fn started(&self, result: &Raw) -> Outcome {
        let owner = &self.session.caller.id;
        let task = if ResultType::of(result) == ResultType::Task {
            let task = nested(result);
            self.service.tasks.note(owner, &task)?;
            task
        } else {
            self.service.tasks.keep(owner, super::era::finished_call(result, self.session.revision))?
        };
        let mut created = Object::new();
        created.set("task", task);
        if let Some(meta) = result.member("_meta").filter(|_| ResultType::of(result) == ResultType::Task) {
            created.set("_meta", meta);
        }
        Ok(created.to_raw())
    }

    fn known(&self, params: Option<&Raw>) -> Result<Known, Fault> {
        let id = params.and_then(|raw| raw.decode::<TaskIdParams>().ok()).map(|params| params.task_id);
        let id = id.ok_or_else(|| Fault::new(FaultKind::InvalidRequest, "`taskId` is missing"))?;
        self.service.tasks.find(&id, &self.session.caller.id).ok_or_else(|| self.unknown())
    }

    /// If the handler declared no tasks, the task methods do not exist.
    fn unknown(&self) -> Fault {
        if self.service.runs_tasks() {
            Fault::new(FaultKind::InvalidRequest, "there is no such task")
        } else {
            Fault::new(FaultKind::NotAvailable, "this server runs no tasks")
        }
    }

    async fn look(&self, known: &Known) -> Result<TaskSnapshot, Fault> {
        if let ResultLocation::Here { .. } = known.location {
            return Ok(TaskSnapshot { task: known.task.clone(), original: None });
        }
        let original = self.ask(method::TASKS_GET, &known.id, None).await?;
        let task = nested(&original);
        self.service.tasks.update(&known.id, &task);
        Ok(TaskSnapshot { task, original: Some(original) })
    }

    async fn list(&self) -> Outcome {
        let mut tasks = Vec::new();
        for (number, known) in self.service.tasks.of(&self.session.caller.id).into_iter().enumerate() {
            let task = if is_final(&known.task) || number >= MAX_REFRESHED {
                known.task
            } else {
                // If the handler no longer knows the task, return its last known state.
                self.look(&known).await.map_or(known.task, |snapshot| snapshot.task)
            };
            tasks.push(task);
        }
        let mut result = Object::new();
        result.set("tasks", Raw::encode(&tasks).unwrap_or_else(|_| serde_json::json!([]).into()));
        Ok(result.to_raw())
    }

    async fn cancel(&self, params: Option<Raw>) -> Outcome {
        let known = self.known(params.as_ref())?;
        if is_final(&self.look(&known).await?.task) {
            return Err(Fault::new(FaultKind::InvalidRequest, "the task has ended already"));
        }
        self.ask(method::TASKS_CANCEL, &known.id, None).await?;
        let mut task = self.look(&known).await?.task.object().unwrap_or_default();
        // The extension only requests cancellation; 2025-11-25 expects the status at once.
        task.set("status", Raw::string("cancelled"));
        let task = task.to_raw();
        self.service.tasks.update(&known.id, &task);
        Ok(task)
    }

    async fn ask(&self, name: &'static str, id: &str, answers: Option<Object>) -> Outcome {
        let mut params = Object::new();
        params.set("taskId", Raw::string(id));
        if let Some(answers) = answers {
            params.set("inputResponses", answers.to_raw());
        }
        params.set("_meta", crate::era::task_meta(&self.session).to_raw());
        let mut call = Call::new(name, Some(params.to_raw()));
        call.caller = self.session.caller.clone();
        call.revision = self.session.revision;
        self.service.handler.call(call).outcome().await
    }
}

fn is_final(task: &Raw) -> bool {
    task.member_as::<TaskStatus>("status").is_some_and(|status| status.is_final())
}
