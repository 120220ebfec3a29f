//! The server: listens, serves connections, and drains before it stops.

use crate::{
    connection_slots::{ConnectionSlot, ConnectionSlots},
    endpoints::Endpoints,
    guard::{BindRefused, Guard, Peer},
    http::{HttpService, Origin, stopped},
    options::ServeOptions,
    phase::{Phase, reached},
    tls::Tls,
};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use std::{future::poll_fn, io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};
use trunkline_http1::server::{Connection, KeepAlive, Service as _};
use trunkline_protocol::Handler;
use trunkline_resilience::Deadline;

/// Pause after a failed accept, for example because no file descriptors are left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Time to send the responses of aborted calls.
const ABORT_GRACE: Duration = Duration::from_secs(1);

/// Connections served at once that were accepted while draining.
const MAX_LATE: usize = 64;

/// A server that listens.
pub struct Server {
    endpoints: Arc<Endpoints>,
    listener: TcpListener,
    address: SocketAddr,
    origin: SocketOrigin,
}

/// A bound socket, before its handler is known.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    origin: SocketOrigin,
}

/// The processes that hold the listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SocketOrigin {
    /// Only this process.
    Bound,
    /// Also the parent process, which gives it to the next one: connections that are not accepted
    /// here wait for that.
    Inherited,
}

/// The requested kind of shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shutdown {
    #[default]
    Running,
    /// Accept nothing new, and let calls in flight finish.
    Drain,
    /// Stop at once.
    Now,
}

