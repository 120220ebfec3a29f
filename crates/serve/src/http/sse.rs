//! HTTP+SSE, the transport of revision 2024-11-05: one stream out, posts in.

use super::{
    Visit, accepted,
    answer::{Answer, EventSource, Events, OVERLOADED, error, events},
    connection::Incoming,
    hang_up,
};
use crate::duplex::{Duplex, Taken};
use crate::outgoing::Outgoing;
use crate::session::lock;
use ::http::{Response, StatusCode};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};
use tokio::sync::mpsc;
use trunkline_protocol::{Caller, ErrorObject};

/// Messages that may wait to be taken by a client.
const OUTGOING: usize = 256;

/// The clients that have a stream open, by the name their posts carry.
#[derive(Default)]
pub(crate) struct SseClients(Mutex<HashMap<String, SseClient>>);

#[derive(Clone)]
struct SseClient {
    line: Arc<Duplex>,
    caller: Arc<Caller>,
}

/// A place among the clients; leaving it ends what the client had under way.
pub(crate) struct Seat {
    clients: Arc<SseClients>,
    name: String,
    line: Arc<Duplex>,
}

impl SseClients {
    fn find(&self, name: &str, caller: &Caller) -> Option<Arc<Duplex>> {
        lock(&self.0)
            .get(name)
            .filter(|client| client.caller.id == caller.id)
            .map(|client| client.line.clone())
    }
}

impl Visit {
    /// Opens the stream; its first event tells where to post.
    pub(super) fn open_sse(self) -> Response<Answer> {
        let Self { service, caller, .. } = self;
        let clients = service.sse_clients.clone();
        if service.is_draining() || lock(&clients.0).len() >= service.options.limits.sessions {
            let text = "no more sessions can be opened now; try again later";
            return error(StatusCode::SERVICE_UNAVAILABLE, None, ErrorObject::new(OVERLOADED, text));
        }
        let (outgoing, queue) = mpsc::channel(OUTGOING);
        let name = crate::era::unguessable();
        let line = Duplex::new(service.clone(), caller.clone(), Outgoing::Queue(outgoing));
        lock(&clients.0).insert(name.clone(), SseClient { line: line.clone(), caller });
        let first = format!("event: endpoint\ndata: /message{}?sessionId={name}\n\n", service.path);
        let events_of = Events::Line { queue, seat: Seat { clients, name, line } };
        let source = EventSource { events: events_of, phase: service.phase() };
        events(Answer::events(Some(first.into()), source, service.options.limits.keep_alive))
    }

    /// Takes one message of a client that has a stream open; the answer comes there.
    pub(super) async fn post_message(self, query: Option<&str>, body: Incoming) -> Response<Answer> {
        let name = query.and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("sessionId=")));
        let Some(line) = name.and_then(|name| self.service.sse_clients.find(name, &self.caller)) else {
            return error(
                StatusCode::NOT_FOUND,
                None,
                ErrorObject::new(-32600, "this session is unknown; open /sse first"),
            );
        };
        match super::body::read(&self, body).await {
            Ok(bytes) => {
                let begun = match line.receive(&bytes) {
                    Taken::Nothing => Vec::new(),
                    Taken::Call(call) => vec![call],
                    Taken::First(first) => hang_up::outlasting(first).await,
                };
                for call in begun {
                    tokio::spawn(call);
                }
                accepted()
            }
            Err(refusal) => *refusal,
        }
    }
}

impl Seat {
    /// Ready when the client has nothing under way.
    pub(crate) fn poll_quiet(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.line.poll_quiet(cx)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        lock(&self.clients.0).remove(&self.name);
        self.line.end();
    }
}
