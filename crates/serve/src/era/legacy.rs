//! The legacy era: requests are lifted into the newest shape, and what comes back is lowered to what the client may hear.

use super::{
    declared::declared,
    head::Head,
    kept::{Form, Tasks},
    lower::{lower, with_task_support},
};
use crate::{
    service::Service,
    session::{self, Always, Session, Underway},
    tasks,
};
use futures_core::Stream;
use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Instant,
};
use trunkline_protocol::{
    Call, Envelope, Notification, Object, Part, Raw, Reply, Request, RequestId, Response, Revision,
    message::{
        Level, LogParams, follow_tasks,
        meta::{CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION, SERVER_INFO},
    },
    method,
};

/// What a session tells with every request, as a modern client would. What the client wrote itself stays.
pub(crate) fn lifted_meta(session: &Session, own: Option<&Raw>) -> Object {
    let mut meta = own.and_then(Raw::object).unwrap_or_default();
    meta.set(PROTOCOL_VERSION, Raw::string(Revision::NEWEST.as_str()));
    meta.set(CLIENT_CAPABILITIES, declared(&session.client.capabilities, session.revision));
    if let Some(info) = &session.client.info {
        meta.set(CLIENT_INFO, info.clone());
    }
    meta.set(LOG_LEVEL, Raw::string(session.level().as_str()));
    meta
}

/// A legacy request as a call in the newest shape.
pub(crate) fn lift(request: &Request, head: &Head, session: &Session) -> Call {
    let mut call = Call::new(request.method.clone(), Some(lifted(request.params.as_ref(), head, session)));
    call.caller = session.caller.clone();
    call.revision = session.revision;
    call
}

fn lifted(own: Option<&Raw>, head: &Head, session: &Session) -> Raw {
    let always = session.always(|| lifted_meta(session, None).to_raw());
    let follows = session.revision.has_core_tasks() && head.task.is_some();
    let strange = head.answers.is_some() || head.state.is_some();
    if head.meta.is_none() && !follows && !strange {
        let joined = own.and_then(|own| own.joined(&always.params));
        return joined.unwrap_or(always.params);
    }
    let mut params = own.and_then(Raw::object).unwrap_or_default();
    // A client of this era cannot know these, so they are not its to set.
    for name in ["inputResponses", "requestState"] {
        params.remove(name);
    }
    let meta = if follows {
        let mut meta = lifted_meta(session, head.meta.as_ref());
        follow_tasks(&mut meta);
        meta.to_raw()
    } else {
        head.meta.as_ref().map_or(always.meta.clone(), |own| beside(own, &always, session))
    };
    params.set("_meta", meta);
    params.to_raw()
}

/// What the client says of this request, and what it says of all.
fn beside(own: &Raw, always: &Always, session: &Session) -> Raw {
    let clash = own.pick([PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL]);
    let joined = if clash.iter().all(Option::is_none) { own.joined(&always.meta) } else { None };
    joined.unwrap_or_else(|| lifted_meta(session, Some(own)).to_raw())
}

/// The answer to `initialize`, made of the handler's introduction.
pub(crate) fn initialize_result(introduction: &Raw, revision: Revision) -> Raw {
    let members = introduction.object().unwrap_or_default();
    let identity = members.get("_meta").and_then(|meta| meta.member(SERVER_INFO));
    let unnamed = || serde_json::json!({"name": "trunkline", "version": env!("CARGO_PKG_VERSION")}).into();
    let mut result = Object::new();
    result.set("protocolVersion", Raw::string(revision.as_str()));
    result.set("capabilities", super::declared::offered(members.get("capabilities"), revision));
    result.set("serverInfo", identity.unwrap_or_else(unnamed));
    for (name, value) in members.iter() {
        match name {
            "capabilities" | "protocolVersion" | "serverInfo" | "supportedVersions" | "resultType"
            | "ttlMs" | "cacheScope" => {}
            "_meta" => {
                if let Some(rest) = unsigned(value) {
                    result.set("_meta", rest);
                }
            }
            // `instructions`, and whatever else the server says of itself.
            _ => result.set(name.to_owned(), value.clone()),
        }
    }
    result.to_raw()
}

/// `_meta` without the identity, which has a place of its own here; `None` when nothing is left.
fn unsigned(meta: &Raw) -> Option<Raw> {
    let mut members = meta.object()?;
    members.remove(SERVER_INFO);
    (!members.is_empty()).then(|| members.to_raw())
}

/// What goes back to a legacy client.
pub(crate) enum Out {
    Message(Envelope),
    /// The client may hang up and come back.
    Detach,
}

