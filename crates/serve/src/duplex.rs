//! A client on one line: everything goes in and out in one sequence, as over stdio and HTTP+SSE.

use crate::{
    control,
    era::{Head, LegacyReply, ModernRequest, Out},
    service::Service,
    session::{Outlet, Session, Underway, lock},
};
use bytes::Bytes;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};
use tokio::{sync::mpsc, task::AbortHandle};
use trunkline_protocol::{
    Caller, Envelope, Era, ErrorObject, Frame, Malformed, Notification, Object, Raw, Request, RequestId,
    Response, method,
};

/// Messages that may wait to be taken by the client.
pub(crate) const OUTGOING: usize = 256;

/// One client on one line.
pub(crate) struct Duplex {
    service: Arc<Service>,
    caller: Arc<Caller>,
    session: Mutex<Option<Arc<Session>>>,
    outgoing: mpsc::Sender<Envelope>,
    /// Modern requests under way.
    calls: Mutex<HashMap<RequestId, AbortHandle>>,
}

impl Duplex {
    pub(crate) fn new(
        service: Arc<Service>,
        caller: Arc<Caller>,
        outgoing: mpsc::Sender<Envelope>,
    ) -> Arc<Self> {
        Arc::new(Self { service, caller, session: Mutex::default(), outgoing, calls: Mutex::default() })
    }

    /// Takes one frame. Answers come out on the line; this returns as soon as the next frame may be taken.
    pub(crate) async fn receive(self: &Arc<Self>, frame: &Bytes) {
        match Frame::parse(frame) {
            Ok(Frame::One(envelope)) => self.take(envelope).await,
            Ok(Frame::Batch(messages)) => self.take_batch(messages).await,
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

    async fn take(self: &Arc<Self>, envelope: Envelope) {
        match envelope {
            Envelope::Request(request) => self.request(request).await,
            Envelope::Notification(notification) => self.hear(notification),
            Envelope::Response(response) => {
                let session = lock(&self.session).clone();
                if let Some(session) = session {
                    session.answer(response);
                }
            }
        }
    }

    async fn take_batch(self: &Arc<Self>, messages: Vec<Result<Envelope, Malformed>>) {
        let has_batches = lock(&self.session).as_ref().is_some_and(|session| session.revision.has_batches());
        if !has_batches {
            let error = ErrorObject::new(-32600, "this revision has no batches");
            return self.send(Response { id: None, outcome: Err(error), rest: Object::new() }.into()).await;
        }
        for message in messages {
            match message {
                Ok(envelope) => self.take(envelope).await,
                Err(malformed) => self.refuse(&malformed).await,
            }
        }
    }

    async fn request(self: &Arc<Self>, request: Request) {
        let eras = self.service.options.eras;
        let session = lock(&self.session).clone();
        if session.is_none() && eras.allows(Era::Modern) {
            let head = Head::of(request.params.as_ref());
            if head.era(&request).is_some() || !eras.allows(Era::Legacy) {
                return self.call_modern(request, head).await;
            }
        }
        match session {
            _ if request.method == method::INITIALIZE => self.initialize(request, session.is_some()).await,
            Some(session) => self.call_legacy(&session, request).await,
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

    async fn call_legacy(self: &Arc<Self>, session: &Arc<Session>, request: Request) {
        session.touch();
        if let Some(outcome) = control::answer(&self.service, session, &request) {
            return self.respond(request.id, outcome).await;
        }
        match session.begin(&request.id, self.service.options.limits.calls) {
            Ok(underway) => {
                let head = Head::of(request.params.as_ref());
                let reply = LegacyReply::begin(&self.service, session, request, &head);
                tokio::spawn(self.clone().drive_legacy(reply, underway));
            }
            Err(fault) => self.respond(request.id, Err(fault.to_error(Era::Legacy))).await,
        }
    }

    async fn drive_legacy(self: Arc<Self>, mut reply: LegacyReply, underway: Underway) {
        while let Some(out) = reply.next_unless(&underway).await {
            if let Out::Message(message) = out {
                self.send(message).await;
            }
        }
    }

    async fn call_modern(self: &Arc<Self>, request: Request, head: Head) {
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
        let mut reply = request.begin(&self.service, self.caller.clone());
        let line = self.clone();
        let name = id.clone();
        // The entry is made while the table is locked, so the task cannot have removed it before.
        let mut calls = lock(&self.calls);
        let task = tokio::spawn(async move {
            while let Some(message) = reply.next().await {
                line.send(message).await;
            }
            lock(&line.calls).remove(&name);
        });
        calls.insert(id, task.abort_handle());
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
        if self.outgoing.send(envelope).await.is_err() {
            tracing::debug!("the client is gone");
        }
    }
}
