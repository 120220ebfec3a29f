//! Tasks: calls that continue in the background (extension `io.modelcontextprotocol/tasks`).
//!
//! A task belongs to the caller whose call became it; for other callers it does not exist. It is
//! removed when its time to live, counted from its creation, is over, finished or not. The number
//! of tasks is bounded.

mod task;

use super::{Inner, conversation::Conversation, listeners::Change, read_params, results::unguessable};
use crate::context::Request;
use parking_lot::{Mutex, MutexGuard};
use std::{collections::HashMap, sync::Arc, time::Duration};
use task::Task;
use tokio::time::{Instant, timeout_at};
use trunkline_protocol::{
    Caller, Fault, FaultKind, Outcome, Part, Raw, Reply,
    message::{TASKS_EXTENSION, TaskIdParams, UpdateTaskParams, tasks_needed},
};

/// Maximum number of tasks of one caller; below: of all callers.
const MAX_PER_CALLER: usize = 64;
const MAX_TASKS: usize = 1024;

#[derive(Debug)]
pub(super) struct Tasks {
    all: Mutex<HashMap<String, Arc<Task>>>,
    ttl: Duration,
}

impl Tasks {
    pub(super) fn new(ttl: Duration) -> Self {
        Self { all: Mutex::default(), ttl }
    }

    pub(super) fn is_of(&self, id: &str, caller: &Caller) -> bool {
        self.find(id, caller).is_ok()
    }

    fn create(&self, caller: &Caller) -> Result<Arc<Task>, Fault> {
        let mut all = self.fresh();
        let own = all.values().filter(|task| task.owner == caller.id).count();
        if own >= MAX_PER_CALLER || all.len() >= MAX_TASKS {
            return Err(Fault::new(FaultKind::Overloaded, "too many tasks are kept; wait until some expire"));
        }
        let task = Task::new(unguessable(), caller.id.clone(), self.ttl);
        all.insert(task.id.clone(), Arc::clone(&task));
        Ok(task)
    }

    /// The same answer for a missing task and for another caller's task, so that callers cannot
    /// probe for ids.
    fn find(&self, id: &str, caller: &Caller) -> Result<Arc<Task>, Fault> {
        let all = self.fresh();
        let task = all.get(id).filter(|task| task.owner == caller.id).cloned();
        task.ok_or_else(|| Fault::new(FaultKind::InvalidRequest, "there is no such task"))
    }

    fn fresh(&self) -> MutexGuard<'_, HashMap<String, Arc<Task>>> {
        let now = Instant::now();
        let mut all = self.all.lock();
        all.retain(|_, task| task.expires > now);
        all
    }
}

impl Inner {
    /// Continues a conversation as a new task, and returns the task as the answer to the call.
    pub(super) fn adopt(self: &Arc<Self>, conversation: Conversation, caller: &Caller) -> Outcome {
        let task = self.tasks.create(caller)?;
        let created = task.plain().to_raw();
        let work = tokio::spawn(follow(Arc::clone(self), Arc::clone(&task), Reply::new(conversation)));
        task.runs_as(work.abort_handle());
        Ok(created)
    }

    pub(super) fn get_task(&self, request: &Request, params: Option<&Raw>) -> Outcome {
        let task = self.task_of(request, params)?;
        Ok(task.detailed().to_raw())
    }

    pub(super) fn update_task(&self, request: &Request, params: Option<&Raw>) -> Outcome {
        let task = self.task_of(request, params)?;
        let params: UpdateTaskParams = read_params(params)?;
        if params.input_responses.0.iter().any(|(_, answer)| !answer.is_object()) {
            return Err(Fault::new(FaultKind::InvalidRequest, "an answer is not an object"));
        }
        task.answer(&params.input_responses);
        self.tell_of(&task);
        Ok(acknowledged())
    }

    pub(super) fn cancel_task(&self, request: &Request, params: Option<&Raw>) -> Outcome {
        let task = self.task_of(request, params)?;
        if !task.is_final() {
            task.cancel();
            self.tell_of(&task);
        }
        Ok(acknowledged())
    }

    fn task_of(&self, request: &Request, params: Option<&Raw>) -> Result<Arc<Task>, Fault> {
        if !request.declares_extension(TASKS_EXTENSION) {
            return Err(tasks_needed());
        }
        let params: TaskIdParams = read_params(params)?;
        self.tasks.find(&params.task_id, &request.caller)
    }

    fn tell_of(&self, task: &Task) {
        let mut state = task.detailed();
        state.result_type = None;
        let (id, owner) = (task.id.clone(), task.owner.clone());
        self.listeners.tell(&Change::Task { id, owner, state: state.to_raw() });
    }
}

/// Updates the task from its conversation, until that ends or the task expires.
async fn follow(inner: Arc<Inner>, task: Arc<Task>, mut reply: Reply) {
    let work = async {
        while let Some(part) = reply.next().await {
            match part {
                Part::Notification(notification) => {
                    task.note(&notification);
                    continue;
                }
                Part::Question(question) => task.ask(question),
                Part::Detach => continue,
                Part::Final(outcome) => task.finish(outcome.map(|result| Task::complete(&result))),
            }
            inner.tell_of(&task);
        }
    };
    if timeout_at(task.expires, work).await.is_err() {
        task.cancel();
    }
}

fn acknowledged() -> Raw {
    serde_json::json!({"resultType": "complete"}).into()
}
