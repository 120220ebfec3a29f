//! The modern era: every request stands alone, and a question is a result.

use super::{
    finish::finish,
    head::Head,
    kept::{Form, Tasks},
    parked::{ParkedCall, Parking, Whose},
};
use crate::{
    phase::{Phase, reached},
    service::Service,
};
use std::{
    borrow::Cow,
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::watch;
use trunkline_protocol::{
    Call, Caller, Envelope, Era, ErrorObject, Fault, FaultKind, Notification, Object, Part, Question, Raw,
    Reply, Request, RequestId, Response, Revision,
    message::meta::{PROGRESS_TOKEN, SUBSCRIPTION_ID},
    method,
};

/// Methods of the legacy era that the modern one does not have.
const GONE: [&str; 5] = [
    method::INITIALIZE,
    method::PING,
    method::SET_LEVEL,
    method::RESOURCES_SUBSCRIBE,
    method::RESOURCES_UNSUBSCRIBE,
];

/// Questions that are asked together come one after the other; so long a silence means that there are no more, and so long is
/// waited for all of them.
const QUIET: Duration = Duration::from_millis(50);
const GATHER: Duration = Duration::from_millis(250);

/// A modern request that was checked.
pub(crate) struct ModernRequest {
    pub(crate) id: RequestId,
    pub(crate) method: Cow<'static, str>,
    pub(super) params: Option<Raw>,
    head: Head,
}

/// A request that is answered without being executed.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) error: ErrorObject,
}

impl ModernRequest {
    /// Checks what every modern request must say about itself.
    pub(crate) fn read(request: Request, head: Head) -> Result<Self, Refused> {
        let Some(version) = head.version.as_ref().and_then(Raw::text) else {
            return Err(unversioned(&request));
        };
        if version.parse::<Revision>().map(Revision::era) != Ok(Era::Modern) {
            return Err(unsupported(&version));
        }
        if !head.capabilities.as_ref().is_some_and(Raw::is_object) {
            return Err(missing("clientCapabilities"));
        }
        if GONE.contains(&request.method.as_ref()) {
            let error =
                ErrorObject::new(-32601, format!("`{}` does not exist in this revision", request.method));
            return Err(Refused { status: 404, error });
        }
        Ok(Self { id: request.id, method: request.method, params: request.params, head })
    }

    /// What the client says of itself.
    pub(crate) fn meta(&self) -> Option<Raw> {
        self.head.meta.clone()
    }

    /// Begins the call, or brings a parked one back.
    pub(crate) fn begin(self, service: &Arc<Service>, caller: Arc<Caller>) -> ModernReply {
        let started = Instant::now();
        let reply = self
            .resume(&service.parking, &caller)
            .unwrap_or_else(|fault| Resumed::Anew(Reply::ready(Err(fault))));
        let (reply, waiting) = match reply {
            Resumed::Anew(reply) => (Some(reply), None),
            Resumed::Nothing => {
                let mut call = Call::new(self.method.clone(), self.params.clone());
                call.caller = caller.clone();
                (Some(service.handler.call(call)), None)
            }
            Resumed::Call(call) if call.questions.is_empty() => (Some(call.reply), None),
            Resumed::Call(call) => (None, Some(call)),
        };
        let ahead = VecDeque::new();
        ModernReply { service: service.clone(), request: self, caller, reply, waiting, ahead, started }
    }

    fn resume(&self, parking: &Parking, caller: &Caller) -> Result<Resumed, Fault> {
        let Some(state) = self.head.state.as_ref().and_then(Raw::text) else { return Ok(Resumed::Nothing) };
        let params = self.members();
        let Some(mut call) = parking.take(&state, &self.whose(caller, &params))? else {
            return Ok(Resumed::Nothing);
        };
        let answers = self.head.answers.as_ref().and_then(Raw::object).unwrap_or_default();
        call.answer(&answers);
        Ok(Resumed::Call(call))
    }