/// The messages of one legacy request. Dropping it cancels the call.
pub(crate) struct LegacyReply {
    service: Arc<Service>,
    session: Arc<Session>,
    id: RequestId,
    method: std::borrow::Cow<'static, str>,
    reply: Option<Reply>,
    /// Questions that were put to the client.
    asked: Vec<RequestId>,
    /// Ids of addresses that the client was asked to visit.
    visits: Vec<String>,
    /// The response, while something has to be said before it.
    last: Option<Box<Envelope>>,
    started: Instant,
}

impl LegacyReply {
    pub(crate) fn begin(
        service: &Arc<Service>,
        session: &Arc<Session>,
        request: Request,
        head: &Head,
    ) -> Self {
        let reply = if request.method == method::RESOURCES_SUBSCRIBE {
            session::subscribe(service, session, request.params.as_ref())
        } else if tasks::concerns(session, &request, head) {
            tasks::begin(service, session, &request, head)
        } else {
            service.handler.call(lift(&request, head, session))
        };
        Self {
            service: service.clone(),
            session: session.clone(),
            id: request.id,
            method: request.method,
            reply: Some(reply),
            asked: Vec::new(),
            visits: Vec::new(),
            last: None,
            started: Instant::now(),
        }
    }

    /// The next message; `None` after the response.
    pub(crate) async fn next(&mut self) -> Option<Out> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The next message; `None` after the response, or once the client wants none any more.
    pub(crate) fn poll_unless(&mut self, cancelled: &Underway, cx: &mut Context<'_>) -> Poll<Option<Out>> {
        match self.poll_next(cx) {
            Poll::Pending => cancelled.poll_cancelled(cx).map(|()| None),
            Poll::Ready(out) => Poll::Ready(out),
        }
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Out>> {
        if let Some(last) = self.last.take() {
            return Poll::Ready(Some(self.told(*last)));
        }
        loop {
            let Some(reply) = &mut self.reply else { return Poll::Ready(None) };
            let Some(part) = ready!(Pin::new(reply).poll_next(cx)) else { return Poll::Ready(None) };
            if let Some(out) = self.heard(part) {
                return Poll::Ready(Some(out));
            }
        }
    }

    /// What the client hears of a part, if anything.
    fn heard(&mut self, part: Part) -> Option<Out> {
        match part {
            Part::Notification(notification) => {
                self.may_hear(&notification).then(|| Out::Message(notification.into()))
            }
            Part::Question(question) => {
                let asking = self.session.ask(question)?;
                self.visits.extend(asking.visit);
                self.asked.push(asking.id);
                Some(Out::Message(asking.request))
            }
            Part::Detach => Some(Out::Detach),
            Part::Final(outcome) => {
                self.reply = None;
                self.service.metrics.call_ended(self.started.elapsed(), &outcome);
                let outcome = match outcome {
                    Ok(result) => Ok(self.lowered(&result)),
                    Err(fault) => Err(fault.to_error(self.session.revision.era())),
                };
                let response = Response::new(self.id.clone(), outcome).into();
                Some(self.told(response))
            }
        }
    }

    fn lowered(&self, result: &Raw) -> Raw {
        let revision = self.session.revision;
        if self.method != method::TOOLS_LIST {
            return lower(result, &self.method, revision);
        }
        // A handler that runs tasks decides by itself; the client of this era may ask for one.
        let optional = revision.has_core_tasks() && self.service.runs_tasks();
        let tasks = if optional { Tasks::Optional } else { Tasks::AsTold };
        self.service.lists.get(result, Form { revision, tasks }, || {
            let list = lower(result, &self.method, revision);
            if optional { with_task_support(&list) } else { list }
        })
    }

    /// Before the end, the client hears that its visits counted.
    fn told(&mut self, response: Envelope) -> Out {
        let Some(visit) = self.visits.pop() else { return Out::Message(response) };
        self.last = Some(Box::new(response));
        let params = serde_json::json!({"elicitationId": visit});
        Out::Message(Notification::new(method::ELICITATION_COMPLETE, Some(params.into())).into())
    }

    /// The level may have changed since the call began.
    fn may_hear(&self, notification: &Notification) -> bool {
        if notification.method != method::MESSAGE {
            return true;
        }
        let params = notification.params.as_ref().and_then(|raw| raw.decode::<LogParams>().ok());
        let level = params.and_then(|params| params.severity().ok());
        level.is_none_or(|level: Level| level >= self.session.level())
    }
}

impl Drop for LegacyReply {
    fn drop(&mut self) {
        self.session.withdraw(&self.asked);
    }
}
