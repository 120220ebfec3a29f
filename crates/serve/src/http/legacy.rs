//! POST, GET and DELETE of a legacy client: sessions, and streams that can be resumed.

use super::{
    AdmittedRequest, accepted,
    response::{
        Body, EventSource, Events, OVERLOADED, empty, error, events, json, respond, retry_after, turned_away,
        with_retry_after,
    },
};
use crate::{
    control,
    era::{Head, LegacyReply, Out},
    service::Service,
    session::{EventId, Outlet, Session, StreamLog, Streams, Underway},
};
use ::http::{HeaderValue, Response, StatusCode};
use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use trunkline_http1::server::{HalfClose, Pending};
use trunkline_protocol::{
    Envelope, ErrorObject, Malformed, Notification, Raw, Request, Response as RpcResponse, Revision, method,
};
use trunkline_resilience::{Deadline, hold};
use trunkline_transport::headers::{LAST_EVENT_ID, MCP_PROTOCOL_VERSION, MCP_SESSION_ID};

/// A response that takes longer becomes a stream.
const PROMPT: Duration = Duration::from_millis(50);

impl AdmittedRequest {
    pub(super) fn notify_legacy(&self, notification: Notification) -> Response<Body> {
        match self.session() {
            Ok(session) => {
                control::notify(&self.service, &session, notification);
                accepted()
            }
            Err(refusal) => *refusal,
        }
    }

    /// Passes the client's answer to the question that it belongs to.
    pub(super) fn accept_response(&self, response: RpcResponse) -> Response<Body> {
        match self.session() {
            Ok(session) => {
                session.answer(response);
                accepted()
            }
            Err(refusal) => *refusal,
        }
    }

    async fn initialize(self, request: Request) -> Response<Body> {
        let limits = &self.service.options.limits;
        let outlet = Outlet::Streams(Streams::new(limits.replay_events, limits.replay_bytes));
        let begun = control::initialize(&self.service, self.caller.clone(), &request, outlet).await;
        let (session, result) = match begun {
            Ok(begun) => begun,
            Err(refused) => return error(StatusCode::BAD_REQUEST, Some(&request.id), refused),
        };
        if self.service.is_draining() || self.service.sessions.add(&session).is_err() {
            let text = "no more sessions can be opened now; try again later";
            return error(
                StatusCode::SERVICE_UNAVAILABLE,
                Some(&request.id),
                ErrorObject::new(OVERLOADED, text),
            );
        }
        let mut response = answer(&request.id, Ok(result));
        if let Ok(id) = HeaderValue::from_str(&session.id) {
            response.headers_mut().insert(MCP_SESSION_ID, id);
        }
        response
    }

    pub(super) fn call_legacy(self, request: Request, head: &Head) -> Pending<Body> {
        if request.method == method::INITIALIZE {
            return Pending::running(self.initialize(request), HalfClose::Continues);
        }
        let session = match self.session() {
            Ok(session) => session,
            Err(refusal) => match self.without_handshake() {
                Some(session) => session,
                None => return Pending::Ready(Some(refusal)),
            },
        };
        if let Some(outcome) = control::answer(&self.service, &session, &request) {
            return Pending::ready(answer(&request.id, outcome));
        }
        match session.begin(&request.id, self.service.options.limits.calls) {
            Ok(underway) => {
                let reply = LegacyReply::begin(&self.service, &session, request, head);
                let call = LegacyCall { reply: Some(reply), underway: Some(underway), session };
                Pending::running(self.answer_legacy(call), HalfClose::Continues)
            }
            Err(fault) => {
                let refused = fault.to_error(session.revision.era());
                Pending::ready(answer(&request.id, Err(refused)))
            }
        }
    }

    /// Waits for the first message: the result becomes the response, anything else a stream.
    async fn answer_legacy(self, mut call: LegacyCall) -> Response<Body> {
        // A call that takes a while becomes a stream early: its client can resume a stream.
        let polls = call.session.revision.has_polling();
        let mut late = None;
        let first = poll_fn(|cx| {
            if let Poll::Ready(first) = call.poll_first(cx) {
                return Poll::Ready(first);
            }
            if !polls {
                return Poll::Pending;
            }
            let late = late.get_or_insert_with(|| Deadline::after(PROMPT));
            Pin::new(late).poll(cx).map(|()| First::Late)
        });
        let opening = match first.await {
            First::Message(Envelope::Response(response)) => {
                call.finish();
                let refused = response.outcome.as_ref().err();
                let wait = refused.and_then(retry_after);
                let status = refused.and_then(turned_away).unwrap_or(StatusCode::OK);
                return with_retry_after(respond(self.headers, status, response), wait);
            }
            First::Cancelled => {
                call.finish();
                return empty(StatusCode::ACCEPTED);
            }
            First::Message(message) => Opening::Message(message),
            First::Detach => Opening::Detached,
            First::Late => Opening::Quiet,
        };
        call.stream(opening, &self.service)
    }

