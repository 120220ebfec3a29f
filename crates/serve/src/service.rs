//! Service: one handler and everything about its clients, shared by all ways in.

use crate::{
    era::{Identity, Parking, ToolHeaders},
    http::SseClients,
    metrics::Metrics,
    options::ServeOptions,
    session::Sessions,
};
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use trunkline_protocol::{
    Call, Caller, Fault, Handler, Object, Part, Raw,
    message::meta::{CLIENT_CAPABILITIES, PROTOCOL_VERSION, SERVER_INFO},
    method,
};

/// How often what has expired is let go.
const SWEEP: Duration = Duration::from_secs(5);
/// How long to wait before listening to the handler's tools again.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

pub(crate) struct Service {
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) options: ServeOptions,
    pub(crate) sessions: Sessions,
    pub(crate) parking: Parking,
    pub(crate) metrics: Metrics,
    pub(crate) tool_headers: ToolHeaders,
    pub(crate) sse_clients: Arc<SseClients>,
    /// Who the handler says it is, for every modern result.
    pub(crate) identity: OnceLock<Identity>,
    draining: AtomicBool,
}

impl Service {
    pub(crate) fn new(handler: Arc<dyn Handler>, options: ServeOptions) -> Arc<Self> {
        let limits = options.limits;
        Arc::new(Self {
            handler,
            options,
            sessions: Sessions::new(limits.sessions, limits.session_idle),
            parking: Parking::new(limits.parked, limits.parked_for),
            metrics: Metrics::default(),
            tool_headers: ToolHeaders::default(),
            sse_clients: Arc::default(),
            identity: OnceLock::new(),
            draining: AtomicBool::new(false),
        })
    }

    /// Starts what goes on beside the requests, for as long as the service lives.
    pub(crate) fn start(self: &Arc<Self>) {
        let service = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SWEEP).await;
                let Some(service) = service.upgrade() else { return };
                service.sessions.sweep();
                service.parking.sweep();
            }
        });
        let service = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                let Some(strong) = service.upgrade() else { return };
                let mut changes = strong.handler.call(plain(method::LISTEN, listen_to_tools()));
                drop(strong);
                while let Some(part) = changes.next().await {
                    let Some(service) = service.upgrade() else { return };
                    if matches!(part, Part::Notification(_)) {
                        service.tool_headers.forget();
                    }
                }
                tokio::time::sleep(LISTEN_AGAIN).await;
            }
        });
    }

    /// The handler's introduction.
    pub(crate) async fn introduction(&self, caller: &Arc<Caller>) -> Result<Raw, Fault> {
        let mut call = plain(method::DISCOVER, Object::new());
        call.caller = caller.clone();
        let introduction = self.handler.call(call).outcome().await?;
        if let Some(identity) = introduction.member("_meta").and_then(|meta| meta.member(SERVER_INFO)) {
            // Somebody else may have been quicker, with the same answer.
            drop(self.identity.set(Identity::new(identity)));
        }
        Ok(introduction)
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    pub(crate) fn begin_draining(&self) {
        self.draining.store(true, Ordering::Release);
    }
}

/// A call of our own.
fn plain(name: &'static str, mut params: Object) -> Call {
    params.set("_meta", serde_json::json!({PROTOCOL_VERSION: "2026-07-28", CLIENT_CAPABILITIES: {}}).into());
    let mut call = Call::new(name, Some(params.to_raw()));
    call.caller = Caller::ourselves();
    call
}

fn listen_to_tools() -> Object {
    let mut params = Object::new();
    params.set("notifications", serde_json::json!({"toolsListChanged": true}).into());
    params
}
