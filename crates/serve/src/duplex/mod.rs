//! A client with one ordered channel in each direction: stdio or HTTP+SSE.

mod running_call;

use crate::{
    control,
    era::{Head, LegacyReply, ModernRequest},
    outgoing::Outgoing,
    service::Service,
    session::{Calls, Outlet, Session},
};
use bytes::Bytes;
use futures_util::future::{AbortHandle, BoxFuture};
use parking_lot::Mutex;
use std::{
    sync::Arc,
    task::{Context, Poll, ready},
};
use trunkline_protocol::{
    Caller, Envelope, Era, ErrorObject, Fault, FaultKind, Frame, Malformed, Notification, Object, Raw,
    Request, RequestId, Response, Revision, method,
};
use trunkline_resilience::OutOfMemory;

pub(crate) use running_call::RunningCall;

/// One client of stdio or HTTP+SSE.
pub(crate) struct Duplex {
    service: Arc<Service>,
    caller: Arc<Caller>,
    /// Identifies the connection in modern calls.
    key: Arc<str>,
    session: Mutex<Option<Arc<Session>>>,
    /// The session of requests before `initialize`, if they are answered.
    early: Mutex<Option<Arc<Session>>>,
    outgoing: Outgoing,
    /// Modern requests in flight.
    calls: Mutex<Calls<AbortHandle>>,
}

/// The work left after a frame was accepted. Responses are sent through `outgoing`.
#[expect(
    clippy::large_enum_variant,
    reason = "the large variant is the usual one, and is moved into the set of calls at once"
)]
pub(crate) enum Received {
    Nothing,
    /// A request, to be polled concurrently with later frames.
    Call(RunningCall),
    /// Must finish before the next frame is received; yields the requests that it started.
    First(BoxFuture<'static, Vec<RunningCall>>),
}

impl Duplex {
    pub(crate) fn new(service: Arc<Service>, caller: Arc<Caller>, outgoing: Outgoing) -> Arc<Self> {
        Arc::new(Self {
            service,
            caller,
            key: crate::era::unguessable().into(),
            session: Mutex::default(),
            early: Mutex::default(),
            outgoing,
            calls: Mutex::default(),
        })
    }

    /// Handles one frame.
    pub(crate) fn receive(self: &Arc<Self>, frame: &Bytes) -> Received {
        match Frame::parse(frame) {
            Ok(Frame::One(envelope)) => self.handle(envelope),
            Ok(Frame::Batch(messages)) => self.handle_batch(messages),
            Err(malformed) => self.refuse(&malformed),
        }
    }

    /// Answers a line that exceeds the limit.
    pub(crate) fn refuse_long(&self, limit: usize) -> Received {
        let error = ErrorObject::new(-32700, format!("the line is longer than {limit} bytes"));
        self.send(&Response { id: None, outcome: Err(error), rest: Object::new() }.into())
    }

    /// Answers a line for which no memory is left.
    pub(crate) fn refuse_for_memory(&self) -> Received {
        let fault = Fault::new(FaultKind::Overloaded, OutOfMemory.to_string());
        let outcome = Err(fault.to_error(Era::Modern));
        self.send(&Response { id: None, outcome, rest: Object::new() }.into())
    }

    /// Ends the session and aborts the calls in flight, after EOF from the client.
    pub(crate) fn end(&self) {
        for place in [&self.early, &self.session] {
            if let Some(session) = place.lock().take() {
                session.end();
            }
        }
        let calls = self.calls.lock().take();
        for call in calls {
            call.abort();
        }
    }

    /// Ready when no call is in flight.
    pub(crate) fn poll_quiet(&self, cx: &mut Context<'_>) -> Poll<()> {
        for place in [&self.early, &self.session] {
            let session = place.lock().clone();
            if let Some(session) = session {
                ready!(session.poll_quiet(cx));
            }
        }
        self.calls.lock().poll_quiet(cx)
    }

    fn refuse(&self, malformed: &Malformed) -> Received {
        let error = ErrorObject::new(malformed.rpc_code(), malformed.to_string());
        self.send(&Response { id: malformed.id.clone(), outcome: Err(error), rest: Object::new() }.into())
    }

    fn handle(self: &Arc<Self>, envelope: Envelope) -> Received {
        match envelope {
            Envelope::Request(request) => return self.request(request),
            Envelope::Notification(notification) => self.notify(notification),
            Envelope::Response(response) => {
                let session = self.session.lock().clone();
                if let Some(session) = session {
                    session.answer(response);
                }
            }
        }
        Received::Nothing
    }

    fn handle_batch(self: &Arc<Self>, messages: Vec<Result<Envelope, Malformed>>) -> Received {
        let has_batches = self.session.lock().as_ref().is_some_and(|session| session.revision.has_batches());
        if !has_batches {
            let error = ErrorObject::new(-32600, "this revision has no batches");
            return self.send(&Response { id: None, outcome: Err(error), rest: Object::new() }.into());
        }
        let client = self.clone();
        Received::First(Box::pin(async move {
            let mut begun = Vec::new();
            for message in messages {
                let received = match message {
                    Ok(envelope) => client.handle(envelope),
                    Err(malformed) => client.refuse(&malformed),
                };
                match received {
                    Received::Nothing => {}
                    Received::Call(call) => begun.push(call),
                    Received::First(first) => begun.extend(first.await),
                }
            }
            begun
        }))
    }

