//! Limits of one tool call.

use std::time::Duration;

/// The limits of a tool; the defaults match the timeouts and sizes that common hosts accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time limit of a call, including the wait for a slot, excluding questions to the user.
    pub deadline: Duration,
    /// Time limit of a call that runs as a task.
    pub task_deadline: Duration,
    /// Timeout of a question to the user or the model.
    pub answer_time: Duration,
    /// Maximum number of concurrent calls of this tool.
    pub concurrency: usize,
    pub priority: Priority,
    /// Maximum text of an answer in bytes; the rest can be read as a resource.
    pub result_bytes: usize,
}

/// Order of calls that wait for a slot. A call that waits long rises to the next higher priority.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    Low,
    #[default]
    Normal,
    High,
}

/// When a call of the tool runs as a task, for callers that declare the tasks extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskMode {
    /// As a task if the caller supports tasks, else as an ordinary call.
    Optional,
    /// Only as a task; callers without support for tasks are refused.
    Required,
    /// As an ordinary call, until the tool itself calls
    /// [`Context::become_task`](crate::Context::become_task).
    OnDemand,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(30),
            task_deadline: Duration::from_mins(30),
            answer_time: Duration::from_mins(10),
            concurrency: 10,
            priority: Priority::Normal,
            result_bytes: 100_000,
        }
    }
}
