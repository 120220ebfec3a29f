//! Conversation: one call, from its first request to its final result, over as many rounds as
//! needed.
//!
//! ```text
//! Ready ⇒ Preparing         the tool's header rules, log level or line lock must be waited for
//! Ready, Preparing ⇒ Sent   the request is sent
//! Sent ⇒ Sent               notifications and questions pass to the caller
//! Sent ⇒ Asking             the server needs input before it can go on
//! Sent ⇒ Waiting            a task runs on the server, or the server wants the same request again
//! Sent ⇒ Renewing           the session was lost and a new one is opened
//! Asking, Waiting, Renewing ⇒ Ready   the next round
//! Sent ⇒ Ended              the final result
//! ```

mod answers;
mod clock;
mod prepare;
mod task;

use crate::{
    connection::Inner,
    era::{Ask, flat_created, lift_error},
    facts::without_bad_headers,
    handshake,
    inbox::{Arrival, Loss, LossKind},
    line_lock::LineGuard,
    link::Exchange,
    relay::{Relay, Routed},
    resilience::{Expired, Timeouts},
};
use answers::{Answers, OpenQuestions};
use clock::Clock;
use futures_util::{Stream, future::BoxFuture};
use prepare::Prepared;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use task::TaskRun;
use tokio::time::{Sleep, sleep};
use trunkline_protocol::{
    Era, ErrorObject, Fault, FaultKind, Notification, Object, Outcome, Part, Raw, Reply,
    message::{InputRequest, InputRequests, InputRequired, ResultType, TaskState},
    method,
};

/// Most rounds of questions within one call.
const MAX_ROUNDS: u32 = 10;
/// Pause before the same request is sent again, times the number of rounds.
const STATE_ONLY_PAUSE: Duration = Duration::from_millis(50);

/// The handling of results that are not final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounds {
    /// The caller is of the server's era, so they are passed on.
    PassedOn,
    /// We handle them: questions go to the caller one by one, tasks are polled, and only the final
    /// result is passed on.
    Driven,
}

/// Starts a conversation. Nothing is sent before the reply is polled.
pub(crate) fn begin(
    connection: Arc<Inner>,
    ask: Ask,
    rounds: Rounds,
    timeouts: Option<Timeouts>,
    relay: Option<Relay>,
) -> Reply {
    Reply::new(Conversation {
        session: connection.session(),
        connection,
        stage: CallStage::Ready,
        step: Step::Call,
        original: None,
        ask,
        rounds,
        relay,
        guard: None,
        timeouts,
        clock: None,
        round: 0,
        renewed: Renewed::No,
        open: OpenQuestions::default(),
        task: None,
    })
}

struct Conversation {
    connection: Arc<Inner>,
    ask: Ask,
    /// The call's own parameters, which every round repeats; set before the second round.
    original: Option<Object>,
    rounds: Rounds,
    /// The caller that the call is passed on for; `None` for a call of our own.
    relay: Option<Relay>,
    guard: Option<LineGuard>,
    /// `None` for a subscription, or if the caller enforces the timeout.
    timeouts: Option<Timeouts>,
    clock: Option<Clock>,
    stage: CallStage,
    step: Step,
    round: u32,
    session: u64,
    renewed: Renewed,
    open: OpenQuestions,
    task: Option<TaskRun>,
}

