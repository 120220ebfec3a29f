//! POST, GET and DELETE of a legacy client: a session, streams that can be taken up again, and an end.

use super::{
    Begun, Rare, Visit, accepted,
    answer::{
        Answer, EventSource, Events, OVERLOADED, empty, error, events, json, respond, retry_after,
        turned_away, with_retry_after,
    },
    hang_up::outlasting,
};
use crate::{
    control,
    era::{Head, LegacyReply, Out},
    service::Service,
    session::{Outlet, Place, Session, StreamLog, Streams, Underway},
};
use ::http::{HeaderValue, Response, StatusCode};
use std::{
    future::poll_fn,
    mem::take,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use trunkline_protocol::{
    Envelope, ErrorObject, Malformed, Notification, Raw, Request, Response as RpcResponse, Revision, method,
};
use trunkline_resilience::Alarm;
use trunkline_transport::headers::{LAST_EVENT_ID, MCP_PROTOCOL_VERSION, MCP_SESSION_ID};

/// How long an answer may take before it becomes a stream.
const PROMPT: Duration = Duration::from_millis(50);

impl Visit {
    pub(super) fn hear_legacy(&self, notification: Notification) -> Response<Answer> {
        match self.session() {
            Ok(session) => {
                control::hear(&self.service, &session, notification);
                accepted()
            }
            Err(refusal) => *refusal,
        }
    }

    /// The client answers a question.
    pub(super) fn take_answer(&self, response: RpcResponse) -> Response<Answer> {
        match self.session() {
            Ok(session) => {
                session.answer(response);
                accepted()
            }
            Err(refusal) => *refusal,
        }
    }

    pub(super) async fn initialize(&self, request: &Request) -> Response<Answer> {
        let limits = &self.service.options.limits;
        let outlet = Outlet::Streams(Streams::new(limits.replay_events, limits.replay_bytes));
        let begun = control::initialize(&self.service, self.caller.clone(), request, outlet).await;
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

    /// Begins a call, or says why not.
    pub(super) fn begin_legacy(&self, request: Request, head: &Head) -> Begun {
        if request.method == method::INITIALIZE {
            return Begun::Rare(Rare::Initialize(Box::new(request)));
        }
        let session = match self.session() {
            Ok(session) => session,
            Err(refusal) => return Begun::Answered(refusal),
        };
        if let Some(outcome) = control::answer(&self.service, &session, &request) {
            return Begun::answered(answer(&request.id, outcome));
        }
        match session.begin(&request.id, self.service.options.limits.calls) {
            Ok(underway) => {
                let reply = LegacyReply::begin(&self.service, &session, request, head);
                Begun::Legacy(Running { reply: Some(reply), underway: Some(underway), session })
            }
            Err(fault) => {
                let refused = fault.to_error(session.revision.era());
                Begun::answered(answer(&request.id, Err(refused)))
            }
        }
    }

    /// Brings a call to its end, or as far as its answer becomes a stream.
    pub(super) async fn answer_legacy(&mut self, mut running: Running) -> Response<Answer> {
        // A call that takes a while becomes a stream early, so that a client that is cut off can come back for the rest.
        let polls = running.session.revision.has_polling();
        let mut late = None;
        let first = outlasting(poll_fn(|cx| {
            if let Poll::Ready(first) = running.poll_first(cx) {
                return Poll::Ready(first);
            }
            if !polls {
                return Poll::Pending;
            }
            let late = late.get_or_insert_with(|| Alarm::after(PROMPT));
            Pin::new(late).poll(cx).map(|()| First::Late)
        }));
        let opening = match first.await {
            First::Message(Envelope::Response(response)) => {
                running.finish();
                let refused = response.outcome.as_ref().err();
                let wait = refused.and_then(retry_after);
                let status = refused.and_then(turned_away).unwrap_or(StatusCode::OK);
                return with_retry_after(respond(take(&mut self.headers), status, response), wait);
            }
            First::Cancelled => {
                running.finish();
                return empty(StatusCode::ACCEPTED);
            }
            First::Message(message) => Opening::Message(message),
            First::Detach => Opening::Detached,
            First::Late => Opening::Quiet,
        };
        running.stream(opening, &self.service)
    }

    /// The stream on which we speak unasked, or the rest of one that broke.
    pub(super) fn get(self) -> Response<Answer> {
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
            Some(id) => id
                .to_str()
                .ok()
                .and_then(|id| id.parse::<Place>().ok())
                .and_then(|place| streams.resume(place)),
        };
        match reader {
            Some(reader) => {
                let of = if reader.is_of_session() {
                    Events::Session(reader, session.clone())
                } else {
                    Events::Call(reader)
                };
                let source = EventSource { events: of, phase: self.service.phase() };
                events(Answer::events(None, source, self.service.options.limits.keep_alive))
            }
            None => {
                error(StatusCode::NOT_FOUND, None, ErrorObject::new(-32600, "this event is no longer known"))
            }
        }
    }

    pub(super) fn delete(self) -> Response<Answer> {
        match self.session() {
            Ok(session) => {
                self.service.sessions.remove(&session.id);
                empty(StatusCode::NO_CONTENT)
            }
            Err(refusal) => *refusal,
        }
    }

    /// A batch of revision 2025-03-26: split, answered one by one, joined.
    pub(super) async fn post_batch(&self, messages: Vec<Result<Envelope, Malformed>>) -> Response<Answer> {
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
                    control::hear(&self.service, &session, notification);
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
        json(StatusCode::OK, [&b"["[..], &joined.join(&b","[..]), b"]"].concat().into())
    }

    async fn call_in_batch(&self, session: &Arc<Session>, request: Request) -> Envelope {
        let id = request.id.clone();
        if let Some(outcome) = control::answer(&self.service, session, &request) {
            return RpcResponse::new(id, outcome).into();
        }
        let Ok(_underway) = session.begin(&id, self.service.options.limits.calls) else {
            return RpcResponse::new(
                id,
                Err(ErrorObject::new(-32600, "a request with this id is under way already")),
            )
            .into();
        };
        let head = Head::of(request.params.as_ref());
        let mut reply = LegacyReply::begin(&self.service, session, request, &head);
        while let Some(out) = reply.next().await {
            match out {
                Out::Message(response @ Envelope::Response(_)) => return response,
                // The answer to a batch has room for answers only; the rest goes where a client listens.
                Out::Message(message) => session.tell(message),
                Out::Detach => {}
            }
        }
        RpcResponse::new(id, Err(ErrorObject::new(-32603, "there was no answer"))).into()
    }

    fn session(&self) -> Result<Arc<Session>, Box<Response<Answer>>> {
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

/// A call whose client may go away, which in this era does not mean that it wants the call to end.
pub(super) struct Running {
    reply: Option<LegacyReply>,
    underway: Option<Underway>,
    session: Arc<Session>,
}

/// With what a stream begins.
enum Opening {
    Message(Envelope),
    /// The client is sent away at once.
    Detached,
    /// There is nothing to tell yet.
    Quiet,
}

enum First {
    Message(Envelope),
    Detach,
    Cancelled,
    /// Nothing came in time.
    Late,
}

impl Running {
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

    /// The answer becomes a stream: what has come, what comes, and a place to come back to.
    fn stream(mut self, opening: Opening, service: &Service) -> Response<Answer> {
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
        events(Answer::events(None, source, service.options.limits.keep_alive))
    }

    fn go_on(&mut self, log: Arc<StreamLog>) {
        if let (Some(reply), Some(underway)) = (self.reply.take(), self.underway.take()) {
            tokio::spawn(drive(reply, underway, log));
        }
    }
}

impl Drop for Running {
    /// The client hung up before there was anything to tell it. The call goes on; nobody will hear its end.
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

fn answer(id: &trunkline_protocol::RequestId, outcome: Result<Raw, ErrorObject>) -> Response<Answer> {
    json(StatusCode::OK, Envelope::from(RpcResponse::new(id.clone(), outcome)).to_bytes())
}
