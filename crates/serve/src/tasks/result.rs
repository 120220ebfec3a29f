//! `tasks/result`: waits until a task ends, and forwards its questions to the client meanwhile.

use super::SessionTasks;
use crate::execution::Watch;
use futures_util::{future::join_all, stream};
use std::{collections::HashSet, time::Duration};
use tokio::sync::oneshot;
use trunkline_protocol::{
    Era, Fault, FaultKind, Object, Outcome, Part, Question, Raw, Reply,
    message::{
        TaskState, TaskStatus,
        meta::{self, RELATED_TASK},
    },
    method,
};

/// Default polling interval, and the bounds of the interval that the handler may set.
const POLL: Duration = Duration::from_millis(500);
const POLL_BOUNDS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(10));

pub(super) fn wait(tasks: SessionTasks, params: Option<Raw>) -> Reply {
    let watch = match tasks.service.executions.watch(&tasks.session.caller) {
        Ok(watch) => watch,
        Err(full) => return Reply::ready(Err(full)),
    };
    let waiter = Waiter {
        _watch: watch,
        tasks,
        params,
        id: String::new(),
        asked: HashSet::new(),
        unasked: Vec::new(),
        open: Vec::new(),
        pause: None,
    };
    Reply::new(stream::unfold(waiter, |mut waiter| async move {
        let part = waiter.next().await;
        Some((part, waiter))
    }))
}

struct Waiter {
    _watch: Watch,
    tasks: SessionTasks,
    params: Option<Raw>,
    id: String,
    /// Keys of the questions sent so far: a handler repeats them until it has the answers.
    asked: HashSet<String>,
    unasked: Vec<Question>,
    open: Vec<(String, oneshot::Receiver<Outcome>)>,
    pause: Option<Duration>,
}

impl Waiter {
    async fn next(&mut self) -> Part {
        loop {
            if let Some(question) = self.unasked.pop() {
                return Part::Question(question);
            }
            match self.advance().await {
                Ok(Some(result)) => return Part::Final(Ok(self.related(&result))),
                Ok(None) => {}
                Err(fault) => return Part::Final(Err(fault)),
            }
        }
    }

    async fn advance(&mut self) -> Result<Option<Raw>, Fault> {
        if !self.open.is_empty() {
            self.hand_over().await?;
        }
        if let Some(pause) = self.pause.take() {
            tokio::time::sleep(pause).await;
        }
        let known = self.tasks.known(self.params.as_ref()).await?;
        self.id.clone_from(&known.id);
        let original = self.tasks.look(&known, None).await?;
        let state = TaskState::read(&original)
            .map_err(|error| Fault::new(FaultKind::BadAnswer, error.to_string()))?;
        self.pause = Some(state.poll_interval.unwrap_or(POLL).clamp(POLL_BOUNDS.0, POLL_BOUNDS.1));
        match (state.status, state.outcome) {
            (_, Some(Ok(result))) => {
                Ok(Some(crate::era::finished_call(&result, self.tasks.session.revision)))
            }
            (_, Some(Err(error))) => Err(Fault::from_peer(error, Era::Modern, method::TOOLS_CALL)),
            (TaskStatus::Cancelled, None) => {
                Err(Fault::new(FaultKind::InvalidRequest, "the task was cancelled and has no result"))
            }
            (TaskStatus::InputRequired, None) => {
                for (key, request) in state.input_requests.0 {
                    if self.asked.insert(key.clone()) {
                        self.ask(key, request.method, request.params.as_ref());
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Queues a question, with the task's id in `_meta`.
    fn ask(&mut self, key: String, name: String, params: Option<&Raw>) {
        let (tell, answer) = oneshot::channel();
        let params = self.tied(params);
        self.unasked.push(Question::new(name, Some(params), move |outcome| drop(tell.send(outcome))));
        self.open.push((key, answer));
    }

    async fn hand_over(&mut self) -> Result<(), Fault> {
        let open = std::mem::take(&mut self.open);
        let answers =
            join_all(open.into_iter().map(|(key, answer)| async move { (key, answer.await) })).await;
        let mut given = Object::new();
        for (key, answer) in answers {
            let gone = |_| Err(Fault::new(FaultKind::Declined, "the question was not answered"));
            given.set(key, answer.unwrap_or_else(gone)?);
        }
        let mut params = Object::new();
        params.set("inputResponses", given.to_raw());
        self.tasks.ask(method::TASKS_UPDATE, &self.id, Some(&params.to_raw())).await.map(drop)
    }

    fn related(&self, result: &Raw) -> Raw {
        self.tied(Some(result))
    }

    fn tied(&self, payload: Option<&Raw>) -> Raw {
        let id = serde_json::json!({"taskId": self.id});
        let tied = meta::set(payload, [(RELATED_TASK, Raw::from(id))]);
        tied.unwrap_or_else(|_| payload.cloned().unwrap_or_else(Raw::empty_object))
    }
}