    fn members(&self) -> Object {
        self.params.as_ref().and_then(Raw::object).unwrap_or_default()
    }

    fn whose<'a>(&'a self, caller: &'a Caller, params: &'a Object) -> Whose<'a> {
        Whose { caller: &caller.id, method: &self.method, params }
    }
}

enum Resumed {
    Nothing,
    Anew(Reply),
    Call(ParkedCall),
}

/// What goes back to a modern client: notifications, then one response. Dropping it cancels the call.
pub(crate) struct ModernReply {
    service: Arc<Service>,
    request: ModernRequest,
    caller: Arc<Caller>,
    reply: Option<Reply>,
    /// A call whose client came back without all the answers.
    waiting: Option<ParkedCall>,
    /// Messages that are told before anything else.
    ahead: VecDeque<Envelope>,
    started: Instant,
}

impl ModernReply {
    /// The next message; `None` after the response.
    pub(crate) async fn next(&mut self) -> Option<Envelope> {
        if let Some(message) = self.ahead.pop_front() {
            return Some(message);
        }
        if let Some(call) = self.waiting.take() {
            return Some(self.park(call));
        }
        loop {
            match self.reply.as_mut()?.next().await? {
                Part::Notification(notification) => {
                    if let Some(notification) = self.tagged(notification) {
                        return Some(notification.into());
                    }
                }
                Part::Question(question) => {
                    let reply = self.reply.take()?;
                    return Some(Box::pin(self.ask(reply, question)).await);
                }
                Part::Detach => {}
                Part::Final(outcome) => {
                    self.reply = None;
                    self.service.metrics.call_ended(self.started.elapsed(), &outcome);
                    let outcome = match outcome {
                        Ok(result) => Ok(self.finished(&result)),
                        Err(fault) => Err(fault.to_error(Era::Modern)),
                    };
                    return Some(self.respond(outcome));
                }
            }
        }
    }

    /// The next message, while the server serves: a subscription ends when it begins to stop, another call when its time is up.
    pub(crate) async fn next_until(&mut self, phase: &mut watch::Receiver<Phase>) -> Option<Envelope> {
        let end = if self.is_subscription() { Phase::Draining } else { Phase::Stopped };
        let told = tokio::select! {
            biased;
            told = self.next() => Some(told),
            _ = reached(phase, end) => None,
        };
        told.unwrap_or_else(|| Some(self.end()))
    }

    /// Whether it is a subscription, which has no end of its own.
    pub(crate) fn is_subscription(&self) -> bool {
        self.request.method == method::LISTEN
    }

    /// Ends it before its time; what is returned is told last. A subscription ends as its client would expect, another call fails.
    fn end(&mut self) -> Envelope {
        self.reply = None;
        self.waiting = None;
        self.ahead.clear();
        let text = "the server stopped before the call had ended";
        self.respond(if self.is_subscription() {
            Ok(self.finished(&Raw::empty_object()))
        } else {
            Err(Fault::new(FaultKind::Cancelled, text).to_error(Era::Modern))
        })
    }

    /// Asks the client everything that the tool wants to know by now.
    async fn ask(&mut self, mut reply: Reply, first: Question) -> Envelope {
        let mut questions = vec![first];
        let until = tokio::time::Instant::now() + GATHER;
        loop {
            let quiet = (tokio::time::Instant::now() + QUIET).min(until);
            let Ok(Some(part)) = tokio::time::timeout_at(quiet, reply.next()).await else { break };
            match part {
                Part::Question(question) => questions.push(question),
                // Told before the questions, because they are the answer to this request and its last message.
                Part::Notification(notification) => {
                    self.ahead.extend(self.tagged(notification).map(Envelope::from));
                }
                Part::Detach => {}
                Part::Final(outcome) => {
                    let outcome = outcome.map(|raw| self.finished(&raw)).map_err(|f| f.to_error(Era::Modern));
                    return self.after_all(self.respond(outcome));
                }
            }
        }
        let name = |(index, question): (usize, Question)| {
            (question.key.clone().unwrap_or_else(|| format!("question{}", index + 1)), question)
        };
        let questions = questions.into_iter().enumerate().map(name).collect();
        let parked = self.park(ParkedCall { reply, questions });
        self.after_all(parked)
    }

