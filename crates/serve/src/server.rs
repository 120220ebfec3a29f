//! The server: listens, serves connections, and stops politely.

use crate::{
    aside::Aside,
    doors::Doors,
    guard::{BindRefused, Guard},
    http::{Connection, Line, Stay},
    options::ServeOptions,
};
use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Poll, ready},
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
};
use trunkline_protocol::Handler;
use trunkline_resilience::Alarm;

/// How long to wait when no connection can be accepted, say because there are no descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a new connection may say nothing when others wait for its place.
const FIRST_WORD: Duration = Duration::from_secs(1);

/// Connections taken at once while the server is stopping.
const LATE: usize = 64;

/// A server that listens.
pub struct Server {
    doors: Arc<Doors>,
    listener: TcpListener,
    address: SocketAddr,
}

/// An address that is ours, before it is known what is served there.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    address: SocketAddr,
}

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shutdown {
    #[default]
    Running,
    /// Take nothing new, let what runs finish.
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
}

impl Listener {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves a handler here. The guard should be the one that allowed this address.
    pub fn serve(self, handler: Arc<dyn Handler>, options: ServeOptions) -> Server {
        Server { doors: Doors::new(handler, options), listener: self.listener, address: self.address }
    }
}

impl Server {
    /// Listens on an address, if the guard allows it; port 0 means any free one.
    pub async fn listen(address: SocketAddr, guard: &Guard) -> Result<Listener, BindError> {
        guard.check_bind(address)?;
        let io = |source| BindError::Io { address, source };
        let listener = TcpListener::bind(address).await.map_err(io)?;
        let address = listener.local_addr().map_err(io)?;
        Ok(Listener { listener, address })
    }

