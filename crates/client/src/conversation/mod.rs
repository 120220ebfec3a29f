//! Conversation: one call, from its first request to its final result, over as many rounds as the server needs.
//!
//! ```text
//! Ready ⇒ Flying            the request goes out
//! Flying ⇒ Flying           notifications and questions pass to the caller
//! Flying ⇒ Asking           the server needs input before it can go on
//! Flying ⇒ Waiting          a task runs on the server's side, or the server only wants to be asked again
//! Flying ⇒ Ready            the session was lost and is begun anew
//! Asking, Waiting ⇒ Ready   the next round
//! Flying ⇒ Ended            the final result
//! ```

mod answers;
mod safety;
mod task;

use crate::{
    connection::Inner,
    era::{Ask, flat_created, lift_error},
    facts::{Known, without_bad_headers},
    handshake,
    inbox::{Arrival, Loss, LossKind},
    link::Exchange,
    relay::{Heard, Relay},
    resilience::{Deadline, Expired, Safety, Timeouts},
    switchboard::Standing,
    turns::Turn,
};
use answers::{Answers, OpenQuestions};
use futures_util::stream;
use std::{sync::Arc, time::Duration};
use task::TaskRun;
use trunkline_protocol::{
    Era, ErrorObject, Fault, FaultKind, Notification, Object, Outcome, Part, Raw, Reply,
    message::{
        InputRequest, InputRequests, InputRequired, ResultType, TaskState, TaskSupport, header_values,
        tasks_needed,
    },
    method,
};

pub(crate) use safety::safety_of;

/// Rounds of questions within one call, before the server is taken for one that never ends.
const MAX_ROUNDS: u32 = 10;
/// How long to wait before asking again when a server wants nothing but to be asked again.
const STATE_ONLY_PAUSE: Duration = Duration::from_millis(50);

/// Who deals with results that are not the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounds {
    /// The caller, who knows them: they are passed on as results.
    PassedOn,
    /// We: questions go to the caller one by one, tasks are waited for, and the result is the end.
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
    let conversation = Conversation {
        session: connection.session(),
        connection,
        stage: Stage::Ready,
        step: Step::Call,
        original: ask.params.clone(),
        ask,
        rounds,
        relay,
        turn: None,
        timeouts,
        deadline: None,
        round: 0,
        renewed: Renewed::No,
        open: OpenQuestions::default(),
        task: None,
    };
    Reply::new(stream::unfold(conversation, |mut conversation| async move {
        let part = conversation.next().await;
        Some((part, conversation))
    }))
}

struct Conversation {
    connection: Arc<Inner>,
    ask: Ask,
    /// The parameters of the call itself, which every round repeats.
    original: Object,
    rounds: Rounds,
    /// Whom the call is passed on for; `None` for a call of our own.
    relay: Option<Relay>,
    turn: Option<Turn>,
    /// `None` for a call that lasts as long as somebody listens.
    timeouts: Option<Timeouts>,
    deadline: Option<Deadline>,
    stage: Stage,
    step: Step,
    round: u32,
    session: u64,
    renewed: Renewed,
    open: OpenQuestions,
    task: Option<TaskRun>,
}

enum Stage {
    Ready,
    Flying(Exchange),
    Asking(Answers),
    Waiting(Duration),
    Ended,
}

/// What the request in flight is for.
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

/// What an arrival leads to.
enum Next {
    Part(Part),
    Continue,
}

impl Conversation {
    async fn next(&mut self) -> Part {
        loop {
            let next = match &mut self.stage {
                Stage::Ready => self.send().await,
                Stage::Flying(_) => self.fly().await,
                Stage::Asking(answers) => {
                    if let Some(question) = answers.next_question() {
                        return Part::Question(question);
                    }
                    let answers = answers.collect().await;
                    self.answered(answers)
                }
                Stage::Waiting(pause) => {
                    tokio::time::sleep(*pause).await;
                    self.stage = Stage::Ready;
                    Next::Continue
                }
                Stage::Ended => {
                    Next::Part(Part::Final(Err(Fault::new(FaultKind::NotReady, "the call has ended"))))
                }
            };
            if let Next::Part(part) = next {
                if matches!(part, Part::Final(_)) {
                    self.stage = Stage::Ended;
                    self.task = None;
                    self.turn = None;
                }
                return part;
            }
        }
    }

