//! One running call of a tool, as a series of events.

use super::queue::{Applicant, ExecutionQueue, Slot};
use crate::service::{Service, plain_meta};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::oneshot;
use trunkline_protocol::{
    Call, CallRecord, Caller, Fault, FaultKind, Notification, Object, Origin, Outcome, Part, Question, Raw,
    Reply,
    message::{
        InputRequired, ResultType,
        meta::{CLIENT_CAPABILITIES, PARTIAL, PROGRESS_TOKEN},
    },
    method,
};
use trunkline_resilience::timeout;

/// Most rounds in which a server may answer `input_required`.
const MAX_ROUNDS: usize = 16;

/// The call that a caller asks for.
pub(crate) struct Order {
    pub(crate) tool: String,
    pub(crate) arguments: Option<Raw>,
    pub(crate) limit: Duration,
    pub(crate) applicant: Applicant,
    pub(crate) questions: Questions,
}

/// Handling of questions that the tool asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Questions {
    /// Nobody can answer.
    Decline,
    /// The caller can answer while the call runs.
    Ask,
}

/// Dropping it cancels the call.
pub(crate) struct Run {
    pub(crate) started: Instant,
    service: Arc<Service>,
    call: Call,
    /// The records in the audit trail, one per round.
    records: Vec<Arc<CallRecord>>,
    /// The callers whose answers the next round takes along.
    answerers: Vec<String>,
    limit: Duration,
    questions: Questions,
    rounds: usize,
    stage: RunStage,
}

enum RunStage {
    New {
        queue: Arc<ExecutionQueue>,
        applicant: Applicant,
    },
    Queued {
        place: oneshot::Receiver<Slot>,
    },
    Granted {
        slot: Slot,
    },
    /// The call has a place and was not made yet.
    Admitted {
        slot: Slot,
    },
    Running {
        reply: Reply,
        slot: Slot,
    },
    /// The answer ended with questions; the call goes on with their answers.
    Asking {
        slot: Slot,
        state: Option<String>,
    },
    Over,
}

pub(crate) enum RunEvent {
    /// The call has a place, and is made when the next event is asked for.
    Started,
    Progress(Raw),
    Partial(Raw),
    Message(Raw),
    /// A question; the call goes on meanwhile.
    Question(Question),
    /// Questions by key, whose answers `Run::answer` takes.
    Questions(Vec<(String, Option<Raw>)>),
    Finished(Outcome),
}

impl Run {
    pub(crate) fn new(service: &Arc<Service>, caller: Arc<Caller>, order: Order) -> Self {
        let started = Instant::now();
        let mut call = Call::new(method::TOOLS_CALL, Some(params(&order)));
        call.origin = Origin::Rest;
        call.caller = caller;
        call.deadline = Some(started + order.limit);
        let queue = service.queues.of(&service.server_of(&call.caller, &order.tool));
        Self {
            started,
            service: service.clone(),
            call,
            records: Vec::new(),
            answerers: Vec::new(),
            limit: order.limit,
            questions: order.questions,
            rounds: 0,
            stage: RunStage::New { queue, applicant: order.applicant },
        }
    }

    /// Asks for a place, unless that was done before. Fails if too many wait already.
    pub(crate) fn apply(&mut self) -> Result<(), Fault> {
        if let RunStage::New { queue, applicant } = &self.stage {
            self.stage = match queue.apply(applicant) {
                Ok(Ok(slot)) => RunStage::Granted { slot },
                Ok(Err(place)) => RunStage::Queued { place },
                Err(_) => return Err(queue_full()),
            };
        }
        Ok(())
    }

