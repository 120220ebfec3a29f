//! A client on one line: everything goes in and out in one sequence, as over stdio and HTTP+SSE.

use crate::{
    control,
    era::{Head, LegacyReply, ModernReply, ModernRequest, Out},
    outgoing::Outgoing,
    service::Service,
    session::{Outlet, Session, Underway, lock},
};
use bytes::Bytes;
use futures_util::{
    FutureExt,
    future::{AbortHandle, AbortRegistration, Abortable, Aborted},
};
use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
};
use trunkline_protocol::{
    Caller, Envelope, Era, ErrorObject, Frame, Malformed, Notification, Object, Raw, Request, RequestId,
    Response, method,
};

/// One client on one line.
pub(crate) struct Duplex {
    service: Arc<Service>,
    caller: Arc<Caller>,
    session: Mutex<Option<Arc<Session>>>,
    outgoing: Outgoing,
    /// Modern requests under way.
    calls: Mutex<HashMap<RequestId, AbortHandle>>,
}

/// A request under way, for whoever took its frame to drive.
pub(crate) struct Running {
    line: Arc<Duplex>,
    reply: Answering,
}

enum Answering {
    Legacy(LegacyReply, Underway),
    Modern(ModernReply, RequestId, AbortRegistration),
}

/// Takes requests that are under way.
pub(crate) type Start<'a> = &'a mut (dyn FnMut(Running) + Send);

impl Duplex {
    pub(crate) fn new(service: Arc<Service>, caller: Arc<Caller>, outgoing: Outgoing) -> Arc<Self> {
        Arc::new(Self { service, caller, session: Mutex::default(), outgoing, calls: Mutex::default() })
    }

    /// Takes one frame. Answers come out on the line while what was started is driven; this returns as soon as the next
    /// frame may be taken.
    pub(crate) async fn receive(self: &Arc<Self>, frame: &Bytes, start: Start<'_>) {
        match Frame::parse(frame) {
            Ok(Frame::One(envelope)) => self.take(envelope, start).await,
            Ok(Frame::Batch(messages)) => self.take_batch(messages, start).await,
            Err(malformed) => self.refuse(&malformed).await,
        }
    }

    pub(crate) async fn refuse(&self, malformed: &Malformed) {
        let error = ErrorObject::new(malformed.rpc_code(), malformed.to_string());
        self.send(Response { id: malformed.id.clone(), outcome: Err(error), rest: Object::new() }.into())
            .await;
    }

    /// A line was too long to be read.
    pub(crate) async fn refuse_long(&self, limit: usize) {
        let error = ErrorObject::new(-32700, format!("the line is longer than {limit} bytes"));
        self.send(Response { id: None, outcome: Err(error), rest: Object::new() }.into()).await;
    }

    /// Nothing more will come from the client.
    pub(crate) fn end(&self) {
        if let Some(session) = lock(&self.session).take() {
            session.end();
        }
        let calls: Vec<_> = lock(&self.calls).drain().map(|(_, call)| call).collect();
        for call in calls {
            call.abort();
        }
    }

    async fn take(self: &Arc<Self>, envelope: Envelope, start: Start<'_>) {
        match envelope {
            Envelope::Request(request) => self.request(request, start).await,
            Envelope::Notification(notification) => self.hear(notification),
            Envelope::Response(response) => {
                let session = lock(&self.session).clone();
                if let Some(session) = session {
                    session.answer(response);
                }
            }
        }
    }

    async fn take_batch(self: &Arc<Self>, messages: Vec<Result<Envelope, Malformed>>, start: Start<'_>) {
        let has_batches = lock(&self.session).as_ref().is_some_and(|session| session.revision.has_batches());
        if !has_batches {
            let error = ErrorObject::new(-32600, "this revision has no batches");
            return self.send(Response { id: None, outcome: Err(error), rest: Object::new() }.into()).await;
        }
        for message in messages {
            match message {
                Ok(envelope) => self.take(envelope, start).await,
                Err(malformed) => self.refuse(&malformed).await,
            }
        }
    }

    async fn request(self: &Arc<Self>, request: Request, start: Start<'_>) {
        let eras = self.service.options.eras;
        let session = lock(&self.session).clone();
        if session.is_none() && eras.allows(Era::Modern) {
            let head = Head::of(&request);
            if head.is_modern(&request) || !eras.allows(Era::Legacy) {
                return self.call_modern(request, head, start).await;
            }
        }
        match session {
            _ if request.method == method::INITIALIZE => self.initialize(request, session.is_some()).await,
            Some(session) => self.call_legacy(&session, request, start).await,
            None if request.method == method::PING => {
                self.respond(request.id, Ok(Raw::empty_object())).await;
            }
            None => {
                let text =
                    "the first request must be `initialize`, or carry `_meta` as revision 2026-07-28 asks";
                self.respond(request.id, Err(ErrorObject::new(-32600, text))).await;
            }
        }
    }

