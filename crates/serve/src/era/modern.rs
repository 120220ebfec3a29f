//! The modern era: requests are stateless, and a question to the client is a result that makes it
//! call again with the answers.

use super::{
    finish::finish,
    head::Head,
    list_cache::{Form, Tasks},
    parked::{CallKey, ParkedCall, Parking},
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

/// Legacy methods that the modern era removed.
const REMOVED: [&str; 5] = [
    method::INITIALIZE,
    method::PING,
    method::SET_LEVEL,
    method::RESOURCES_SUBSCRIBE,
    method::RESOURCES_UNSUBSCRIBE,
];

/// Questions asked together arrive one by one. Collecting them ends after `QUIET` without another
/// part of the reply, and after `GATHER` at the latest.
const QUIET: Duration = Duration::from_millis(50);
const GATHER: Duration = Duration::from_millis(250);

/// A validated modern request.
pub(crate) struct ModernRequest {
    pub(crate) id: RequestId,
    pub(crate) method: Cow<'static, str>,
    pub(super) params: Option<Raw>,
    head: Head,
}

/// The error response to a request that is refused before it reaches the handler.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) error: ErrorObject,
}

impl ModernRequest {
    /// Validates the version, the capabilities and the method.
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
        if REMOVED.contains(&request.method.as_ref()) {
            let error =
                ErrorObject::new(-32601, format!("`{}` does not exist in this revision", request.method));
            return Err(Refused { status: 404, error });
        }
        Ok(Self { id: request.id, method: request.method, params: request.params, head })
    }

    /// The `_meta` of the request.
    pub(crate) fn meta(&self) -> Option<Raw> {
        self.head.meta.clone()
    }

    /// Starts the call, or resumes a parked one. Only a client with its own channel has a session.
    pub(crate) fn begin(
        self,
        service: &Arc<Service>,
        caller: Arc<Caller>,
        session: Option<Arc<str>>,
    ) -> ModernReply {
        let started = Instant::now();
        let reply = self
            .resume(&service.parking, &caller)
            .unwrap_or_else(|fault| Resumed::Failed(Reply::ready(Err(fault))));
        let (reply, waiting) = match reply {
            Resumed::Failed(reply) => (Some(reply), None),
            Resumed::Nothing => {
                let mut call = Call::new(self.method.clone(), self.params.clone());
                call.caller = caller.clone();
                call.session = session;
                (Some(service.call(call)), None)
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
        let Some(mut call) = parking.take(&state, &self.call_key(caller, &params))? else {
            return Ok(Resumed::Nothing);
        };
        let answers = self.head.answers.as_ref().and_then(Raw::object).unwrap_or_default();
        call.answer(&answers);
        Ok(Resumed::Call(call))
    }

    fn members(&self) -> Object {
        self.params.as_ref().and_then(Raw::object).unwrap_or_default()
    }

    fn call_key<'a>(&'a self, caller: &'a Caller, params: &'a Object) -> CallKey<'a> {
        CallKey { caller: &caller.id, method: &self.method, params }
    }
}

enum Resumed {
    Nothing,
    Failed(Reply),
    Call(ParkedCall),
}

/// The reply to a modern client: notifications, then one response. Dropping it cancels the call.
pub(crate) struct ModernReply {
    service: Arc<Service>,
    request: ModernRequest,
    caller: Arc<Caller>,
    reply: Option<Reply>,
    /// A resumed call that still lacks answers; it is parked again.
    waiting: Option<ParkedCall>,
    /// Messages to send before any others.
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

    /// The next message. A subscription ends when the server starts to drain; any other call ends
    /// when the drain limit has passed.
    pub(crate) async fn next_until(&mut self, phase: &mut watch::Receiver<Phase>) -> Option<Envelope> {
        let end = if self.is_subscription() { Phase::Draining } else { Phase::Stopped };
        let message = tokio::select! {
            biased;
            message = self.next() => Some(message),
            _ = reached(phase, end) => None,
        };
        message.unwrap_or_else(|| Some(self.end()))
    }

    /// True for a subscription, which lasts until the client or the server ends it.
    pub(crate) fn is_subscription(&self) -> bool {
        self.request.method == method::LISTEN
    }

    /// Cancels the call because the server stops, and returns the response: a regular result for a
    /// subscription, an error for any other call.
    fn end(&mut self) -> Envelope {
        self.reply = None;
        self.waiting = None;
        self.ahead.clear();
        let text = "the server stopped before the call ended";
        self.respond(if self.is_subscription() {
            Ok(self.finished(&Raw::empty_object()))
        } else {
            Err(Fault::new(FaultKind::Cancelled, text).to_error(Era::Modern))
        })
    }

    /// Collects the questions that the tool asks now, parks the call, and returns them as the
    /// result.
    async fn ask(&mut self, mut reply: Reply, first: Question) -> Envelope {
        let mut questions = vec![first];
        let until = tokio::time::Instant::now() + GATHER;
        loop {
            let quiet = (tokio::time::Instant::now() + QUIET).min(until);
            let Ok(Some(part)) = tokio::time::timeout_at(quiet, reply.next()).await else { break };
            match part {
                Part::Question(question) => questions.push(question),
                // Sent before the questions, because those are the response and thus the last
                // message.
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

    /// Queues the last message, and returns the first of the queue.
    fn after_all(&mut self, last: Envelope) -> Envelope {
        self.ahead.push_back(last);
        self.ahead.pop_front().expect("a message was just pushed")
    }

    fn park(&mut self, call: ParkedCall) -> Envelope {
        let mut result = Object::new();
        result.set("resultType", Raw::string("input_required"));
        result.set("inputRequests", call.requests());
        let params = self.request.members();
        let outcome =
            self.service.parking.park(call, &self.request.call_key(&self.caller, &params)).map(|state| {
                result.set("requestState", Raw::string(&state));
                result.to_raw()
            });
        self.respond(outcome.map_err(|fault| fault.to_error(Era::Modern)))
    }

    fn finished(&self, result: &Raw) -> Raw {
        let identity = self.service.identity.get();
        if self.request.method == method::TOOLS_LIST && identity.is_some() {
            let form = Form { revision: Revision::NEWEST, tasks: Tasks::AsListed };
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

    /// Adds the subscription id, or the current progress token. `None` for progress that the
    /// client did not ask for.
    fn tagged(&self, mut notification: Notification) -> Option<Notification> {
        if self.request.method == method::LISTEN {
            notification.params = with_subscription(notification.params.as_ref(), &self.request.id);
        }
        if notification.method == method::PROGRESS {
            // A resumed call was started by an earlier request, whose token is no longer valid.
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

/// The error for a request without a version. A legacy `initialize` gets the supported versions.
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

/// The error for an unsupported version, with the versions that we support.
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
