//! MCP tasks: those of revision 2025-11-25 and those of the tasks extension. Each is backed by an
//! execution, so it is visible over MCP and REST alike.
//!
//! A call that the handler turns into a task becomes an execution that is linked with that task.
//! The task keeps the handler's id, and requests about it are forwarded to the handler. Any other
//! execution, including one started over REST, is a task under its own id.
//!
//! Clients of 2025-11-25 ask for tasks themselves. A result that the handler returned immediately
//! becomes an execution that has ended. For any caller but its owner, a task does not exist.

mod own;
mod result;

use crate::{
    era::{Head, lift, nested},
    execution::{NotBegun, TaskRoom, record::Record},
    service::Service,
    session::Session,
};
use futures_util::{StreamExt, stream};
use std::{sync::Arc, time::Instant};
use trunkline_protocol::{
    Call, Fault, FaultKind, Object, Outcome, Part, Raw, Reply, Request,
    message::{
        ResultType, TASKS_EXTENSION, TaskIdParams, TaskStatus, declares_tasks,
        meta::{self, CLIENT_CAPABILITIES},
    },
    method,
};

use own::{refused, unavailable};

/// Most tasks that `tasks/list` returns, and most of them whose state it asks the handler for.
const MAX_LISTED: usize = 1000;
const MAX_REFRESHED: usize = 64;

impl Service {
    /// Makes a call of a client. Calls that become tasks, and requests about tasks, concern
    /// executions, too.
    pub(crate) fn call(self: &Arc<Self>, call: Call) -> Reply {
        match call.method.as_ref() {
            method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL => own::ask(self, call),
            method::TOOLS_CALL if may_become_task(&call) => {
                let (service, made) = (self.clone(), call.clone());
                self.after_final(call, async move |result| {
                    if ResultType::of(&result) == ResultType::Task
                        && let Err(error) = service.link(made, &result).await
                    {
                        tracing::warn!(%error, "a task is not listed among the executions");
                    }
                    Ok(result)
                })
            }
            _ => self.handler.call(call),
        }
    }

    async fn link(self: &Arc<Self>, call: Call, task: &Raw) -> Result<(), NotBegun> {
        let room = self.executions.room(&call.caller).await?;
        self.executions.link(self, call, task, room).await
    }

    /// Makes a call, and passes its result on as `then` returns it.
    fn after_final<F>(&self, call: Call, then: impl FnOnce(Raw) -> F + Send + 'static) -> Reply
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let mut then = Some(then);
        Reply::new(self.handler.call(call).then(move |part| {
            let (then, result) = match part {
                Part::Final(Ok(result)) => (then.take(), Ok(result)),
                other => (None, Err(other)),
            };
            async move {
                match (then, result) {
                    (Some(then), Ok(result)) => Part::Final(then(result).await),
                    (None, Ok(result)) => Part::Final(Ok(result)),
                    (_, Err(other)) => other,
                }
            }
        }))
    }
}

/// True if the client declares the tasks extension. A byte search rules out most requests without
/// decoding them.
fn may_become_task(call: &Call) -> bool {
    let params = call.params.as_ref().filter(|params| params.may_name(TASKS_EXTENSION));
    meta::get(params, CLIENT_CAPABILITIES).as_ref().is_some_and(declares_tasks)
}

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
            let known = tasks.known(params.as_ref()).await?;
            Ok(answer(&tasks.look(&known, params.as_ref()).await?))
        }),
    }
}

/// A task that was found for its owner.
struct Known {
    id: String,
    record: Record,
}

/// Handles the task requests of one session.
#[derive(Clone)]
struct SessionTasks {
    service: Arc<Service>,
    session: Arc<Session>,
}

impl SessionTasks {
    /// Calls a tool, and turns any successful result into a task.
    fn start(self, call: Call) -> Reply {
        Reply::new(
            stream::once(async move {
                let room = match self.service.executions.room(&call.caller).await {
                    Ok(room) => room,
                    Err(error) => return Reply::ready(Err(refused(error))),
                };
                let (made, started) = (call.clone(), Instant::now());
                let service = self.service.clone();
                service
                    .after_final(call, async move |result| self.started(made, result, (started, room)).await)
            })
            .flatten(),
        )
    }

    async fn started(&self, call: Call, result: Raw, (started, room): (Instant, TaskRoom)) -> Outcome {
        let executions = &self.service.executions;
        let is_task = ResultType::of(&result) == ResultType::Task;
        let task = if is_task {
            if let Err(error) = executions.link(&self.service, call, &result, room).await {
                // Its client gets no id, so nobody could end it.
                if let Some(id) = result.member_as::<String>("taskId") {
                    drop(self.ask(method::TASKS_CANCEL, &id, None).await);
                }
                return Err(has_run(&refused(error)));
            }
            nested(&result)
        } else {
            let ended = (&Ok(result.clone()), started.elapsed());
            let record = executions.keep(&call, &self.service.path, ended, room).await;
            let record = record.map_err(|error| has_run(&unavailable(&error)))?;
            let task = own::task(&self.service, &record).await;
            nested(&task.map_err(|error| has_run(&unavailable(&error)))?)
        };
        let mut created = Object::new();
        created.set("task", task);
        if let Some(meta) = result.member("_meta").filter(|_| is_task) {
            created.set("_meta", meta);
        }
        Ok(created.to_raw())
    }

