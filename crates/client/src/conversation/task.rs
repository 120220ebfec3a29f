//! A call that became a task: polls it until it is done.

use super::{Answers, CallStage, Conversation, Next, Step, bad, end};
use crate::{connection::Inner, era::Ask};
use std::{collections::HashSet, sync::Arc, time::Duration};
use tokio::runtime;
use trunkline_protocol::{
    Era, Fault, FaultKind, Object, Raw,
    message::{InputRequests, TaskState, TaskStatus},
    method,
};
use trunkline_resilience::{CallTimer, Moment, Timeouts};

/// Poll interval if the server gives none.
const DEFAULT_POLL: Duration = Duration::from_secs(1);
/// Bounds of the server's poll interval: it must neither cause load nor delay the result.
const POLL_BOUNDS: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(30));

/// A task on the server. Dropping it before its end cancels it there.
pub(super) struct TaskRun {
    connection: Arc<Inner>,
    id: String,
    poll: Duration,
    /// Keys of questions that were asked already; a server repeats them until it has the answers.
    asked: HashSet<String>,
    ceiling: Option<CallTimer>,
    ended: bool,
}

/// A timer for the ceiling of a call, which progress does not extend.
fn ceiling_timer(timeouts: Timeouts) -> Option<CallTimer> {
    let timeouts = timeouts.with_call(timeouts.ceiling()).ok()?;
    Some(CallTimer::start_at(&timeouts, Moment::now()))
}

impl Conversation {
    pub(super) fn task_started(&mut self, result: &Raw) -> Next {
        let Ok(state) = TaskState::read(result) else {
            // The server may answer directly although a task was requested.
            return end(Ok(result.clone()));
        };
        self.task = Some(TaskRun {
            connection: self.connection.clone(),
            id: state.id.clone(),
            poll: DEFAULT_POLL,
            asked: HashSet::new(),
            ceiling: self.timeouts.and_then(ceiling_timer),
            ended: false,
        });
        self.task_state(state)
    }

    pub(super) fn task_polled(&mut self, result: &Raw) -> Next {
        match TaskState::read(result) {
            Ok(state) => self.task_state(state),
            Err(error) => bad(format!("the server's answer about the task cannot be read: {error}")),
        }
    }

    pub(super) fn poll_task_after_pause(&mut self) -> Next {
        let Some(task) = &self.task else {
            return bad("received a task state for a call without a task".to_owned());
        };
        if task.ceiling.as_ref().is_some_and(|ceiling| ceiling.expired().is_some()) {
            return end(Err(Fault::new(
                FaultKind::Timeout,
                "the task did not end before the call's ceiling",
            )));
        }
        self.ask = task.request(method::TASKS_GET, Object::new());
        self.step = Step::PollTask;
        self.stage = CallStage::pause(task.poll);
        Next::Continue
    }

    /// Marks the task as ended, so that dropping it does not cancel it.
    pub(super) fn task_ended(&mut self) {
        if let Some(task) = &mut self.task {
            task.ended = true;
        }
    }

    fn task_state(&mut self, state: TaskState) -> Next {
        let Some(task) = &mut self.task else {
            return bad("received a task state for a call without a task".to_owned());
        };
        if let Some(poll) = state.poll_interval {
            task.poll = poll.clamp(POLL_BOUNDS.0, POLL_BOUNDS.1);
        }
        let era = self.connection.speech.era();
        match (&state.status, era) {
            (TaskStatus::Working | TaskStatus::Unknown(_), _) => self.poll_task_after_pause(),
            (TaskStatus::InputRequired, Era::Modern) => self.task_asks(state.input_requests),
            // A legacy server asks its questions as requests while `tasks/result` waits.
            (TaskStatus::InputRequired | TaskStatus::Completed | TaskStatus::Failed, Era::Legacy) => {
                task.ended = state.status != TaskStatus::InputRequired;
                self.ask = task.request(method::TASKS_RESULT, Object::new());
                self.step = Step::FetchTask;
                self.stage = CallStage::Ready;
                Next::Continue
            }
            (TaskStatus::Cancelled, _) => {
                task.ended = true;
                let why = state.message.unwrap_or_else(|| "the server cancelled the task".to_owned());
                end(Err(Fault::new(FaultKind::Cancelled, why)))
            }
            (TaskStatus::Completed | TaskStatus::Failed, Era::Modern) => {
                task.ended = true;
                match state.outcome {
                    Some(Ok(result)) => end(Ok(result)),
                    Some(Err(error)) => end(Err(Fault::from_peer(error, era, method::TOOLS_CALL))),
                    None => bad("the task has ended without a result".to_owned()),
                }
            }
        }
    }

    fn task_asks(&mut self, requests: InputRequests) -> Next {
        let Some(task) = &mut self.task else {
            return bad("received a task state for a call without a task".to_owned());
        };
        let new: Vec<_> = requests.0.into_iter().filter(|(key, _)| task.asked.insert(key.clone())).collect();
        if new.is_empty() {
            return self.poll_task_after_pause();
        }
        self.stage = CallStage::Asking(Answers::to(InputRequests(new)));
        Next::Continue
    }
}

impl TaskRun {
    /// The request that sends the answers to the task's questions.
    pub(super) fn update(&self, responses: &Object) -> Ask {
        let mut params = Object::new();
        params.set("inputResponses", responses.to_raw());
        self.request(method::TASKS_UPDATE, params)
    }

    fn request(&self, name: &'static str, mut params: Object) -> Ask {
        params.set("taskId", Raw::string(&self.id));
        Ask::new(name, params)
    }
}

impl Drop for TaskRun {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let Ok(runtime) = runtime::Handle::try_current() else { return };
        let mut exchange = self.connection.exchange(&self.request(method::TASKS_CANCEL, Object::new()));
        runtime.spawn(async move { crate::handshake::answer(&mut exchange).await.map(drop) });
    }
}
