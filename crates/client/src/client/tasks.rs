//! Requests about tasks on the server, in either era's form.

use super::{Client, driver::read, requests::one};
use crate::era::Ask;
use trunkline_protocol::{
    Era, Fault, FaultKind, Raw,
    message::{Task, TaskState, next_cursor},
    method,
};

/// Page limit of the task list.
const MAX_PAGES: usize = 1000;

impl Client {
    /// The state of a task.
    pub async fn task(&self, id: &str) -> Result<TaskState, Fault> {
        let result = self.send(Ask::new(method::TASKS_GET, one("taskId", id))).await?;
        state(&result)
    }

    /// Returns the result of a task. A legacy server waits until the task is done; with the
    /// extension, an unfinished task is an error.
    pub async fn task_result(&self, id: &str) -> Result<Raw, Fault> {
        if self.server().era() == Era::Legacy {
            return self.send(Ask::new(method::TASKS_RESULT, one("taskId", id))).await;
        }
        let task = self.task(id).await?;
        match task.outcome {
            Some(Ok(result)) => Ok(result),
            Some(Err(error)) => Err(Fault::from_peer(error, Era::Modern, method::TOOLS_CALL)),
            None => {
                let fault = format!("the task is {} and has no result yet", task.status);
                Err(Fault::new(FaultKind::Unavailable, fault))
            }
        }
    }

    pub async fn cancel_task(&self, id: &str) -> Result<(), Fault> {
        self.send(Ask::new(method::TASKS_CANCEL, one("taskId", id))).await.map(drop)
    }

    /// All tasks of this caller; only 2025-11-25 can list them.
    pub async fn tasks(&self) -> Result<Vec<TaskState>, Fault> {
        if !self.server().revision.has_core_tasks() {
            let fault = format!("revision {} cannot list tasks", self.server().revision);
            return Err(Fault::new(FaultKind::CapabilityMissing, fault));
        }
        let mut tasks = Vec::new();
        let mut params = trunkline_protocol::Object::new();
        for _ in 0..MAX_PAGES {
            let page = self.send(Ask::new(method::TASKS_LIST, params.clone())).await?;
            let listed: Vec<Task> =
                page.member("tasks").map_or(Ok(Vec::new()), |raw| read(&raw, method::TASKS_LIST))?;
            tasks.extend(listed.into_iter().map(TaskState::from));
            let Some(cursor) = next_cursor(&page) else { return Ok(tasks) };
            params.set("cursor", Raw::string(&cursor));
        }
        Err(Fault::new(FaultKind::BadAnswer, "the server's list of tasks does not end"))
    }
}

fn state(result: &Raw) -> Result<TaskState, Fault> {
    TaskState::read(result).map_err(|error| {
        Fault::new(FaultKind::BadAnswer, "the server's answer about the task cannot be read")
            .with_detail(error.to_string())
    })
}
