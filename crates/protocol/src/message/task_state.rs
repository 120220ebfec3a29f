//! The state of a task, read from either of its two wire forms.

use super::{ExtensionTask, InputRequests, Task, TaskStatus, Ttl, cache::whole_millis};
use crate::{ErrorObject, Raw};
use std::time::Duration;

/// The state of a task, as given by one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskState {
    pub id: String,
    pub status: TaskStatus,
    pub message: Option<String>,
    pub created_at: Option<String>,
    pub last_updated_at: Option<String>,
    /// `None` if unlimited or not given.
    pub ttl: Option<Duration>,
    pub poll_interval: Option<Duration>,
    /// Extension only: the questions to answer with `tasks/update`.
    pub input_requests: InputRequests,
    /// Extension only, in a final state; in 2025-11-25 it has to be fetched with `tasks/result`.
    pub outcome: Option<Result<Raw, ErrorObject>>,
}

/// The message has neither form of a task.
#[derive(Debug, thiserror::Error)]
#[error("the message does not have the members of a task")]
pub struct UnreadableTask(#[from] serde_json::Error);

impl TaskState {
    /// Reads a create result, a result of `tasks/get` or `tasks/cancel`, or the parameters of a
    /// task notification.
    pub fn read(message: &Raw) -> Result<Self, UnreadableTask> {
        let members = message.object().unwrap_or_default();
        if let Some(task) = members.get("task").filter(|_| members.get("taskId").is_none()) {
            return Ok(task.decode::<Task>()?.into());
        }
        let nested_form = members.get("ttl").or(members.get("pollInterval")).is_some();
        let extension = members.get("ttlMs").or(members.get("resultType")).is_some();
        if nested_form && !extension {
            return Ok(message.decode::<Task>()?.into());
        }
        Ok(message.decode::<ExtensionTask>()?.into())
    }
}

impl From<Task> for TaskState {
    fn from(task: Task) -> Self {
        Self {
            id: task.task_id,
            status: task.status,
            message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            ttl: task.ttl.as_ref().and_then(limit),
            poll_interval: task.poll_interval.as_ref().map(|n| Duration::from_millis(whole_millis(n))),
            input_requests: InputRequests::default(),
            outcome: None,
        }
    }
}

impl From<ExtensionTask> for TaskState {
    fn from(task: ExtensionTask) -> Self {
        let outcome = match (&task.status, task.result, task.error) {
            (TaskStatus::Completed, Some(result), _) => Some(Ok(result)),
            (TaskStatus::Failed, _, Some(error)) => Some(Err(error.into())),
            _ => None,
        };
        Self {
            id: task.task_id,
            status: task.status,
            message: task.status_message,
            created_at: task.created_at,
            last_updated_at: task.last_updated_at,
            ttl: task.ttl_ms.as_ref().and_then(limit),
            poll_interval: task.poll_interval_ms.as_ref().map(|n| Duration::from_millis(whole_millis(n))),
            input_requests: task.input_requests.unwrap_or_default(),
            outcome,
        }
    }
}

fn limit(ttl: &Ttl) -> Option<Duration> {
    match ttl {
        Ttl::Unlimited => None,
        Ttl::Millis(millis) => Some(Duration::from_millis(whole_millis(millis))),
    }
}
