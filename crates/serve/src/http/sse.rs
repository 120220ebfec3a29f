//! HTTP+SSE, the transport of revision 2024-11-05: clients send with POST, and all responses go to
//! one event stream.

use super::{
    AdmittedRequest, BodyRefusal, accepted, read_body,
    response::{Body, EventSource, Events, OVERLOADED, error, events},
};
use crate::duplex::{Duplex, Received};
use crate::outgoing::{Outgoing, event_queue};
use ::http::{Response, StatusCode};
use bytes::Bytes;
use parking_lot::Mutex;
use std::{
    collections::HashMap,
    sync::Arc,
    task::{Context, Poll},
};
use trunkline_http1::server::{HalfClose, Pending, RequestBody};
use trunkline_protocol::{Caller, ErrorObject};

/// Most messages queued for a client that reads slowly.
const OUTGOING: usize = 256;

/// The clients with an open stream, by the session id in their POSTs.
#[derive(Default)]
pub(crate) struct SseClients(Mutex<HashMap<String, SseClient>>);

#[derive(Clone)]
struct SseClient {
    duplex: Arc<Duplex>,
    caller: Arc<Caller>,
}

/// Removes the client when dropped, and cancels its calls.
pub(crate) struct SseRegistration {
    clients: Arc<SseClients>,
    name: String,
    duplex: Arc<Duplex>,
}

impl SseClients {
    fn find(&self, name: &str, caller: &Caller) -> Option<Arc<Duplex>> {
        self.0
            .lock()
            .get(name)
            .filter(|client| client.caller.id == caller.id && client.caller.carried == caller.carried)
            .map(|client| client.duplex.clone())
    }
}

impl AdmittedRequest {
    /// Opens the stream; its first event names the endpoint for POSTs.
    pub(super) fn open_sse(self) -> Response<Body> {
        let Self { service, caller, .. } = self;
        let clients = service.sse_clients.clone();
        if service.is_draining() || clients.0.lock().len() >= service.options.limits.sessions {
            let text = "no more sessions can be opened now; try again later";
            return error(StatusCode::SERVICE_UNAVAILABLE, None, ErrorObject::new(OVERLOADED, text));
        }
        let (outgoing, queue) = event_queue(OUTGOING);
        let name = crate::era::unguessable();
        let duplex = Duplex::new(service.clone(), caller.clone(), Outgoing::Queue(outgoing));
        clients.0.lock().insert(name.clone(), SseClient { duplex: duplex.clone(), caller });
        let first = format!("event: endpoint\ndata: /message{}?sessionId={name}\n\n", service.path);
        let events_of = Events::Sse { queue, registration: SseRegistration { clients, name, duplex } };
        let source = EventSource { events: events_of, phase: service.phase() };
        events(Body::events(Some(first.into()), source, service.options.limits.keep_alive))
    }

    /// Accepts one message of a client that has a stream open; its response goes to the stream.
    pub(super) fn post_message(self, query: Option<&str>, body: RequestBody) -> Pending<Body> {
        let name = query.and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("sessionId=")));
        let Some(duplex) = name.and_then(|name| self.service.sse_clients.find(name, &self.caller)) else {
            let unknown = ErrorObject::new(-32600, "this session is unknown; open /sse first");
            return Pending::ready(error(StatusCode::NOT_FOUND, None, unknown));
        };
        let then = move |_: Self, bytes: &Bytes| match duplex.receive(bytes) {
            Received::Nothing => Pending::ready(accepted()),
            Received::Call(call) => {
                tokio::spawn(call);
                Pending::ready(accepted())
            }
            Received::First(first) => Pending::running(
                async move {
                    for call in first.await {
                        tokio::spawn(call);
                    }
                    accepted()
                },
                HalfClose::Continues,
            ),
        };
        read_body(self, body, then, BodyRefusal::respond)
    }
}

impl SseRegistration {
    /// Ready when the client has no call in flight.
    pub(crate) fn poll_quiet(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.duplex.poll_quiet(cx)
    }
}

impl Drop for SseRegistration {
    fn drop(&mut self) {
        self.clients.0.lock().remove(&self.name);
        self.duplex.end();
    }
}
