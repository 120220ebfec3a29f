//! Runs one execution, and writes down what happens.

use super::{
    Command, Executions, Happened, MAX_EVENT_BYTES, MAX_EVENTS, command_log, decoded, encoded,
    ended::{Ended, PAUSE},
    lease::Held,
    quota::Allowance,
    record::{OpenQuestion, Record, State},
    run::{Run, RunEvent},
};
use crate::phase::{Phase, reached};
use futures_util::FutureExt;
use serde_json::json;
use std::{panic::AssertUnwindSafe, pin::Pin, sync::Arc};
use tokio::sync::watch;
use tracing::{error, warn};
use trunkline_protocol::{Fault, FaultKind, Object, Outcome, Question, Raw};
use trunkline_store::StoreError;

/// Most questions that may be open at once; more are declined.
const MAX_QUESTIONS: usize = 32;

pub(super) struct Driver {
    executions: Arc<Executions>,
    run: Run,
    id: String,
    /// Questions in the middle of the call.
    asked: Vec<(String, Question)>,
    /// Questions at the end of a round, and the answers to them so far.
    round: Vec<String>,
    answers: Object,
    /// The open questions as the record has them.
    open: Vec<OpenQuestion>,
    numbered: usize,
    events: u64,
    bytes: usize,
    allowance: Allowance,
    _held: Option<Arc<Held>>,
}

/// The way in which an execution ended.
enum Ending {
    Itself(Outcome),
    Cancelled(&'static str),
}

pub(super) type Commands = Pin<Box<dyn Future<Output = (u64, Vec<Command>)> + Send>>;

impl Driver {
    pub(super) fn new(
        executions: Arc<Executions>,
        run: Run,
        record: Record,
        (held, allowance): (Option<Arc<Held>>, Allowance),
    ) -> Self {
        executions.live.send_modify(|live| *live += 1);
        Self {
            executions,
            run,
            id: record.id,
            asked: Vec::new(),
            round: Vec::new(),
            answers: Object::new(),
            open: Vec::new(),
            numbered: 0,
            events: 0,
            bytes: 0,
            allowance,
            _held: held,
        }
    }

    pub(super) async fn run(mut self, mut phase: watch::Receiver<Phase>) {
        let mut commands = self::commands(&self.executions, &self.id, 0);
        let ending = loop {
            tokio::select! {
                biased;
                (seen, given) = &mut commands => {
                    if given.iter().any(|command| matches!(command, Command::Cancel)) {
                        break Ending::Cancelled("the execution was cancelled");
                    }
                    for command in given {
                        if let Command::Answer { question, answer, by } = command {
                            self.answer(&question, answer, &by).await;
                        }
                    }
                    commands = self::commands(&self.executions, &self.id, seen);
                }
                _ = reached(&mut phase, Phase::Stopped) => {
                    break Ending::Cancelled("the server stopped before the execution ended");
                }
                event = AssertUnwindSafe(self.run.next()).catch_unwind() => match event {
                    Ok(Some(event)) => if let Some(ending) = self.note(event).await { break ending },
                    Ok(None) => break Ending::Itself(Err(lost())),
                    Err(_) => break Ending::Itself(Err(panicked())),
                },
            }
        };
        self.finish(ending).await;
    }

    /// Writes an event down. Returns an ending if the call must not go on.
    async fn note(&mut self, event: RunEvent) -> Option<Ending> {
        match event {
            RunEvent::Started => {
                // The call is made only after the record says that it runs.
                if let Err(error) = self.state(State::Running).await {
                    error!(%error, "an execution was not started, because its state cannot be stored");
                    let text = "the tool was not called, because the store cannot be written";
                    return Some(Ending::Itself(Err(Fault::new(FaultKind::StoreUnavailable, text))));
                }
            }
            RunEvent::Progress(progress) => self.happened(Happened::Progress(progress)).await,
            RunEvent::Partial(part) => self.happened(Happened::Partial(part)).await,
            RunEvent::Message(message) => self.happened(Happened::Message(message)).await,
            RunEvent::Question(question) => {
                // A question that is not kept is dropped, and thereby declined.
                if self.open.len() < MAX_QUESTIONS && self.may_ask(question.params.as_ref()).await {
                    self.numbered += 1;
                    let id = format!("question-{}", self.numbered);
                    let params = question.params.clone();
                    self.asked.push((id.clone(), question));
                    self.ask(vec![OpenQuestion { id, params }]).await;
                }
            }
            RunEvent::Questions(questions) => {
                for (_, params) in &questions {
                    if !self.may_ask(params.as_ref()).await {
                        let text = "the tool asked more than is kept for you (limits.executionBytes)";
                        return Some(Ending::Itself(Err(Fault::new(FaultKind::Overloaded, text))));
                    }
                }
                self.round = questions.iter().map(|(key, _)| key.clone()).collect();
                self.answers = Object::new();
                let open = questions.into_iter().map(|(id, params)| OpenQuestion { id, params }).collect();
                self.ask(open).await;
            }
            RunEvent::Finished(outcome) => return Some(Ending::Itself(outcome)),
        }
        None
    }

