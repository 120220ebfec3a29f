//! One handler and the state of its clients, shared by all transports.

use crate::{
    era::{Identity, ListCache, Parking, ToolHeaders},
    execution::{Executions, queue::ExecutionQueues},
    http::SseClients,
    metrics::Metrics,
    options::ServeOptions,
    phase::Phase,
    session::Sessions,
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
    Call, Caller, Fault, Handler, Object, Origin, Part, Raw, Revision,
    message::{
        declares_tasks,
        meta::{CLIENT_CAPABILITIES, PROTOCOL_VERSION, SERVER_INFO},
    },
    method,
};
use trunkline_store::{Lazy, Place};

/// Interval of the removal of expired sessions and parked calls.
const SWEEP: Duration = Duration::from_secs(5);
/// Pause before resubscribing to the handler's tool changes.
const LISTEN_AGAIN: Duration = Duration::from_secs(1);

pub(crate) struct Service {
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) options: ServeOptions,
    pub(crate) sessions: Sessions,
    pub(crate) parking: Parking,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) tool_headers: ToolHeaders,
    pub(crate) lists: ListCache,
    runs_tasks: AtomicBool,
    /// The places of executions over REST; views share them.
    pub(crate) queues: Arc<ExecutionQueues>,
    /// Views share them.
    pub(crate) executions: Arc<Executions>,
    pub(crate) sse_clients: Arc<SseClients>,
    /// The handler's identity, which every modern result carries.
    pub(crate) identity: OnceLock<Identity>,
    /// The path below the main endpoint: empty, or the view's name after `/`.
    pub(crate) path: String,
    phase: Arc<watch::Sender<Phase>>,
}

impl Service {
    pub(crate) fn new(handler: Arc<dyn Handler>, options: ServeOptions) -> Arc<Self> {
        Arc::new(Self::assemble(handler, options))
    }

    /// The service of a view. It shares metrics and phase with this one, but no client state.
    pub(crate) fn for_view(&self, handler: Arc<dyn Handler>, name: &str) -> Arc<Self> {
        Arc::new(Self {
            metrics: self.metrics.clone(),
            queues: self.queues.clone(),
            executions: self.executions.clone(),
            phase: self.phase.clone(),
            path: format!("/{name}"),
            ..Self::assemble(handler, self.options.clone())
        })
    }

    fn assemble(handler: Arc<dyn Handler>, options: ServeOptions) -> Self {
        let (limits, rest) = (options.limits, options.rest);
        let store = options.store.clone().unwrap_or_else(|| Arc::new(Lazy::new(Place::Memory)));
        Self {
            handler,
            options,
            sessions: Sessions::new(limits.sessions, limits.sessions_per_caller, limits.session_idle),
            parking: Parking::new(limits.parked, limits.parked_for),
            metrics: Arc::default(),
            tool_headers: ToolHeaders::default(),
            lists: ListCache::default(),
            runs_tasks: AtomicBool::new(false),
            queues: ExecutionQueues::new(rest.running, rest.waiting),
            executions: Executions::new(store, rest, limits.connections),
            sse_clients: Arc::default(),
            identity: OnceLock::new(),
            path: String::new(),
            phase: Arc::default(),
        }
    }

    /// Starts the background tasks: expiry, and the subscription to tool changes. They end when
    /// the service is dropped.
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

    /// Learns the handler's identity, which results carry. A handler without one is served all the
    /// same.
    pub(crate) async fn identify(&self, caller: &Arc<Caller>, meta: Option<Raw>) {
        drop(self.introduction(caller, meta, Origin::Ourselves).await);
    }

    /// Calls `server/discover` with the client's own caller and `_meta`, so that upstreams behind
    /// the handler see that client and no other.
    pub(crate) async fn introduction(
        &self,
        caller: &Arc<Caller>,
        meta: Option<Raw>,
        origin: Origin,
    ) -> Result<Raw, Fault> {
        let mut call = plain(method::DISCOVER, Object::new());
        call.caller = caller.clone();
        call.origin = origin;
        if let Some(meta) = meta {
            let mut params = Object::new();
            params.set("_meta", meta);
            call.params = Some(params.to_raw());
        }
        let introduction = self.handler.call(call).outcome().await?;
        if let Some(identity) = introduction.member("_meta").and_then(|meta| meta.member(SERVER_INFO)) {
            // A concurrent call may have set the same identity already.
            drop(self.identity.set(Identity::new(identity)));
        }
        let runs_tasks = introduction.member("capabilities").as_ref().is_some_and(declares_tasks);
        self.runs_tasks.store(runs_tasks, Ordering::Release);
        Ok(introduction)
    }

    /// True if the handler declared the tasks extension.
    pub(crate) fn runs_tasks(&self) -> bool {
        self.runs_tasks.load(Ordering::Acquire)
    }

    /// The name of the server that a tool belongs to; empty if the handler has no servers, or the
    /// caller may not use the tool.
    pub(crate) fn server_of(&self, caller: &Caller, tool: &str) -> String {
        let server_of = self.options.server_of.as_ref();
        server_of.and_then(|of| of(caller, self.path.strip_prefix('/'), tool)).unwrap_or_default()
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.phase.borrow() > Phase::Serving
    }

    /// Subscribes to phase changes.
    pub(crate) fn phase(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    /// Enters a phase.
    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }
}

/// The `_meta` of a modern client without capabilities.
pub(crate) fn plain_meta() -> Object {
    let mut meta = Object::new();
    meta.set(PROTOCOL_VERSION, Raw::string(Revision::NEWEST.as_str()));
    meta.set(CLIENT_CAPABILITIES, Raw::empty_object());
    meta
}

/// A call made by the server itself.
fn plain(name: &'static str, mut params: Object) -> Call {
    params.set("_meta", plain_meta().to_raw());
    let mut call = Call::new(name, Some(params.to_raw()));
    call.caller = Caller::ourselves();
    call
}

fn listen_to_tools() -> Object {
    let mut params = Object::new();
    params.set("notifications", serde_json::json!({"toolsListChanged": true}).into());
    params
}