enum CallStage {
    Ready,
    Preparing(BoxFuture<'static, Result<Prepared, Fault>>),
    Sent(Exchange),
    Renewing(BoxFuture<'static, Result<(), Loss>>),
    Asking(Answers),
    Waiting(Pin<Box<Sleep>>),
    Ended,
}

/// The purpose of the request in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Call,
    PollTask,
    AnswerTask,
    FetchTask,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Renewed {
    No,
    Once,
}

impl CallStage {
    fn pause(pause: Duration) -> Self {
        Self::Waiting(Box::pin(sleep(pause)))
    }
}

/// The effect of an arrival.
enum Next {
    Part(Part),
    Continue,
}

impl Stream for Conversation {
    type Item = Part;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Part>> {
        self.poll_part(cx).map(Some)
    }
}

impl Conversation {
    fn poll_part(&mut self, cx: &mut Context<'_>) -> Poll<Part> {
        loop {
            let next = match &mut self.stage {
                CallStage::Ready => self.start_round(),
                CallStage::Preparing(preparing) => match ready!(preparing.as_mut().poll(cx)) {
                    Ok(prepared) => self.send(prepared),
                    Err(fault) => end(Err(fault)),
                },
                CallStage::Sent(_) => ready!(self.poll_exchange(cx)),
                CallStage::Renewing(renewing) => {
                    let renewed = ready!(renewing.as_mut().poll(cx));
                    self.renewed(renewed)
                }
                CallStage::Asking(answers) => {
                    if let Some(question) = answers.next_question() {
                        return Poll::Ready(Part::Question(question));
                    }
                    let answers = ready!(answers.poll_collect(cx));
                    self.answered(answers)
                }
                CallStage::Waiting(pause) => {
                    ready!(pause.as_mut().poll(cx));
                    self.stage = CallStage::Ready;
                    Next::Continue
                }
                CallStage::Ended => end(Err(Fault::new(FaultKind::NotReady, "the call has ended"))),
            };
            if let Next::Part(part) = next {
                if matches!(part, Part::Final(_)) {
                    self.stage = CallStage::Ended;
                    self.task = None;
                    self.guard = None;
                }
                return Poll::Ready(part);
            }
        }
    }

    fn poll_exchange(&mut self, cx: &mut Context<'_>) -> Poll<Next> {
        let CallStage::Sent(exchange) = &mut self.stage else { return Poll::Ready(Next::Continue) };
        let Poll::Ready(arrival) = exchange.poll_next(cx) else {
            let Some(clock) = &mut self.clock else { return Poll::Pending };
            let expired = ready!(clock.poll(self.open.any_open(), cx));
            return Poll::Ready(expire(&self.ask, &expired));
        };
        Poll::Ready(match arrival {
            Arrival::Notification(notification) => {
                if let (method::PROGRESS, Some(clock)) = (notification.method.as_ref(), &mut self.clock) {
                    clock.progress();
                }
                self.notified(notification)
            }
            Arrival::Question(question) => Next::Part(Part::Question(self.open.track(question))),
            Arrival::Unanswerable(needed) => self.unanswerable(&needed),
            Arrival::Response(Ok(result)) => self.result(result),
            Arrival::Response(Err(error)) => self.error(error),
            Arrival::Lost(loss) => self.lost(loss),
        })
    }

    fn notified(&self, notification: Notification) -> Next {
        let Some(relay) = &self.relay else { return Next::Part(Part::Notification(notification)) };
        if notification.method == method::TOOLS_CHANGED {
            self.connection.facts.forget();
        }
        // A subscription passes on all it gets.
        if self.ask.method == method::LISTEN {
            return Next::Part(Part::Notification(notification));
        }
        match relay.route(notification) {
            Routed::Caller(notification) => return Next::Part(Part::Notification(notification)),
            Routed::AllListeners(notification) => self.connection.link.publish(notification),
            Routed::Dropped => {}
        }
        Next::Continue
    }

    /// A modern caller learns the missing capability; for a legacy one the question was declined.
    fn unanswerable(&self, needed: &Raw) -> Next {
        let modern = self.relay.as_ref().is_some_and(|relay| relay.caller.era() == Era::Modern);
        if !modern || !needed.is_object() {
            return Next::Continue;
        }
        let mut data = Object::new();
        data.set("requiredCapabilities", needed.clone());
        let fault = "the server asked a question that needs a capability which this client did not declare";
        end(Err(Fault::new(FaultKind::ClientCapabilityMissing, fault).with_data(data.to_raw())))
    }

    fn result(&mut self, mut result: Raw) -> Next {
        if self.relay.is_some() && self.ask.method == method::TOOLS_LIST {
            self.connection.learn(&result);
            if self.connection.has_header_rules() {
                result = without_bad_headers(result);
            }
        }
        if self.step == Step::Call
            && self.passes_tasks()
            && self.connection.runs_tasks()
            && let Some(created) = flat_created(&result)
        {
            let ended = TaskState::read(&result).is_ok_and(|state| state.status.is_final());
            // A task that has ended already is answered with its result.
            return if ended { self.task_started(&result) } else { end(Ok(created)) };
        }
        if self.rounds == Rounds::PassedOn {
            return end(Ok(result));
        }
        match (self.step, self.connection.speech.era()) {
            (Step::Call, Era::Modern) => match ResultType::of(&result) {
                ResultType::Complete => end(Ok(result)),
                ResultType::InputRequired => self.input_required(&result),
                ResultType::Task if self.passes_tasks() => end(Ok(result)),
                ResultType::Task => self.task_started(&result),
                ResultType::Unknown(kind) => {
                    bad(format!("the server's result is of an unknown type, `{kind}`"))
                }
            },
            (Step::Call, Era::Legacy) if self.ask.params.get("task").is_some() => self.task_started(&result),
            (Step::Call, Era::Legacy) => end(Ok(result)),
            (Step::FetchTask, _) => {
                self.task_ended();
                end(Ok(result))
            }
            (Step::PollTask, _) => self.task_polled(&result),
            (Step::AnswerTask, _) => self.poll_task_after_pause(),
        }
    }

    fn passes_tasks(&self) -> bool {
        self.relay.as_ref().is_some_and(|relay| relay.follows_tasks)
    }

    fn error(&mut self, error: ErrorObject) -> Next {
        let era = self.connection.speech.era();
        if self.step == Step::FetchTask {
            // Either the task failed, or the server no longer has it.
            self.task_ended();
        }
        if error.code == -32022 && self.renewed == Renewed::No && self.supports_ours(&error) {
            self.renewed = Renewed::Once;
            self.stage = CallStage::Ready;
            return Next::Continue;
        }
        if error.code == -32020 && self.relay.is_some() && self.renewed == Renewed::No {
            // The cached header rules are missing or stale: read them again and retry once.
            self.connection.facts.forget();
            self.renewed = Renewed::Once;
            self.stage = CallStage::Ready;
            return Next::Continue;
        }
        let asked = (error.code == -32042 && self.rounds == Rounds::Driven && self.step == Step::Call)
            .then(|| elicitations_of(&error))
            .flatten();
        if let Some(requests) = asked {
            return self.ask_all(requests, None);
        }
        let error = match &self.relay {
            Some(relay) => lift_error(error, era, relay.caller.era(), &self.ask.method),
            None => error,
        };
        end(Err(Fault::from_peer(error, era, &self.ask.method)))
    }

    /// True if a refusal of our revision lists it as supported: then a retry may succeed.
    fn supports_ours(&self, error: &ErrorObject) -> bool {
        handshake::supported(error)
            .iter()
            .any(|revision| revision == self.connection.speech.revision.as_str())
    }

    fn lost(&mut self, loss: Loss) -> Next {
        if loss.how != LossKind::Session || self.renewed == Renewed::Once {
            return end(Err(loss.fault));
        }
        self.renewed = Renewed::Once;
        let (connection, lost) = (self.connection.clone(), self.session);
        self.stage = CallStage::Renewing(Box::pin(async move { connection.renew(lost).await }));
        Next::Continue
    }

    /// The server did not know the session of the request, so it cannot have run it: it is sent
    /// again in the new session.
    fn renewed(&mut self, renewed: Result<(), Loss>) -> Next {
        if let Err(loss) = renewed {
            return end(Err(loss.fault));
        }
        self.stage = CallStage::Ready;
        Next::Continue
    }

    fn input_required(&mut self, result: &Raw) -> Next {
        match result.decode::<InputRequired>() {
            Ok(needed) => {
                let requests = needed.input_requests.unwrap_or_default();
                // Copied as raw text, because it must be repeated byte for byte.
                self.ask_all(requests, result.member("requestState"))
            }
            Err(error) => bad(format!("the server asks for input in a way that cannot be read: {error}")),
        }
    }

    fn ask_all(&mut self, requests: InputRequests, state: Option<Raw>) -> Next {
        self.round += 1;
        if self.round > MAX_ROUNDS {
            let fault = format!("the server asked for input more than {MAX_ROUNDS} times");
            return end(Err(Fault::new(FaultKind::TooManyRounds, fault)));
        }
        if self.task.is_none() {
            let original = self.original.get_or_insert_with(|| self.ask.params.clone());
            self.ask.params = original.clone();
            if let Some(state) = state {
                self.ask.params.set("requestState", state);
            }
        }
        if requests.0.is_empty() {
            self.stage = if self.round == 1 {
                CallStage::Ready
            } else {
                CallStage::pause(STATE_ONLY_PAUSE * self.round)
            };
        } else {
            self.stage = CallStage::Asking(Answers::to(requests));
        }
        Next::Continue
    }

    fn answered(&mut self, answers: Vec<(String, Outcome)>) -> Next {
        let mut responses = Object::new();
        for (key, answer) in answers {
            match answer {
                Ok(answer) => responses.set(key, answer),
                Err(fault) => return end(Err(fault)),
            }
        }
        self.stage = CallStage::Ready;
        match (&self.task, self.connection.speech.era()) {
            (Some(task), _) => {
                self.ask = task.update(&responses);
                self.step = Step::AnswerTask;
            }
            (None, Era::Modern) => self.ask.params.set("inputResponses", responses.to_raw()),
            // A legacy server that asked for a URL to be visited wants the same request again.
            (None, Era::Legacy) => {}
        }
        Next::Continue
    }
}

/// The URLs that error −32042 asks to visit, as questions.
fn elicitations_of(error: &ErrorObject) -> Option<InputRequests> {
    let elicitations: Vec<Raw> = error.data.as_ref()?.member_as("elicitations")?;
    let requests: Vec<_> = elicitations
        .into_iter()
        .enumerate()
        .map(|(index, params)| {
            let mut request = InputRequest::new(method::ELICIT);
            request.params = Some(params);
            (index.to_string(), request)
        })
        .collect();
    (!requests.is_empty()).then_some(InputRequests(requests))
}

fn expire(ask: &Ask, expired: &Expired) -> Next {
    end(Err(Fault::new(FaultKind::Timeout, format!("`{}` was not answered: {expired}", ask.method))))
}

fn end(outcome: Outcome) -> Next {
    Next::Part(Part::Final(outcome))
}

fn bad(why: String) -> Next {
    end(Err(Fault::new(FaultKind::BadAnswer, why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_in_flight_is_small_because_it_is_copied_where_it_begins() {
        let size = size_of::<Conversation>();
        assert!(size < 768, "{size} bytes");
    }
}