    /// Takes the bytes of a question, which are in the record and in an event.
    async fn may_ask(&mut self, params: Option<&Raw>) -> bool {
        let bytes = params.map_or(0, |params| params.as_bytes().len());
        self.allowance.covers(bytes).await
    }

    async fn ask(&mut self, questions: Vec<OpenQuestion>) {
        let told: Vec<Happened> =
            questions.iter().map(|question| Happened::Question(question.shown())).collect();
        self.open.extend(questions);
        self.questions_changed().await;
        for question in told {
            self.happened(question).await;
        }
    }

    async fn answer(&mut self, id: &str, answer: Raw, by: &str) {
        let before = self.open.len();
        self.open.retain(|question| question.id != id);
        if self.open.len() == before {
            return;
        }
        self.run.answered_by(by);
        if let Some(at) = self.asked.iter().position(|(asked, _)| asked == id) {
            let (_, question) = self.asked.remove(at);
            question.answer(Ok(answer));
        } else {
            self.answers.set(id.to_owned(), answer);
        }
        self.questions_changed().await;
        if !self.round.is_empty() && self.round.iter().all(|key| self.answers.get(key).is_some()) {
            self.round.clear();
            self.run.answer(&self.answers);
        }
    }

    async fn questions_changed(&mut self) {
        let state = if self.open.is_empty() { State::Running } else { State::Waiting };
        if let Err(error) = self.state(state).await {
            warn!(%error, "the questions of an execution cannot be stored");
        }
    }

    async fn state(&mut self, state: State) -> Result<(), StoreError> {
        let open = self.open.clone();
        let change = |record: &mut Record| {
            record.state = state;
            record.questions.clone_from(&open);
        };
        self.executions.update(&self.id, change).await?;
        self.happened(Happened::State(json!({"state": state.name()}).into())).await;
        Ok(())
    }

    /// Appends an event within the limits of one execution.
    async fn happened(&mut self, event: Happened) {
        if self.events >= MAX_EVENTS || self.bytes >= MAX_EVENT_BYTES {
            return;
        }
        self.events += 1;
        let length = encoded(&event).len();
        self.bytes += length;
        let mut is_full = self.events >= MAX_EVENTS || self.bytes >= MAX_EVENT_BYTES;
        if !is_full && !self.allowance.covers(length).await {
            (is_full, self.events) = (true, MAX_EVENTS);
        }
        let event = if is_full {
            Happened::Truncated(json!({"reason": "the execution has too many events to keep"}).into())
        } else {
            event
        };
        if let Err(error) = self.executions.append(&self.id, &event).await {
            warn!(%error, "an event of an execution cannot be stored");
        }
    }

    async fn finish(self, ending: Ending) {
        let (state, outcome) = match ending {
            Ending::Itself(outcome) => (State::after(&outcome), outcome),
            Ending::Cancelled(why) => (State::Cancelled, Err(Fault::new(FaultKind::Cancelled, why))),
        };
        let Self { executions, run, id, asked, mut allowance, .. } = self;
        let (took, audit) = (run.started.elapsed(), run.audit_records());
        // Cancels the call if it still runs, and frees its place.
        drop((run, asked));
        let ended = Ended::new((&outcome, state), took, &mut allowance).await;
        executions.conclude(&id, &ended, &audit).await;
        executions.live.send_modify(|live| *live -= 1);
    }
}

/// Waits for commands to an execution after the one with this number.
pub(super) fn commands(executions: &Executions, id: &str, seen: u64) -> Commands {
    let (store, log) = (executions.store.clone(), command_log(id));
    Box::pin(async move {
        loop {
            let read = async {
                store.appended(&log, seen).await?;
                store.events(&log, seen, 16).await
            };
            match read.await {
                Ok(events) => {
                    let last = events.last().map_or(seen, |event| event.number);
                    let given = events.iter().filter_map(|event| decoded(&event.bytes));
                    return (last, given.collect());
                }
                Err(error) => {
                    warn!(%error, "the commands to an execution cannot be read");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    })
}

impl OpenQuestion {
    /// The question as callers see it.
    pub(crate) fn shown(&self) -> Raw {
        let member = |name: &str| self.params.as_ref().and_then(|params| params.member(name));
        let mut shown = Object::new();
        shown.set("id", Raw::string(&self.id));
        for (name, from) in [("message", "message"), ("schema", "requestedSchema"), ("url", "url")] {
            if let Some(value) = member(from) {
                shown.set(name, value);
            }
        }
        shown.to_raw()
    }
}

fn lost() -> Fault {
    Fault::new(FaultKind::ConnectionLost, "the call ended without a result")
}

fn panicked() -> Fault {
    Fault::new(FaultKind::ToolFailed, "the tool failed: a bug in its code stopped it").harmful_to_repeat()
}