#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error(transparent)]
    Refused(#[from] BindRefused),
    #[error("cannot listen on {address}")]
    Io { address: SocketAddr, source: io::Error },
    #[error("cannot use the inherited socket")]
    Inherited(#[source] io::Error),
}

impl Listener {
    /// The bound address, with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves a handler here. The guard should be the one that allowed this address.
    pub fn serve(self, handler: Arc<dyn Handler>, options: ServeOptions) -> Server {
        let Self { socket, address, origin } = self;
        Server { endpoints: Endpoints::new(handler, options), listener: socket, address, origin }
    }
}

impl Server {
    /// Listens on an address, if the guard allows it; port 0 means any free one.
    pub async fn listen(address: SocketAddr, guard: &Guard) -> Result<Listener, BindError> {
        guard.check_bind(address)?;
        let io = |source| BindError::Io { address, source };
        let socket = TcpListener::bind(address).await.map_err(io)?;
        let address = socket.local_addr().map_err(io)?;
        Ok(Listener { socket, address, origin: SocketOrigin::Bound })
    }

    /// Listens on a socket that the parent process has bound, if the guard allows its address.
    pub fn inherit(socket: std::net::TcpListener, guard: &Guard) -> Result<Listener, BindError> {
        let address = socket.local_addr().map_err(BindError::Inherited)?;
        guard.check_bind(address)?;
        socket.set_nonblocking(true).map_err(BindError::Inherited)?;
        let socket = TcpListener::from_std(socket).map_err(BindError::Inherited)?;
        Ok(Listener { socket, address, origin: SocketOrigin::Inherited })
    }

    /// Listens and serves.
    pub async fn bind(
        address: SocketAddr,
        handler: Arc<dyn Handler>,
        options: ServeOptions,
    ) -> Result<Self, BindError> {
        Ok(Self::listen(address, &options.guard).await?.serve(handler, options))
    }

    /// The bound address, with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until a shutdown is requested. Then `/readyz` returns 503, and calls in flight may
    /// finish within the drain limit.
    pub async fn run(self, mut shutdown: watch::Receiver<Shutdown>) {
        self.endpoints.main.start();
        let slots = ConnectionSlots::new(self.endpoints.main.options.limits.connections);
        let mut connections = JoinSet::new();
        let left_over = loop {
            let (stream, peer) = tokio::select! {
                accepted = self.accept() => accepted,
                () = shutdown_requested(&mut shutdown) => break None,
                Some(_) = connections.join_next() => continue,
            };
            self.endpoints.main.metrics.connected();
            let service = self.service(peer);
            let slot = tokio::select! {
                slot = slots.acquire(service.slot()) => slot,
                () = shutdown_requested(&mut shutdown) => break Some((stream, service)),
            };
            let phase = self.endpoints.main.phase();
            let serve = async move |stream| {
                serve_connection(stream, service, phase, KeepAlive::On).await;
                drop(slot);
            };
            if let Err(error) = self.assign(&mut connections, stream, serve) {
                tracing::warn!(%error, "a connection could not be served");
            }
        };
        let mut late = JoinSet::new();
        if let Some((stream, service)) = left_over {
            late.spawn(serve_connection(stream, service, self.endpoints.main.phase(), KeepAlive::OneRequest));
        }
        self.drain(connections, late, shutdown).await;
    }

    /// Accepts the next connection.
    async fn accept(&self) -> (TcpStream, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok(accepted) => return accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn service(&self, peer: SocketAddr) -> HttpService {
        let peer = Peer { address: peer, certificate: None };
        let origin = Origin { endpoints: self.endpoints.clone(), peer, port: self.address.port() };
        HttpService::new(origin, ConnectionSlot::new())
    }

    /// Serves a connection on the worker with the fewest connections.
    fn assign<S>(
        &self,
        connections: &mut JoinSet<()>,
        stream: TcpStream,
        serve: impl FnOnce(TcpStream) -> S + Send + 'static,
    ) -> io::Result<()>
    where
        S: Future<Output = ()> + Send + 'static,
    {
        let Some(worker) = self.endpoints.main.options.workers.assign() else {
            connections.spawn(serve(stream));
            return Ok(());
        };
        // A tokio stream is bound to the runtime that it was created in.
        let stream = stream.into_std()?;
        let runtime = worker.runtime().clone();
        let served = async move {
            match TcpStream::from_std(stream) {
                Ok(stream) => serve(stream).await,
                Err(error) => tracing::warn!(%error, "a connection could not be served"),
            }
            drop(worker);
        };
        connections.spawn_on(served, &runtime);
        Ok(())
    }

    /// Lets calls in flight finish. New connections get one response meanwhile, so that health
    /// checks see that the server drains; those of an inherited socket are left to the next
    /// process.
    async fn drain(
        self,
        mut connections: JoinSet<()>,
        mut late: JoinSet<()>,
        mut shutdown: watch::Receiver<Shutdown>,
    ) {
        let main = &self.endpoints.main;
        main.enter(Phase::Draining);
        let limit = main.options.limits.drain;
        let accepts = self.origin == SocketOrigin::Bound;
        let mut deadline = std::pin::pin!(Deadline::after(limit));
        let in_time = loop {
            if connections.is_empty() && main.executions.is_idle() {
                main.enter(Phase::Closing);
                if late.is_empty() {
                    break true;
                }
            }
            tokio::select! {
                Some(_) = connections.join_next() => {}
                Some(_) = late.join_next() => {}
                () = main.executions.idle(), if !main.executions.is_idle() => {}
                accepted = self.accept(), if accepts && !connections.is_empty() && late.len() < MAX_LATE => {
                    let (stream, peer) = accepted;
                    let service = self.service(peer);
                    late.spawn(serve_connection(stream, service, main.phase(), KeepAlive::OneRequest));
                }
                () = &mut deadline => break false,
                _ = shutdown.wait_for(|requested| *requested == Shutdown::Now) => break true,
            }
        };
        if !in_time {
            tracing::warn!(?limit, "some calls did not finish in time");
            main.enter(Phase::Stopped);
            let all = async {
                while connections.join_next().await.is_some() || late.join_next().await.is_some() {}
            };
            if tokio::time::timeout(ABORT_GRACE, all).await.is_err() {
                tracing::debug!("some responses of aborted calls could not be sent");
            }
        }
        if !main.executions.is_idle() {
            main.enter(Phase::Stopped);
            if tokio::time::timeout(ABORT_GRACE, main.executions.idle()).await.is_err() {
                tracing::warn!("the end of some executions could not be stored");
            }
        }
        connections.shutdown().await;
        late.shutdown().await;
        self.endpoints.end_all();
    }
}

/// Resolves when a shutdown is requested.
async fn shutdown_requested(shutdown: &mut watch::Receiver<Shutdown>) {
    // Without a sender nothing can stop the server.
    if shutdown.wait_for(|requested| *requested != Shutdown::Running).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// An event that ends a connection from the server's side.
enum Event {
    /// The server has reached this phase.
    Reached(Phase),
    Evicted,
}

async fn next_event(slot: Arc<ConnectionSlot>, mut phase: watch::Receiver<Phase>, wanted: Phase) -> Event {
    tokio::select! {
        now = reached(&mut phase, wanted) => Event::Reached(now),
        () = slot.evicted() => Event::Evicted,
    }
}

async fn serve_connection(
    stream: TcpStream,
    service: HttpService,
    phase: watch::Receiver<Phase>,
    keep_alive: KeepAlive,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection has no TCP_NODELAY");
    }
    match service.tls() {
        None => serve_stream(stream, service, phase, keep_alive).await,
        // On the heap: a plain connection should not reserve the memory of an encrypted one.
        Some(tls) => Box::pin(serve_encrypted(&tls, stream, service, phase, keep_alive)).await,
    }
}

/// Serves a connection after its TLS handshake, which has the time of a request head.
async fn serve_encrypted(
    tls: &Tls,
    stream: TcpStream,
    service: HttpService,
    phase: watch::Receiver<Phase>,
    keep_alive: KeepAlive,
) {
    let limit = service.options().header_timeout;
    let handshake = trunkline_resilience::timeout(limit, tls.accept(stream));
    let ended = next_event(service.slot().clone(), phase.clone(), Phase::Closing);
    let accepted = tokio::select! {
        accepted = handshake => accepted,
        _ = ended => return,
    };
    match accepted {
        Some(Ok((stream, certificate))) => {
            serve_stream(stream, service.identified(certificate), phase, keep_alive).await;
        }
        Some(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
        None => tracing::debug!("a TLS handshake took too long"),
    }
}

async fn serve_stream(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    service: HttpService,
    phase: watch::Receiver<Phase>,
    keep_alive: KeepAlive,
) {
    let mut wanted = if keep_alive == KeepAlive::OneRequest { Phase::Closing } else { Phase::Draining };
    let slot = service.slot().clone();
    let mut connection = Connection::new(stream, service, keep_alive);
    // `FuturesUnordered` polls a future only when that future was woken, not on every wake of the
    // connection.
    let mut events = FuturesUnordered::new();
    events.push(next_event(slot.clone(), phase.clone(), wanted));
    let served = loop {
        let event = tokio::select! {
            biased;
            served = poll_fn(|cx| connection.poll(cx)) => break served,
            Some(event) = events.next() => event,
        };
        match event {
            Event::Evicted if slot.is_evicted() => {
                tracing::debug!("an idle connection is evicted");
                connection.close_if_idle();
            }
            Event::Evicted => {}
            Event::Reached(Phase::Stopped) => {
                connection.abort(stopped);
                continue;
            }
            Event::Reached(_) => {
                wanted = Phase::Stopped;
                connection.drain();
            }
        }
        events.push(next_event(slot.clone(), phase.clone(), wanted));
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended early");
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}
