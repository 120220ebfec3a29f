//! Task: the state of one call that continues in the background.

use parking_lot::{Mutex, MutexGuard};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::{task::AbortHandle, time::Instant};
use trunkline_protocol::{
    Era, Notification, Number, Outcome, Question, Raw,
    message::{
        ExtensionTask, InputRequest, InputRequests, InputResponses, ProgressParams, TaskError, TaskStatus,
        Ttl,
    },
    method,
    time::iso_8601,
};

/// Poll interval suggested to callers.
const POLL_MILLIS: u64 = 500;

#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) owner: String,
    pub(super) expires: Instant,
    ttl: Duration,
    created: SystemTime,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    status: TaskStatus,
    message: Option<String>,
    updated: SystemTime,
    questions: Vec<(String, Question)>,
    /// Number of questions asked so far, for unique keys.
    asked: usize,
    keys: Vec<String>,
    outcome: Option<Outcome>,
    work: Option<AbortHandle>,
}

impl Task {
    pub(super) fn new(id: String, owner: String, ttl: Duration) -> Arc<Self> {
        let created = SystemTime::now();
        let state = State {
            status: TaskStatus::Working,
            message: None,
            updated: created,
            questions: Vec::new(),
            asked: 0,
            keys: Vec::new(),
            outcome: None,
            work: None,
        };
        Arc::new(Self { id, owner, expires: Instant::now() + ttl, ttl, created, state: Mutex::new(state) })
    }

    pub(super) fn runs_as(&self, work: AbortHandle) {
        self.state().work = Some(work);
    }

    pub(super) fn is_final(&self) -> bool {
        self.state().status.is_final()
    }

    /// The state with open questions and outcome, for `tasks/get` and the notification.
    pub(super) fn detailed(&self) -> ExtensionTask {
        let mut task = self.plain();
        task.result_type = Some("complete".to_owned());
        let state = self.state();
        if !state.questions.is_empty() {
            let requests = state.questions.iter().map(|(key, question)| {
                let mut request = InputRequest::new(question.method.as_ref());
                request.params.clone_from(&question.params);
                (key.clone(), request)
            });
            task.input_requests = Some(InputRequests(requests.collect()));
        }
        match &state.outcome {
            Some(Ok(result)) => task.result = Some(result.clone()),
            Some(Err(fault)) => {
                let error = fault.to_error(Era::Modern);
                let mut told = TaskError::new(error.code, error.message);
                told.data = error.data;
                task.error = Some(told);
            }
            None => {}
        }
        task
    }

    /// The state without questions and outcome, for the answer to the call that became a task.
    pub(super) fn plain(&self) -> ExtensionTask {
        let state = self.state();
        let mut task = ExtensionTask::new(self.id.as_str(), state.status.clone());
        task.result_type = Some("task".to_owned());
        task.status_message.clone_from(&state.message);
        task.created_at = Some(iso_8601(self.created));
        task.last_updated_at = Some(iso_8601(state.updated));
        let millis = u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX);
        task.ttl_ms = Some(Ttl::Millis(Number::from(millis)));
        task.poll_interval_ms = Some(Number::from(POLL_MILLIS));
        task
    }

    /// Stores the message of the last progress notification.
    pub(super) fn note(&self, notification: &Notification) {
        if notification.method == method::PROGRESS
            && let Some(params) = notification.params.as_ref().and_then(|p| p.decode::<ProgressParams>().ok())
            && params.message.is_some()
        {
            self.change(|state| state.message = params.message);
        }
    }

    /// Stores a question until it is answered.
    pub(super) fn ask(&self, question: Question) {
        let key = question.key.clone();
        self.change(|state| {
            state.asked += 1;
            let key = match key {
                Some(key) if !state.keys.contains(&key) => key,
                Some(key) => format!("{key}-{}", state.asked),
                None => format!("question-{}", state.asked),
            };
            state.keys.push(key.clone());
            state.questions.push((key, question));
            state.status = TaskStatus::InputRequired;
        });
    }

    /// Delivers answers to their questions by key; unknown keys are ignored.
    pub(super) fn answer(&self, answers: &InputResponses) {
        let mut answered = Vec::new();
        self.change(|state| {
            let open = std::mem::take(&mut state.questions);
            for (key, question) in open {
                match answers.0.get(&key) {
                    Some(answer) => answered.push((question, answer.clone())),
                    None => state.questions.push((key, question)),
                }
            }
            if state.questions.is_empty() && state.status == TaskStatus::InputRequired {
                state.status = TaskStatus::Working;
            }
        });
        for (question, answer) in answered {
            question.answer(Ok(answer));
        }
    }

    pub(super) fn finish(&self, outcome: Outcome) {
        let status = if outcome.is_ok() { TaskStatus::Completed } else { TaskStatus::Failed };
        self.end(status, Some(outcome));
    }

    /// Aborts the work, unless it is done.
    pub(super) fn cancel(&self) {
        if let Some(work) = self.end(TaskStatus::Cancelled, None) {
            work.abort();
        }
    }

    /// Sets a final state, and returns the handle of the work so that the caller can abort it.
    fn end(&self, status: TaskStatus, outcome: Option<Outcome>) -> Option<AbortHandle> {
        let mut open = Vec::new();
        let mut work = None;
        self.change(|state| {
            state.status = status;
            state.outcome = outcome;
            open = std::mem::take(&mut state.questions);
            work = state.work.take();
        });
        // Dropping a question refuses it, which may call back; so drop them after the lock.
        drop(open);
        work
    }

    /// Changes the state, unless it is final.
    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        if !state.status.is_final() {
            change(&mut state);
            state.updated = SystemTime::now();
        }
    }

    /// The result as the answer to an ordinary call, with `resultType` set.
    pub(super) fn complete(result: &Raw) -> Raw {
        let Some(mut members) = result.object() else { return result.clone() };
        if members.get("resultType").is_none() {
            members.set("resultType", Raw::string("complete"));
        }
        members.to_raw()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}