    async fn send(&mut self) -> Next {
        if let Err(fault) = self.connection.ready().await {
            return end(Err(fault));
        }
        if self.relay.is_some()
            && let Err(fault) = self.prepare().await
        {
            return end(Err(fault));
        }
        let start =
            |timeouts| Deadline::start(timeouts, None).expect("the limits were checked when they were made");
        self.deadline = self.timeouts.as_ref().map(start);
        self.session = self.connection.session();
        self.stage = Stage::Flying(self.connection.exchange(&self.ask));
        Next::Continue
    }

    /// What a call of somebody else's needs before it goes out.
    async fn prepare(&mut self) -> Result<(), Fault> {
        let Some(relay) = &mut self.relay else { return Ok(()) };
        if let Some(turn) = relay.turn.take() {
            self.turn = Some(turn);
        }
        if let Some(level) = relay.level {
            // Boxed, like whatever else few calls need: each call carries the room for what it may wait for.
            Box::pin(self.connection.want_level(level, relay.caller.era())).await;
        }
        let modern = relay.caller.era() == Era::Modern;
        if self.step == Step::Call && self.ask.method == method::TOOLS_CALL {
            let task = self.dress_for_tool().await;
            if task == TaskSupport::Required && modern && !self.passes_tasks() {
                return Err(tasks_needed());
            }
        }
        if let (None, Era::Legacy, Standing::Askable(subject)) =
            (&self.turn, self.connection.speech.era(), &self.ask.standing)
        {
            let limit = self.connection.options.timeouts.call();
            self.turn = Some(self.connection.link.board().turns.take(subject, limit).await?);
        }
        Ok(())
    }

    /// Arguments that the tool wants as headers, and a task where the server takes nothing else.
    async fn dress_for_tool(&mut self) -> TaskSupport {
        let name = self.original.get("name").and_then(Raw::text);
        let fact = match self.connection.known_fact(name.as_deref().unwrap_or_default()) {
            Known::Fact(fact) => Some(fact),
            Known::None => None,
            Known::Unsure => Box::pin(self.connection.find_fact(name.as_deref().unwrap_or_default())).await,
        };
        let Some(fact) = fact else { return TaskSupport::Forbidden };
        let arguments = self.original.get("arguments").cloned().unwrap_or_else(Raw::empty_object);
        self.ask.mirrored = header_values(&fact.headers, &arguments);
        if !self.connection.runs_tasks() {
            return TaskSupport::Forbidden;
        }
        let wanted = match fact.task {
            TaskSupport::Required => self.rounds == Rounds::Driven || self.passes_tasks(),
            TaskSupport::Optional => self.passes_tasks(),
            _ => false,
        };
        let task = self.original.remove("task").unwrap_or_else(Raw::empty_object);
        self.ask.params.remove("task");
        if wanted {
            self.original.set("task", task.clone());
            self.ask.params.set("task", task);
        }
        fact.task.clone()
    }

    async fn fly(&mut self) -> Next {
        let Stage::Flying(exchange) = &mut self.stage else { return Next::Continue };
        let arrival = match &self.deadline {
            None => exchange.next().await,
            Some(deadline) => {
                let mut next = std::pin::pin!(exchange.next());
                loop {
                    tokio::select! {
                        biased;
                        arrival = &mut next => break arrival,
                        // A question that a person thinks about stops the clock of the call, though not that of its ceiling.
                        Expired::Call { .. } = deadline.expired(), if self.open.any() => deadline.progress(),
                        expired = deadline.expired() => return expire(&self.ask, &expired),
                    }
                }
            }
        };
        match arrival {
            Arrival::Notification(notification) => {
                if let (method::PROGRESS, Some(deadline)) = (notification.method.as_ref(), &self.deadline) {
                    deadline.progress();
                }
                self.heard(notification)
            }
            Arrival::Question(question) => Next::Part(Part::Question(self.open.track(question))),
            Arrival::Unanswerable(needed) => self.unanswerable(&needed),
            Arrival::Response(Ok(result)) => self.result(result),
            Arrival::Response(Err(error)) => self.error(error),
            Arrival::Lost(loss) => Box::pin(self.lost(loss)).await,
        }
    }