    /// Opens the session's own stream, or resumes an interrupted one.
    pub(super) fn get(self) -> Response<Body> {
        let session = match self.session() {
            Ok(session) => session,
            Err(refusal) => return *refusal,
        };
        let Outlet::Streams(streams) = &session.outlet else {
            return error(
                StatusCode::METHOD_NOT_ALLOWED,
                None,
                ErrorObject::new(-32600, "this session has no such stream"),
            );
        };
        let reader = match self.headers.get(LAST_EVENT_ID) {
            None => Some(streams.standalone().read()),
            Some(id) => {
                id.to_str().ok().and_then(|id| id.parse::<EventId>().ok()).and_then(|id| streams.resume(id))
            }
        };
        match reader {
            Some(reader) => {
                let of = if reader.is_of_session() {
                    Events::Session(reader, session.clone())
                } else {
                    Events::Call(reader)
                };
                let source = EventSource { events: of, phase: self.service.phase() };
                events(Body::events(None, source, self.service.options.limits.keep_alive))
            }
            None => error(
                StatusCode::NOT_FOUND,
                None,
                ErrorObject::new(-32600, "this event is no longer kept; the stream cannot be resumed"),
            ),
        }
    }

    pub(super) fn delete(self) -> Response<Body> {
        match self.session() {
            Ok(session) => {
                self.service.sessions.remove(&session.id);
                empty(StatusCode::NO_CONTENT)
            }
            Err(refusal) => *refusal,
        }
    }

    /// A batch (revision 2025-03-26): each message is answered in turn, and the responses are
    /// joined.
    pub(super) async fn post_batch(&self, messages: Vec<Result<Envelope, Malformed>>) -> Response<Body> {
        let session = match self.session() {
            Ok(session) if session.revision.has_batches() => session,
            Ok(_) => {
                return error(
                    StatusCode::BAD_REQUEST,
                    None,
                    ErrorObject::new(-32600, "this revision has no batches"),
                );
            }
            Err(refusal) => return *refusal,
        };
        let mut answers = Vec::new();
        for message in messages {
            match message {
                Ok(Envelope::Request(request)) => answers.push(self.call_in_batch(&session, request).await),
                Ok(Envelope::Notification(notification)) => {
                    control::notify(&self.service, &session, notification);
                }
                Ok(Envelope::Response(response)) => session.answer(response),
                Err(malformed) => {
                    let refused = ErrorObject::new(malformed.rpc_code(), malformed.to_string());
                    let rest = trunkline_protocol::Object::new();
                    answers.push(RpcResponse { id: malformed.id, outcome: Err(refused), rest }.into());
                }
            }
        }
        if answers.is_empty() {
            return accepted();
        }
        let joined: Vec<_> = answers.iter().map(Envelope::to_bytes).collect();
        match hold([&b"["[..], &joined.join(&b","[..]), b"]"].concat().into()) {
            Ok(joined) => json(StatusCode::OK, joined),
            Err(full) => {
                let error_object = ErrorObject::new(OVERLOADED, full.to_string());
                error(StatusCode::SERVICE_UNAVAILABLE, None, error_object)
            }
        }
    }

    async fn call_in_batch(&self, session: &Arc<Session>, request: Request) -> Envelope {
        let id = request.id.clone();
        if let Some(outcome) = control::answer(&self.service, session, &request) {
            return RpcResponse::new(id, outcome).into();
        }
        let Ok(_underway) = session.begin(&id, self.service.options.limits.calls) else {
            return RpcResponse::new(
                id,
                Err(ErrorObject::new(-32600, "a request with this id is already in flight")),
            )
            .into();
        };
        let head = Head::of(request.params.as_ref());
        let mut reply = LegacyReply::begin(&self.service, session, request, &head);
        while let Some(out) = reply.next().await {
            match out {
                Out::Message(response @ Envelope::Response(_)) => return response,
                // The response to a batch holds responses only; other messages go to the session's
                // stream.
                Out::Message(message) => session.tell(&message),
                Out::Detach => {}
            }
        }
        RpcResponse::new(id, Err(ErrorObject::new(-32603, "the call ended without a response"))).into()
    }