    /// The next event; `None` after the last one. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<RunEvent> {
        if matches!(self.stage, RunStage::Over) {
            return None;
        }
        let left = self.limit.saturating_sub(self.started.elapsed());
        let event = timeout(left, self.advance()).await;
        Some(event.unwrap_or_else(|| self.out_of_time()))
    }

    /// All events up to the last one.
    pub(crate) async fn finish(mut self) -> Outcome {
        loop {
            match self.next().await {
                Some(RunEvent::Finished(outcome)) => return outcome,
                Some(_) => {}
                None => return Err(lost()),
            }
        }
    }

    /// Goes on with the answers to `RunEvent::Questions`.
    pub(crate) fn answer(&mut self, answers: &Object) {
        let RunStage::Asking { slot, state } = std::mem::replace(&mut self.stage, RunStage::Over) else {
            return;
        };
        let mut params = self.call.params.as_ref().and_then(Raw::object).unwrap_or_default();
        params.set("inputResponses", answers.to_raw());
        params.remove("requestState");
        if let Some(state) = state {
            params.set("requestState", Raw::string(&state));
        }
        self.call.params = Some(params.to_raw());
        self.stage = RunStage::Admitted { slot };
    }

    pub(crate) fn audit_records(&self) -> Vec<String> {
        self.records.iter().filter_map(|record| record.id.get().cloned()).collect()
    }

    /// Notes the caller that answers a question, for the audit trail: in the record of the running
    /// call, or, if the call has ended with the question, in that of the next round.
    pub(crate) fn answered_by(&mut self, caller: &str) {
        match (&self.stage, self.records.last()) {
            (RunStage::Running { .. }, Some(record)) => record.answered_by(caller),
            _ if self.answerers.iter().any(|known| known == caller) => {}
            _ => self.answerers.push(caller.to_owned()),
        }
    }

    async fn advance(&mut self) -> RunEvent {
        loop {
            match &mut self.stage {
                RunStage::New { .. } => {
                    if let Err(fault) = self.apply() {
                        return self.over(Err(fault));
                    }
                }
                RunStage::Granted { .. } => return self.admit(),
                RunStage::Queued { place } => match place.await {
                    Ok(slot) => self.stage = RunStage::Granted { slot },
                    // Another caller took the place in the queue.
                    Err(_) => return self.over(Err(queue_full())),
                },
                RunStage::Admitted { .. } => self.call(),
                RunStage::Running { reply, .. } => {
                    let part = reply.next().await;
                    if let Some(event) = self.event_of(part) {
                        return event;
                    }
                }
                // Only `answer` continues the call, or the time limit ends it.
                RunStage::Asking { .. } => std::future::pending().await,
                RunStage::Over => return RunEvent::Finished(Err(lost())),
            }
        }
    }

    fn admit(&mut self) -> RunEvent {
        if let RunStage::Granted { slot } = std::mem::replace(&mut self.stage, RunStage::Over) {
            self.stage = RunStage::Admitted { slot };
        }
        RunEvent::Started
    }

    fn call(&mut self) {
        if let RunStage::Admitted { slot } = std::mem::replace(&mut self.stage, RunStage::Over) {
            let mut call = self.call.clone();
            if self.questions == Questions::Ask {
                let answerers = std::mem::take(&mut self.answerers);
                let record = Arc::new(CallRecord::with_answers_of(answerers));
                self.records.push(record.clone());
                call.record = Some(record);
            }
            let reply = self.service.handler.call(call);
            self.stage = RunStage::Running { reply, slot };
        }
    }

    fn event_of(&mut self, part: Option<Part>) -> Option<RunEvent> {
        match part {
            Some(Part::Notification(notification)) => notified(&notification),
            Some(Part::Final(Ok(result)))
                if self.questions == Questions::Ask
                    && ResultType::of(&result) == ResultType::InputRequired =>
            {
                Some(self.asked(&result))
            }
            Some(Part::Final(outcome)) => Some(self.over(outcome)),
            Some(Part::Question(question))
                if self.questions == Questions::Ask && question.method == method::ELICIT =>
            {
                Some(RunEvent::Question(question))
            }
            // A dropped question is declined: nobody can answer it here, and the call said so by
            // not declaring the capability.
            Some(Part::Question(_) | Part::Detach) => None,
            None => Some(self.over(Err(lost()))),
        }
    }

    fn asked(&mut self, result: &Raw) -> RunEvent {
        self.rounds += 1;
        if self.rounds > MAX_ROUNDS {
            let text = format!("the tool asked more than {MAX_ROUNDS} times");
            return self.over(Err(Fault::new(FaultKind::TooManyRounds, text)));
        }
        let Ok(required) = result.decode::<InputRequired>() else { return self.over(Err(lost())) };
        let requests = required.input_requests.unwrap_or_default().0;
        if let Some((_, other)) = requests.iter().find(|(_, request)| request.method != method::ELICIT) {
            let text = format!("the tool asked for `{}`, which nobody can answer here", other.method);
            return self.over(Err(Fault::new(FaultKind::Declined, text)));
        }
        let RunStage::Running { slot, .. } = std::mem::replace(&mut self.stage, RunStage::Over) else {
            return RunEvent::Finished(Err(lost()));
        };
        self.stage = RunStage::Asking { slot, state: required.request_state };
        RunEvent::Questions(requests.into_iter().map(|(key, request)| (key, request.params)).collect())
    }

    fn over(&mut self, outcome: Outcome) -> RunEvent {
        self.stage = RunStage::Over;
        RunEvent::Finished(outcome)
    }

    fn out_of_time(&mut self) -> RunEvent {
        let queued = matches!(self.stage, RunStage::New { .. } | RunStage::Queued { .. });
        let place = if queued { "the queue" } else { "the tool" };
        let text = format!("the limit of {} ms passed in {place}", self.limit.as_millis());
        self.over(Err(Fault::new(FaultKind::Timeout, text)))
    }
}

fn params(order: &Order) -> Raw {
    let mut params = Object::new();
    params.set("name", Raw::string(&order.tool));
    if let Some(arguments) = &order.arguments {
        params.set("arguments", arguments.clone());
    }
    let mut meta = plain_meta();
    if order.questions == Questions::Ask {
        meta.set(CLIENT_CAPABILITIES, serde_json::json!({"elicitation": {"form": {}, "url": {}}}).into());
    }
    meta.set(PROGRESS_TOKEN, Raw::string(&order.applicant.id));
    params.set("_meta", meta.to_raw());
    params.to_raw()
}

fn notified(notification: &Notification) -> Option<RunEvent> {
    let params = notification.params.as_ref()?;
    match notification.method.as_ref() {
        method::PROGRESS => {
            let partial = params.member("_meta").and_then(|meta| meta.member(PARTIAL));
            if let Some(part) = partial {
                return Some(RunEvent::Partial(part));
            }
            let mut progress = params.object()?;
            progress.remove(PROGRESS_TOKEN);
            Some(RunEvent::Progress(progress.to_raw()))
        }
        method::MESSAGE => Some(RunEvent::Message(params.clone())),
        _ => None,
    }
}

fn queue_full() -> Fault {
    let text = "too many executions wait already; try again later";
    Fault::new(FaultKind::Overloaded, text)
        .with_data(serde_json::json!({"retryAfter": 1}).into())
        .harmless_to_repeat()
}

fn lost() -> Fault {
    Fault::new(FaultKind::ConnectionLost, "the call ended without a result")
}
