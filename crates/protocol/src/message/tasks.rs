//! Tasks in both forms: nested in 2025-11-25, and flat in the extension
//! `io.modelcontextprotocol/tasks`.

use super::{InputRequests, InputResponses, list::items};
use crate::{
    ErrorObject, Number, Raw,
    view::{Member, view, words},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

words! {
    /// The status of a task. The last three are final.
    pub enum TaskStatus {
        Working = "working",
        InputRequired = "input_required",
        Completed = "completed",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

/// The lifetime of a task, in milliseconds since its creation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ttl {
    /// Written as `null`.
    Unlimited,
    Millis(Number),
}

view! {
    /// `params.task` of 2025-11-25: asks the server to run the request as a task.
    pub struct TaskParams {
    } optional {
        ttl: Number = "ttl",
    }

    /// A task of 2025-11-25: the `task` of a create result, an item of a list, the result of
    /// `tasks/get` and `tasks/cancel`, and `notifications/tasks/status`.
    pub struct Task {
        task_id: String = "taskId",
        status: TaskStatus = "status",
    } optional {
        status_message: String = "statusMessage",
        created_at: String = "createdAt",
        last_updated_at: String = "lastUpdatedAt",
        ttl: Ttl = "ttl",
        poll_interval: Number = "pollInterval",
        meta: Raw = "_meta",
    }

    /// The result in 2025-11-25 of a request that runs as a task.
    pub struct CreateTaskResult {
        task: Task = "task",
    } optional {
        meta: Raw = "_meta",
    }

    /// The result of `tasks/list` of 2025-11-25.
    pub struct ListTasksResult {
        tasks: Vec<Raw> = "tasks",
    } optional {
        next_cursor: String = "nextCursor",
        meta: Raw = "_meta",
    }

    /// `_meta["io.modelcontextprotocol/related-task"]` of 2025-11-25.
    pub struct RelatedTask {
        task_id: String = "taskId",
    } optional {
    }

    /// The parameters of `tasks/get`, `tasks/result` and `tasks/cancel`.
    pub struct TaskIdParams {
        task_id: String = "taskId",
    } optional {
        meta: Raw = "_meta",
    }

    /// The parameters of `tasks/update` of the extension.
    pub struct UpdateTaskParams {
        task_id: String = "taskId",
        input_responses: InputResponses = "inputResponses",
    } optional {
        meta: Raw = "_meta",
    }

    /// A task of the extension: a create result (`resultType` is `task`), the result of
    /// `tasks/get` (`complete`, but some servers send `task`), and `notifications/tasks`.
    pub struct ExtensionTask {
        task_id: String = "taskId",
        status: TaskStatus = "status",
    } optional {
        result_type: String = "resultType",
        status_message: String = "statusMessage",
        created_at: String = "createdAt",
        last_updated_at: String = "lastUpdatedAt",
        ttl_ms: Ttl = "ttlMs",
        poll_interval_ms: Number = "pollIntervalMs",
        /// Present while input is required.
        input_requests: InputRequests = "inputRequests",
        /// Present once completed: the result of the original request.
        result: Raw = "result",
        /// Present once failed.
        error: TaskError = "error",
        meta: Raw = "_meta",
    }

    /// The JSON-RPC error that ended a task.
    pub struct TaskError {
        code: i64 = "code",
        message: String = "message",
    } optional {
        data: Raw = "data",
    }
}

items!(ListTasksResult, tasks: Task);

impl TaskStatus {
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

impl From<TaskError> for ErrorObject {
    fn from(error: TaskError) -> Self {
        let mut object = Self::new(error.code, error.message);
        (object.data, object.rest) = (error.data, error.rest);
        object
    }
}

impl Member for Ttl {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        let millis = Option::<Number>::deserialize(deserializer)?;
        Ok(Some(millis.map_or(Self::Unlimited, Self::Millis)))
    }
}

impl<'de> Deserialize<'de> for Ttl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::<Number>::deserialize(deserializer)?.map_or(Self::Unlimited, Self::Millis))
    }
}

impl Serialize for Ttl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unlimited => serializer.serialize_none(),
            Self::Millis(millis) => millis.serialize(serializer),
        }
    }
}