    /// The last message, behind those that go ahead of it.
    fn after_all(&mut self, last: Envelope) -> Envelope {
        self.ahead.push_back(last);
        self.ahead.pop_front().expect("one was just put there")
    }

    fn park(&mut self, call: ParkedCall) -> Envelope {
        let mut result = Object::new();
        result.set("resultType", Raw::string("input_required"));
        result.set("inputRequests", call.requests());
        let params = self.request.members();
        let outcome =
            self.service.parking.park(call, &self.request.whose(&self.caller, &params)).map(|state| {
                result.set("requestState", Raw::string(&state));
                result.to_raw()
            });
        self.respond(outcome.map_err(|fault| fault.to_error(Era::Modern)))
    }

    fn finished(&self, result: &Raw) -> Raw {
        let identity = self.service.identity.get();
        if self.request.method == method::TOOLS_LIST && identity.is_some() {
            let form = Form { revision: Revision::NEWEST, tasks: Tasks::AsTold };
            return self.service.lists.get(result, form, || finish(result, &self.request.method, identity));
        }
        let result = finish(result, &self.request.method, identity);
        if self.request.method == method::DISCOVER {
            return super::finish::with_versions(&result, self.service.options.eras);
        }
        if self.request.method != method::LISTEN {
            return result;
        }
        with_subscription(Some(&result), &self.request.id).unwrap_or(result)
    }

    /// A notification of a subscription names the request it belongs to.
    fn tagged(&self, mut notification: Notification) -> Option<Notification> {
        if self.request.method == method::LISTEN {
            notification.params = with_subscription(notification.params.as_ref(), &self.request.id);
        }
        if notification.method == method::PROGRESS {
            // The call may have begun with an earlier request, whose token has ended with it.
            let token = self.request.head.meta.as_ref().and_then(|meta| meta.member(PROGRESS_TOKEN))?;
            let mut params = notification.params.as_ref().and_then(Raw::object)?;
            params.set(PROGRESS_TOKEN, token);
            notification.params = Some(params.to_raw());
        }
        Some(notification)
    }

    fn respond(&self, outcome: Result<Raw, ErrorObject>) -> Envelope {
        Response::new(self.request.id.clone(), outcome).into()
    }
}

fn with_subscription(payload: Option<&Raw>, id: &RequestId) -> Option<Raw> {
    trunkline_protocol::message::meta::set(payload, [(SUBSCRIPTION_ID, id.raw().clone())]).ok()
}

/// A legacy client that comes to a modern server learns from the error what it would have to speak.
fn unversioned(request: &Request) -> Refused {
    let requested = request.params.as_ref().and_then(|params| params.member_as::<String>("protocolVersion"));
    match requested {
        Some(requested) if request.method == method::INITIALIZE => unsupported(&requested),
        _ => missing("protocolVersion"),
    }
}

fn missing(name: &str) -> Refused {
    let text = format!("`params._meta` must have `io.modelcontextprotocol/{name}`");
    Refused { status: 400, error: ErrorObject::new(-32602, text) }
}

/// The versions we offer to a client that came with another one.
pub(crate) fn unsupported(requested: &str) -> Refused {
    let mut error = ErrorObject::new(-32022, format!("protocol version `{requested}` is not supported"));
    error.data =
        Some(serde_json::json!({"supported": [Revision::NEWEST.as_str()], "requested": requested}).into());
    Refused { status: 400, error }
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        let status = if fault.kind() == FaultKind::InvalidRequest { 400 } else { fault.entry().http_status };
        Self { status, error: fault.to_error(Era::Modern) }
    }
}