    async fn known(&self, params: Option<&Raw>) -> Result<Known, Fault> {
        let id = params.and_then(|raw| raw.decode::<TaskIdParams>().ok()).map(|params| params.task_id);
        let id = id.ok_or_else(|| Fault::new(FaultKind::InvalidRequest, "`taskId` is missing"))?;
        let (service, caller) = (&self.service, &self.session.caller);
        let found = match own::find(service, caller, &id).await {
            Ok(None) => service.executions.of_task(caller, &id).await,
            found => found,
        };
        match found.map_err(|error| unavailable(&error))? {
            Some(record) => Ok(Known { id, record }),
            None => Err(self.unknown()),
        }
    }

    /// If the handler declared no tasks, the task methods do not exist.
    fn unknown(&self) -> Fault {
        if self.service.runs_tasks() {
            Fault::new(FaultKind::InvalidRequest, "there is no such task")
        } else {
            Fault::new(FaultKind::NotAvailable, "this server runs no tasks")
        }
    }

    /// The current state of a task, in the form of the extension; `own` are the parameters of the
    /// client's request.
    async fn look(&self, known: &Known, own: Option<&Raw>) -> Outcome {
        if known.id == known.record.id {
            return own::current(&self.service, known.record.clone()).await;
        }
        self.ask(method::TASKS_GET, &known.id, own).await
    }

    async fn list(&self) -> Outcome {
        let viewer = own::viewer(&self.service, &self.session.caller);
        let records = self.service.executions.list(&viewer, None, MAX_LISTED, |_| true).await;
        let mut tasks = Vec::new();
        for (number, record) in records.map_err(|error| unavailable(&error))?.into_iter().enumerate() {
            // A task of the handler has the handler's id, and is as the handler tells it, also
            // after its end.
            let is_settled = record.task.is_none() && record.state.is_final();
            let id = record.task.clone().unwrap_or_else(|| record.id.clone());
            let known = Known { id, record };
            let asked =
                if is_settled || number >= MAX_REFRESHED { None } else { self.look(&known, None).await.ok() };
            let task = match asked {
                Some(task) => task,
                None => self.last_known(&known).await?,
            };
            tasks.push(nested(&task));
        }
        let mut result = Object::new();
        result.set("tasks", Raw::encode(&tasks).unwrap_or_else(|_| serde_json::json!([]).into()));
        Ok(result.to_raw())
    }

    /// A task as its record has it.
    async fn last_known(&self, known: &Known) -> Outcome {
        let task = own::task(&self.service, &known.record).await.map_err(|error| unavailable(&error))?;
        Ok(task.with("taskId", &Raw::string(&known.id)).unwrap_or(task))
    }

    async fn cancel(&self, params: Option<Raw>) -> Outcome {
        let known = self.known(params.as_ref()).await?;
        if is_final(&nested(&self.look(&known, None).await?)) {
            return Err(Fault::new(FaultKind::InvalidRequest, "the task has ended already"));
        }
        self.ask(method::TASKS_CANCEL, &known.id, params.as_ref()).await?;
        let mut task = answer(&self.look(&known, params.as_ref()).await?).object().unwrap_or_default();
        // The extension only requests cancellation; 2025-11-25 expects the status at once.
        task.set("status", Raw::string("cancelled"));
        Ok(task.to_raw())
    }

    /// Sends a task request with the parameters in `own`; `taskId` and the session's `_meta` are
    /// set here.
    async fn ask(&self, name: &'static str, id: &str, own: Option<&Raw>) -> Outcome {
        let mut params = own.and_then(Raw::object).unwrap_or_default();
        params.set("taskId", Raw::string(id));
        let meta = crate::era::task_meta(&self.session, params.get("_meta"));
        params.set("_meta", meta.to_raw());
        let mut call = Call::new(name, Some(params.to_raw()));
        call.caller = self.session.caller.clone();
        call.revision = self.session.revision;
        own::ask(&self.service, call).outcome().await
    }
}

/// The result of `tasks/get`: the task, with the server's `_meta`.
fn answer(task: &Raw) -> Raw {
    let nested = nested(task);
    task.member("_meta").and_then(|meta| nested.with("_meta", &meta)).unwrap_or(nested)
}

/// The fault of a call whose tool has run, but whose task cannot be kept.
fn has_run(fault: &Fault) -> Fault {
    let action = "Look for the effect of the tool before you call it again";
    Fault::new(fault.kind(), "the tool has run, but its task and its result are not kept")
        .with_data(serde_json::json!({"suggestedAction": action}).into())
        .with_detail(fault.message())
        .harmful_to_repeat()
}

fn is_final(task: &Raw) -> bool {
    task.member_as::<TaskStatus>("status").is_some_and(|status| status.is_final())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_has_run_is_not_called_again_because_of_the_store() {
        let fault = unavailable(&trunkline_store::StoreError::Unavailable("gone".to_owned()));
        assert!(fault.retryable());
        let error = has_run(&fault).to_error(trunkline_protocol::Era::Legacy);
        let data = error.data.unwrap();
        assert_eq!(data.member_as::<bool>("retryable"), Some(false));
        let action: String = data.member_as("suggestedAction").unwrap();
        assert!(error.message.contains("has run") && !action.contains("try again"), "{action}");
    }
}