    /// Listens and serves.
    pub async fn bind(
        address: SocketAddr,
        handler: Arc<dyn Handler>,
        options: ServeOptions,
    ) -> Result<Self, BindError> {
        Ok(Self::listen(address, &options.guard).await?.serve(handler, options))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until told to stop. Readiness turns false first; calls under way may finish within the drain limit.
    pub async fn run(self, mut shutdown: watch::Receiver<Shutdown>) {
        self.doors.main.start();
        let room = Arc::new(Semaphore::new(self.doors.main.options.limits.connections));
        let crowded = watch::Sender::new(Crowd::Thin);
        let mut connections = JoinSet::new();
        loop {
            let place = if let Ok(place) = room.clone().try_acquire_owned() {
                Ok(place)
            } else {
                crowded.send_replace(Crowd::Full);
                tokio::select! {
                    place = room.clone().acquire_owned() => place,
                    () = told(&mut shutdown) => break,
                }
            };
            let Ok(place) = place else { break };
            crowded.send_if_modified(|crowd| std::mem::take(crowd) == Crowd::Full);
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = told(&mut shutdown) => break,
                Some(_) = connections.join_next() => continue,
            };
            match accepted {
                Ok((stream, peer)) => {
                    self.doors.main.metrics.connected();
                    let line = Line::new(self.doors.clone(), peer, self.address.port());
                    let (crowd, told) = (crowded.subscribe(), shutdown.clone());
                    let serve = async move |stream| {
                        serve_connection(line, stream, told, Some(crowd)).await;
                        drop(place);
                    };
                    if let Err(error) = self.deal(&mut connections, stream, serve) {
                        tracing::warn!(%error, "a connection could not be served");
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        self.drain(connections, shutdown).await;
    }

    /// Has a connection served in the lane with the fewest.
    fn deal<S>(
        &self,
        connections: &mut JoinSet<()>,
        stream: TcpStream,
        serve: impl FnOnce(TcpStream) -> S + Send + 'static,
    ) -> io::Result<()>
    where
        S: Future<Output = ()> + Send + 'static,
    {
        let Some(place) = self.doors.main.options.lanes.place() else {
            connections.spawn(serve(stream));
            return Ok(());
        };
        // A stream is woken by the runtime that it was made in.
        let stream = stream.into_std()?;
        let runtime = place.runtime().clone();
        let served = async move {
            match TcpStream::from_std(stream) {
                Ok(stream) => serve(stream).await,
                Err(error) => tracing::warn!(%error, "a connection could not be served"),
            }
            drop(place);
        };
        connections.spawn_on(served, &runtime);
        Ok(())
    }

    /// Lets what runs finish. The door stays open meanwhile, so that whoever asks hears that we are going.
    async fn drain(self, mut connections: JoinSet<()>, mut shutdown: watch::Receiver<Shutdown>) {
        self.doors.main.begin_draining();
        let limit = self.doors.main.options.limits.drain;
        let deadline = Alarm::after(limit);
        tokio::pin!(deadline);
        let mut late = JoinSet::new();
        let told = shutdown.clone();
        while !connections.is_empty() {
            tokio::select! {
                _ = connections.join_next() => {}
                accepted = self.listener.accept(), if late.len() < LATE => {
                    if let Ok((stream, peer)) = accepted {
                        let line = Line::new(self.doors.clone(), peer, self.address.port());
                        late.spawn(serve_connection(line, stream, told.clone(), None));
                    }
                }
                Some(_) = late.join_next() => {}
                () = &mut deadline => {
                    tracing::warn!(?limit, "some calls did not finish in time");
                    break;
                }
                _ = shutdown.wait_for(|told| *told == Shutdown::Now) => break,
            }
        }
        connections.shutdown().await;
        late.shutdown().await;
        self.doors.end_all();
    }
}

/// Resolves once the server is told to stop.
async fn told(shutdown: &mut watch::Receiver<Shutdown>) {
    // A sender that is gone can tell nothing any more; then we run for ever.
    if shutdown.wait_for(|told| *told != Shutdown::Running).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Whether connections wait for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Crowd {
    #[default]
    Thin,
    Full,
}

/// Ends when the connection has said nothing for a while and its place is wanted; else never.
async fn gives_way(line: Arc<Line>, crowd: Option<watch::Receiver<Crowd>>) {
    if let Some(mut crowd) = crowd {
        tokio::time::sleep(FIRST_WORD).await;
        while !line.has_spoken() {
            if *crowd.borrow_and_update() == Crowd::Full {
                tracing::debug!("a connection that asked nothing gives way to others");
                return;
            }
            if crowd.changed().await.is_err() {
                break;
            }
        }
    }
    std::future::pending::<()>().await;
}

/// What happens to a connection beside its requests.
enum Event {
    Stop,
    GiveWay,
}

async fn serve_connection(
    line: Arc<Line>,
    stream: TcpStream,
    mut shutdown: watch::Receiver<Shutdown>,
    crowd: Option<watch::Receiver<Crowd>>,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection has no TCP_NODELAY");
    }
    // A connection that comes while we are stopping gets one answer.
    let draining = *shutdown.borrow() != Shutdown::Running;
    let stay = if draining { Stay::Once } else { Stay::Open };
    let mut connection = Connection::new(stream, line.clone(), stay);
    let mut event = Aside::new(async move {
        tokio::select! {
            () = told(&mut shutdown), if !draining => Event::Stop,
            () = gives_way(line, crowd) => Event::GiveWay,
        }
    });
    let mut stopping = draining;
    let served = std::future::poll_fn(|cx| {
        loop {
            if let Poll::Ready(served) = connection.poll(cx) {
                return Poll::Ready(served);
            }
            if stopping {
                return Poll::Pending;
            }
            match ready!(Pin::new(&mut event).poll(cx)) {
                Event::GiveWay => return Poll::Ready(Ok(())),
                Event::Stop => {
                    stopping = true;
                    connection.leave();
                }
            }
        }
    });
    if let Err(error) = served.await {
        tracing::debug!(%error, "a connection ended early");
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}
