//! Service: one handler and everything about its clients, shared by all ways in.

use crate::{
    era::{Identity, KeptLists, Parking, ToolHeaders},
    http::SseClients,
    metrics::Metrics,
    options::ServeOptions,
    phase::Phase,
    session::Sessions,
    tasks::TaskStore,
};
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::sync::watch;
use trunkline_protocol::{
    Call, Caller, Fault, Handler, Object, Part, Raw,
    message::{
        declares_tasks,
        meta::{CLIENT_CAPABILITIES, PROTOCOL_VERSION, SERVER_INFO},
    },
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
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) tool_headers: ToolHeaders,
    pub(crate) lists: KeptLists,
    /// The tasks that clients of 2025-11-25 were told of.
    pub(crate) tasks: TaskStore,
    runs_tasks: AtomicBool,
    pub(crate) sse_clients: Arc<SseClients>,
    /// Who the handler says it is, for every modern result.
    pub(crate) identity: OnceLock<Identity>,
    /// The path below the main door's, empty or beginning with `/`.
    pub(crate) path: String,
    phase: Arc<watch::Sender<Phase>>,
}

impl Service {
    pub(crate) fn new(handler: Arc<dyn Handler>, options: ServeOptions) -> Arc<Self> {
        Arc::new(Self::assemble(handler, options))
    }

    /// Another door of the same server: what it counts and when it closes is shared, what clients hold is not.
    pub(crate) fn beside(&self, handler: Arc<dyn Handler>, name: &str) -> Arc<Self> {
        Arc::new(Self {
            metrics: self.metrics.clone(),
            phase: self.phase.clone(),
            path: format!("/{name}"),
            ..Self::assemble(handler, self.options.clone())
        })
    }

    fn assemble(handler: Arc<dyn Handler>, options: ServeOptions) -> Self {
        let limits = options.limits;
        Self {
            handler,
            options,
            sessions: Sessions::new(limits.sessions, limits.session_idle),
            parking: Parking::new(limits.parked, limits.parked_for),
            metrics: Arc::default(),
            tool_headers: ToolHeaders::default(),
            lists: KeptLists::default(),
            tasks: TaskStore::default(),
            runs_tasks: AtomicBool::new(false),
            sse_clients: Arc::default(),
            identity: OnceLock::new(),
            path: String::new(),
            phase: Arc::default(),
        }
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
    /// It is asked for as the client would ask, so that whoever is behind the handler meets that client and no other.
    pub(crate) async fn introduction(&self, caller: &Arc<Caller>, meta: Option<Raw>) -> Result<Raw, Fault> {
        let mut call = plain(method::DISCOVER, Object::new());
        call.caller = caller.clone();
        if let Some(meta) = meta {
            let mut params = Object::new();
            params.set("_meta", meta);
            call.params = Some(params.to_raw());
        }
        let introduction = self.handler.call(call).outcome().await?;
        if let Some(identity) = introduction.member("_meta").and_then(|meta| meta.member(SERVER_INFO)) {
            // Somebody else may have been quicker, with the same answer.
            drop(self.identity.set(Identity::new(identity)));
        }
        let runs_tasks = introduction.member("capabilities").as_ref().is_some_and(declares_tasks);
        self.runs_tasks.store(runs_tasks, Ordering::Release);
        Ok(introduction)
    }

    /// Whether the handler can go on with a call in the background.
    pub(crate) fn runs_tasks(&self) -> bool {
        self.runs_tasks.load(Ordering::Acquire)
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.phase.borrow() > Phase::Serving
    }

    /// To hear of the end.
    pub(crate) fn phase(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// Says how far it has come.
    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.send_replace(phase);
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