    fn request(self: &Arc<Self>, request: Request) -> Received {
        let eras = self.service.options.eras;
        let session = self.session.lock().clone();
        if session.is_none() && eras.allows(Era::Modern) {
            let head = Head::of(request.params.as_ref());
            if head.era(&request).is_some() || !eras.allows(Era::Legacy) {
                return self.call_modern(request, head);
            }
        }
        match session {
            _ if request.method == method::INITIALIZE => self.initialize(request, session.is_some()),
            Some(session) => self.call_legacy(&session, request),
            None if request.method == method::PING => self.respond(request.id, Ok(Raw::empty_object())),
            None => self.call_without_handshake(request),
        }
    }

    fn call_without_handshake(self: &Arc<Self>, request: Request) -> Received {
        if let Some(session) = self.early_session() {
            return self.call_legacy(&session, request);
        }
        let text = "the first request must be `initialize`, or carry `_meta` as revision 2026-07-28 asks";
        self.respond(request.id, Err(ErrorObject::new(-32600, text)))
    }

    fn early_session(&self) -> Option<Arc<Session>> {
        let mut early = self.early.lock();
        if early.is_none() {
            let outlet = Outlet::Duplex(self.outgoing.clone());
            let newest = Revision::NEWEST_LEGACY;
            *early = control::without_handshake(&self.service, self.caller.clone(), newest, outlet);
        }
        early.clone()
    }

    fn initialize(self: &Arc<Self>, request: Request, again: bool) -> Received {
        if again {
            let text = "the session is initialised already";
            return self.respond(request.id, Err(ErrorObject::new(-32600, text)));
        }
        let client = self.clone();
        Received::First(Box::pin(async move {
            let outlet = Outlet::Duplex(client.outgoing.clone());
            let begun = control::initialize(&client.service, client.caller.clone(), &request, outlet).await;
            let outcome = begun.map(|(session, result)| {
                *client.session.lock() = Some(session);
                result
            });
            if let Received::First(sending) = client.respond(request.id, outcome) {
                sending.await;
            }
            Vec::new()
        }))
    }

    fn call_legacy(self: &Arc<Self>, session: &Arc<Session>, request: Request) -> Received {
        session.touch();
        if let Some(outcome) = control::answer(&self.service, session, &request) {
            return self.respond(request.id, outcome);
        }
        match session.begin(&request.id, self.service.options.limits.calls) {
            Ok(underway) => {
                let head = Head::of(request.params.as_ref());
                let reply = LegacyReply::begin(&self.service, session, request, &head);
                Received::Call(RunningCall::legacy(self.clone(), reply, underway))
            }
            Err(fault) => self.respond(request.id, Err(fault.to_error(Era::Legacy))),
        }
    }

    fn call_modern(self: &Arc<Self>, request: Request, head: Head) -> Received {
        let id = request.id.clone();
        let request = match ModernRequest::read(request, head) {
            Ok(request) => request,
            Err(refused) => return self.respond(id, Err(refused.error)),
        };
        let full = {
            let calls = self.calls.lock();
            calls.get(&id).is_some() || calls.len() >= self.service.options.limits.calls
        };
        if full {
            let text = "a request with this id is already in flight, or too many others are";
            return self.respond(id, Err(ErrorObject::new(-32600, text)));
        }
        if self.service.identity.get().is_some() {
            return Received::Call(self.begin_modern(request, id));
        }
        let client = self.clone();
        Received::First(Box::pin(async move {
            client.service.identify(&client.caller, request.meta()).await;
            vec![client.begin_modern(request, id)]
        }))
    }

    fn begin_modern(self: &Arc<Self>, request: ModernRequest, id: RequestId) -> RunningCall {
        let (abort, aborted) = AbortHandle::new_pair();
        self.calls.lock().by_id().insert(id.clone(), abort);
        let reply = request.begin(&self.service, self.caller.clone(), Some(self.key.clone()));
        RunningCall::modern(self.clone(), reply, id, aborted)
    }

    fn notify(&self, notification: Notification) {
        let cancelled = (notification.method == method::CANCELLED)
            .then(|| control::cancelled_id(&notification))
            .flatten();
        if let Some(call) = cancelled.and_then(|id| self.calls.lock().remove(&id)) {
            return call.abort();
        }
        // Requests before `initialize` may still be in flight after it.
        let early = self.early.lock().clone();
        if let (Some(early), method::CANCELLED) = (early, notification.method.as_ref()) {
            control::notify(&self.service, &early, notification.clone());
        }
        let session = self.session.lock().clone();
        if let Some(session) = session {
            control::notify(&self.service, &session, notification);
        }
    }

    fn respond(&self, id: RequestId, outcome: Result<Raw, ErrorObject>) -> Received {
        self.send(&Response::new(id, outcome).into())
    }

    fn send(&self, envelope: &Envelope) -> Received {
        match self.outgoing.send(envelope) {
            None => Received::Nothing,
            Some(sending) => Received::First(Box::pin(async move {
                sending.await;
                Vec::new()
            })),
        }
    }
}
