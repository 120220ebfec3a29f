//! The legacy era: requests are lifted to the newest revision, and replies are lowered to the
//! client's revision.

use super::{
    declared::declared,
    head::Head,
    list_cache::{Form, Tasks},
    lower::{lower, with_task_support},
};
use crate::{
    service::Service,
    session::{self, Session, SessionMeta, Underway},
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

/// The `_meta` that a modern client would send, built from the session. Other members of the
/// client's own `_meta` are kept.
pub(crate) fn lifted_meta(session: &Session, own: Option<&Raw>) -> Object {
    let mut meta = own.and_then(Raw::object).unwrap_or_default();
    meta.set(PROTOCOL_VERSION, Raw::string(Revision::NEWEST.as_str()));
    meta.set(CLIENT_CAPABILITIES, declared(&session.client.capabilities, session.revision));
    if let Some(info) = &session.client.info {
        meta.set(CLIENT_INFO, info.clone());
    }
    match session.level() {
        Some(level) => meta.set(LOG_LEVEL, Raw::string(level.as_str())),
        None => drop(meta.remove(LOG_LEVEL)),
    }
    meta
}

/// Converts a legacy request to a call of the newest revision.
pub(crate) fn lift(request: &Request, head: &Head, session: &Session) -> Call {
    let mut call = Call::new(request.method.clone(), Some(lifted(request.params.as_ref(), head, session)));
    call.caller = session.caller.clone();
    call.revision = session.revision;
    call.session.clone_from(&session.key);
    call
}

fn lifted(own: Option<&Raw>, head: &Head, session: &Session) -> Raw {
    let session_meta = session.meta(|| lifted_meta(session, None).to_raw());
    let follows = session.revision.has_core_tasks() && head.task.is_some();
    let strange = head.answers.is_some() || head.state.is_some();
    if head.meta.is_none() && !follows && !strange {
        let joined = own.and_then(|own| own.joined(&session_meta.params));
        return joined.unwrap_or(session_meta.params);
    }
    let mut params = own.and_then(Raw::object).unwrap_or_default();
    // The legacy era does not define these members, so its clients must not set them.
    for name in ["inputResponses", "requestState"] {
        params.remove(name);
    }
    let meta = if follows {
        let mut meta = lifted_meta(session, head.meta.as_ref());
        follow_tasks(&mut meta);
        meta.to_raw()
    } else {
        head.meta.as_ref().map_or(session_meta.meta.clone(), |own| join_meta(own, &session_meta, session))
    };
    params.set("_meta", meta);
    params.to_raw()
}

/// Joins the request's own `_meta` with that of the session. The session's members take
/// precedence.
fn join_meta(own: &Raw, session_meta: &SessionMeta, session: &Session) -> Raw {
    let clash = own.pick([PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL]);
    let joined = if clash.iter().all(Option::is_none) { own.joined(&session_meta.meta) } else { None };
    joined.unwrap_or_else(|| lifted_meta(session, Some(own)).to_raw())
}

/// Builds the result of `initialize` from the handler's `server/discover` result.
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
                if let Some(rest) = without_identity(value) {
                    result.set("_meta", rest);
                }
            }
            // `instructions`, and any members that we do not know.
            _ => result.set(name.to_owned(), value.clone()),
        }
    }
    result.to_raw()
}

/// `_meta` without the identity, which `initialize` returns as `serverInfo`; `None` if empty.
fn without_identity(meta: &Raw) -> Option<Raw> {
    let mut members = meta.object()?;
    members.remove(SERVER_INFO);
    (!members.is_empty()).then(|| members.to_raw())
}

/// An item of the reply to a legacy client.
pub(crate) enum Out {
    Message(Envelope),
    /// The client may disconnect and resume the stream later.
    Detach,
}

/// The messages of one legacy request. Dropping it cancels the call.
pub(crate) struct LegacyReply {
    service: Arc<Service>,
    session: Arc<Session>,
    id: RequestId,
    method: std::borrow::Cow<'static, str>,
    reply: Option<Reply>,
    /// Ids of the questions sent to the client.
    asked: Vec<RequestId>,
    /// Ids of URL elicitations that still need a completion notification.
    elicitation_ids: Vec<String>,
    /// The response, held back until all completion notifications are sent.
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
            elicitation_ids: Vec::new(),
            last: None,
            started: Instant::now(),
        }
    }

    /// The next message; `None` after the response.
    pub(crate) async fn next(&mut self) -> Option<Out> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The next message; `None` after the response, or when the client cancelled the request.
    pub(crate) fn poll_unless(&mut self, cancelled: &Underway, cx: &mut Context<'_>) -> Poll<Option<Out>> {
        match self.poll_next(cx) {
            Poll::Pending => cancelled.poll_cancelled(cx).map(|()| None),
            ready @ Poll::Ready(_) => ready,
        }
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Out>> {
        if let Some(last) = self.last.take() {
            return Poll::Ready(Some(self.completions_first(*last)));
        }
        loop {
            let Some(reply) = &mut self.reply else { return Poll::Ready(None) };
            let Some(part) = ready!(Pin::new(reply).poll_next(cx)) else { return Poll::Ready(None) };
            if let Some(out) = self.convert(part) {
                return Poll::Ready(Some(out));
            }
        }
    }

    /// Converts a part of the handler's reply; `None` if the client gets nothing for it.
    fn convert(&mut self, part: Part) -> Option<Out> {
        match part {
            Part::Notification(notification) => {
                self.passes_level(&notification).then(|| Out::Message(notification.into()))
            }
            Part::Question(question) => {
                let asking = self.session.ask(question)?;
                self.elicitation_ids.extend(asking.elicitation_id);
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
                Some(self.completions_first(response))
            }
        }
    }

    fn lowered(&self, result: &Raw) -> Raw {
        let revision = self.session.revision;
        if self.method != method::TOOLS_LIST {
            return lower(result, &self.method, revision);
        }
        // A modern handler decides itself which calls become tasks, so it lists no `taskSupport`.
        // A 2025-11-25 client may ask for a task with any tool.
        let optional = revision.has_core_tasks() && self.service.runs_tasks();
        let tasks = if optional { Tasks::Optional } else { Tasks::AsListed };
        self.service.lists.get(result, Form { revision, tasks }, || {
            let list = lower(result, &self.method, revision);
            if optional { with_task_support(&list) } else { list }
        })
    }

    /// Returns the response, or first a completion notification for each URL elicitation.
    fn completions_first(&mut self, response: Envelope) -> Out {
        let Some(elicitation_id) = self.elicitation_ids.pop() else { return Out::Message(response) };
        self.last = Some(Box::new(response));
        let params = serde_json::json!({"elicitationId": elicitation_id});
        Out::Message(Notification::new(method::ELICITATION_COMPLETE, Some(params.into())).into())
    }

    /// Filters log messages by the session's level, which may have changed since the call began.
    fn passes_level(&self, notification: &Notification) -> bool {
        if notification.method != method::MESSAGE {
            return true;
        }
        let params = notification.params.as_ref().and_then(|raw| raw.decode::<LogParams>().ok());
        let level = params.and_then(|params| params.severity().ok());
        level.is_none_or(|level: Level| level >= self.session.level().unwrap_or(Level::UNSET))
    }
}

impl Drop for LegacyReply {
    fn drop(&mut self) {
        self.session.withdraw(&self.asked);
    }
}