    /// A session for one request of a client that sends no `initialize`, if that is accepted.
    fn without_handshake(&self) -> Option<Arc<Session>> {
        if self.headers.contains_key(MCP_SESSION_ID) {
            return None;
        }
        // Without the header, the specification assumes this revision.
        let revision = match self.headers.get(MCP_PROTOCOL_VERSION) {
            Some(version) => version.to_str().ok()?.parse().ok()?,
            None => Revision::V2025_03_26,
        };
        let limits = &self.service.options.limits;
        let outlet = Outlet::Streams(Streams::new(limits.replay_events, limits.replay_bytes));
        control::without_handshake(&self.service, self.caller.clone(), revision, outlet)
    }

    fn session(&self) -> Result<Arc<Session>, Box<Response<Body>>> {
        let version = self.headers.get(MCP_PROTOCOL_VERSION).map(HeaderValue::to_str);
        if let Some(version) = version
            && version.map_or(true, |version| version.parse::<Revision>().is_err())
        {
            let text = "this protocol version is not supported";
            return Err(Box::new(error(StatusCode::BAD_REQUEST, None, ErrorObject::new(-32600, text))));
        }
        let Some(id) = self.headers.get(MCP_SESSION_ID) else {
            let text = "this request needs a session: send `initialize` first and repeat its Mcp-Session-Id";
            return Err(Box::new(error(StatusCode::BAD_REQUEST, None, ErrorObject::new(-32600, text))));
        };
        let session = id.to_str().ok().and_then(|id| self.service.sessions.find(id, &self.caller));
        let unknown = || ErrorObject::new(-32600, "this session is unknown; send `initialize` again");
        session.ok_or_else(|| Box::new(error(StatusCode::NOT_FOUND, None, unknown())))
    }
}

/// A call that continues when its client disconnects.
struct LegacyCall {
    reply: Option<LegacyReply>,
    underway: Option<Underway>,
    session: Arc<Session>,
}

/// The start of a stream.
enum Opening {
    Message(Envelope),
    /// The client should disconnect and resume later.
    Detached,
    /// There is no message yet.
    Quiet,
}

enum First {
    Message(Envelope),
    Detach,
    Cancelled,
    /// There was no message within [`PROMPT`].
    Late,
}

impl LegacyCall {
    fn poll_first(&mut self, cx: &mut Context<'_>) -> Poll<First> {
        let (Some(reply), Some(underway)) = (&mut self.reply, &self.underway) else {
            return Poll::Ready(First::Cancelled);
        };
        match reply.poll_unless(underway, cx) {
            Poll::Ready(Some(Out::Message(message))) => Poll::Ready(First::Message(message)),
            Poll::Ready(Some(Out::Detach)) => Poll::Ready(First::Detach),
            Poll::Ready(None) => Poll::Ready(First::Cancelled),
            Poll::Pending => Poll::Pending,
        }
    }

    fn finish(&mut self) {
        self.reply = None;
        self.underway = None;
    }

    /// The response becomes a stream that the client can resume.
    fn stream(mut self, opening: Opening, service: &Service) -> Response<Body> {
        let Outlet::Streams(streams) = &self.session.outlet else { return empty(StatusCode::ACCEPTED) };
        let log = streams.open();
        let reader = log.read();
        log.prime();
        match opening {
            Opening::Message(message) => log.push(&message),
            Opening::Detached => log.detach(),
            Opening::Quiet => {}
        }
        self.go_on(log);
        let source = EventSource { events: Events::Call(reader), phase: service.phase() };
        events(Body::events(None, source, service.options.limits.keep_alive))
    }

    fn go_on(&mut self, log: Arc<StreamLog>) {
        if let (Some(reply), Some(underway)) = (self.reply.take(), self.underway.take()) {
            tokio::spawn(drive(reply, underway, log));
        }
    }
}

impl Drop for LegacyCall {
    /// The client disconnected before the response. The call continues without a reader.
    fn drop(&mut self) {
        if self.reply.is_some()
            && let Outlet::Streams(streams) = &self.session.outlet
        {
            let log = streams.open();
            self.go_on(log);
        }
    }
}

async fn drive(mut reply: LegacyReply, underway: Underway, log: Arc<StreamLog>) {
    while let Some(out) = poll_fn(|cx| reply.poll_unless(&underway, cx)).await {
        match out {
            Out::Message(message) => log.push(&message),
            Out::Detach => log.detach(),
        }
    }
    log.end();
}

fn answer(id: &trunkline_protocol::RequestId, outcome: Result<Raw, ErrorObject>) -> Response<Body> {
    json(StatusCode::OK, Envelope::from(RpcResponse::new(id.clone(), outcome)).to_bytes())
}