    async fn initialize(&self, request: Request, again: bool) {
        if again {
            return self
                .respond(request.id, Err(ErrorObject::new(-32600, "the session is initialised already")))
                .await;
        }
        let outlet = Outlet::Line(self.outgoing.clone());
        let begun = control::initialize(&self.service, self.caller.clone(), &request, outlet).await;
        let outcome = begun.map(|(session, result)| {
            *lock(&self.session) = Some(session);
            result
        });
        self.respond(request.id, outcome).await;
    }

    async fn call_legacy(self: &Arc<Self>, session: &Arc<Session>, request: Request, start: Start<'_>) {
        session.touch();
        if let Some(outcome) = control::answer(&self.service, session, &request) {
            return self.respond(request.id, outcome).await;
        }
        match session.begin(&request.id, self.service.options.limits.calls) {
            Ok(underway) => {
                let reply = LegacyReply::begin(&self.service, session, request);
                start(self.running(Answering::Legacy(reply, underway)));
            }
            Err(fault) => self.respond(request.id, Err(fault.to_error(Era::Legacy))).await,
        }
    }

    async fn call_modern(self: &Arc<Self>, request: Request, head: Head, start: Start<'_>) {
        let id = request.id.clone();
        let request = match ModernRequest::read(request, head) {
            Ok(request) => request,
            Err(refused) => return self.respond(id, Err(refused.error)).await,
        };
        let full = {
            let calls = lock(&self.calls);
            calls.contains_key(&id) || calls.len() >= self.service.options.limits.calls
        };
        if full {
            let text = "a request with this id, or too many others, are under way already";
            return self.respond(id, Err(ErrorObject::new(-32600, text))).await;
        }
        if self.service.identity.get().is_none() {
            drop(self.service.introduction(&self.caller, request.meta()).await);
        }
        let (abort, aborted) = AbortHandle::new_pair();
        lock(&self.calls).insert(id.clone(), abort);
        let reply = request.begin(&self.service, self.caller.clone());
        start(self.running(Answering::Modern(reply, id, aborted)));
    }

    fn running(self: &Arc<Self>, reply: Answering) -> Running {
        Running { line: self.clone(), reply }
    }

    fn hear(self: &Arc<Self>, notification: Notification) {
        let cancelled = (notification.method == method::CANCELLED)
            .then(|| control::cancelled_id(&notification))
            .flatten();
        if let Some(call) = cancelled.and_then(|id| lock(&self.calls).remove(&id)) {
            return call.abort();
        }
        let session = lock(&self.session).clone();
        if let Some(session) = session {
            control::hear(&self.service, &session, notification);
        }
    }

    async fn respond(&self, id: RequestId, outcome: Result<Raw, ErrorObject>) {
        self.send(Response::new(id, outcome).into()).await;
    }

    async fn send(&self, envelope: Envelope) {
        self.outgoing.send(envelope).await;
    }
}

impl Running {
    /// Brings the call to its end, or until its client no longer wants it. One that panics harms nobody else.
    pub(crate) async fn drive(self) {
        let Self { line, reply } = self;
        let broken = match reply {
            Answering::Legacy(reply, underway) => {
                let driven = AssertUnwindSafe(drive_legacy(&line, reply, &underway)).catch_unwind().await;
                driven.is_err().then(|| underway.id().clone())
            }
            Answering::Modern(reply, id, aborted) => {
                let driven = Abortable::new(drive_modern(&line, reply), aborted);
                let driven = AssertUnwindSafe(driven).catch_unwind().await;
                // One that was aborted has been taken out by whoever did it, and its id may be in use again.
                if !matches!(driven, Ok(Err(Aborted))) {
                    lock(&line.calls).remove(&id);
                }
                driven.is_err().then_some(id)
            }
        };
        if let Some(id) = broken {
            let error = ErrorObject::new(-32603, "the call broke off; the log of the server tells more");
            line.respond(id, Err(error)).await;
        }
    }
}

async fn drive_legacy(line: &Duplex, mut reply: LegacyReply, underway: &Underway) {
    loop {
        let out = tokio::select! {
            out = reply.next() => out,
            () = underway.cancelled.notified() => return,
        };
        match out {
            Some(Out::Message(message)) => line.send(message).await,
            Some(Out::Detach) => {}
            None => return,
        }
    }
}

async fn drive_modern(line: &Duplex, mut reply: ModernReply) {
    while let Some(message) = reply.next().await {
        line.send(message).await;
    }
}