    fn heard(&self, notification: Notification) -> Next {
        let Some(relay) = &self.relay else { return Next::Part(Part::Notification(notification)) };
        if notification.method == method::TOOLS_CHANGED {
            self.connection.facts.forget();
        }
        // What a listener hears is what it listens for.
        if self.ask.method == method::LISTEN {
            return Next::Part(Part::Notification(notification));
        }
        match relay.hear(notification) {
            Heard::Part(notification) => return Next::Part(Part::Notification(notification)),
            Heard::Everyone(notification) => self.connection.link.overhear(notification),
            Heard::Nothing => {}
        }
        Next::Continue
    }

    /// A modern caller is told what it would have had to offer; a legacy server was told by its refusal.
    fn unanswerable(&self, needed: &Raw) -> Next {
        let modern = self.relay.as_ref().is_some_and(|relay| relay.caller.era() == Era::Modern);
        if !modern || !needed.is_object() {
            return Next::Continue;
        }
        let mut data = Object::new();
        data.set("requiredCapabilities", needed.clone());
        let fault = "the server asks what this client did not offer to answer";
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
            // What has ended already is told as what it is: a result.
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
            (Step::Call, Era::Legacy) if self.original.get("task").is_some() => self.task_started(&result),
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
            // What the task failed with, or that it is not there any more.
            self.task_ended();
        }
        if error.code == -32022 && self.renewed == Renewed::No && self.supports_ours(&error) {
            self.renewed = Renewed::Once;
            self.stage = Stage::Ready;
            return Next::Continue;
        }
        if error.code == -32020 && self.relay.is_some() && self.renewed == Renewed::No {
            // The tool's schema is not what we thought, or we never looked: look, and try once more.
            self.connection.facts.forget();
            self.renewed = Renewed::Once;
            self.stage = Stage::Ready;
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

    /// Whether a refusal of our revision names it as supported: then the refusal was a passing one.
    fn supports_ours(&self, error: &ErrorObject) -> bool {
        handshake::supported(error)
            .iter()
            .any(|revision| revision == self.connection.speech.revision.as_str())
    }

    async fn lost(&mut self, loss: Loss) -> Next {
        if loss.how != LossKind::Session || self.renewed == Renewed::Once {
            return end(Err(loss.fault));
        }
        self.renewed = Renewed::Once;
        if let Err(loss) = self.connection.renew(self.session).await {
            return end(Err(loss.fault));
        }
        if self.ask.safety == Safety::Repeatable {
            self.stage = Stage::Ready;
            return Next::Continue;
        }
        let fault = "the server forgot our session; a new one has begun, but the call was not repeated";
        end(Err(Fault::new(FaultKind::ConnectionLost, fault)))
    }

    fn input_required(&mut self, result: &Raw) -> Next {
        match result.decode::<InputRequired>() {
            Ok(needed) => {
                let requests = needed.input_requests.unwrap_or_default();
                // Taken from the text itself: it has to be repeated byte for byte.
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
            self.ask.params = self.original.clone();
            if let Some(state) = state {
                self.ask.params.set("requestState", state);
            }
        }
        if requests.0.is_empty() {
            self.stage =
                if self.round == 1 { Stage::Ready } else { Stage::Waiting(STATE_ONLY_PAUSE * self.round) };
        } else {
            self.stage = Stage::Asking(Answers::to(requests));
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
        self.stage = Stage::Ready;
        match (&self.task, self.connection.speech.era()) {
            (Some(task), _) => {
                self.ask = task.update(&responses);
                self.step = Step::AnswerTask;
            }
            (None, Era::Modern) => self.ask.params.set("inputResponses", responses.to_raw()),
            // A legacy server that wanted an address visited only wants to be asked again.
            (None, Era::Legacy) => {}
        }
        Next::Continue
    }
}

/// The addresses that error −32042 wants visited, as questions.
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

    fn size_of_future<'a, F: Future>(_: impl Fn(&'a mut Conversation) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_call_in_flight_is_small_because_it_is_copied_where_it_begins() {
        let size = size_of::<Conversation>() + size_of_future(Conversation::next);
        assert!(size < 2560, "{size} bytes");
    }
}
