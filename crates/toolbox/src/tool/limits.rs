//! How much one call of a tool may take.

use std::time::Duration;

/// The limits of a tool; the defaults fit what hosts put up with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long a call may wait and run; the time of questions to the user does not count.
    pub deadline: Duration,
    /// The same for a call that runs as a task.
    pub task_deadline: Duration,
    /// How long a question to the user or the model may stay open.
    pub answer_time: Duration,
    /// How many calls of this tool may run at once.
    pub concurrency: usize,
    pub priority: Priority,
    /// How much text an answer may hold, in bytes; the rest can be read as a resource.
    pub result_bytes: usize,
}

/// Who goes first when calls have to wait. Whoever waits long is served like the next higher priority.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    Low,
    #[default]
    Normal,
    High,
}

/// When a tool runs in the background, for callers who declare the tasks extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskMode {
    /// As a task where the caller can follow one, as an ordinary call elsewhere.
    Optional,
    /// Only as a task; callers who cannot follow one are refused.
    Required,
    /// As an ordinary call, until the tool itself calls [`Context::become_task`](crate::Context::become_task).
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
