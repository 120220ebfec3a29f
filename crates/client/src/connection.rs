//! Connection: one conversation with one server, offered as a [`Handler`].

use crate::{
    conversation::{self, Rounds},
    era::{self, Ask, Speech},
    facts::Facts,
    handshake,
    host::Host,
    ids::IdSource,
    inbox::{Loss, LossKind},
    levels::Levels,
    lines::{self, Lines},
    link::{Exchange, Link},
    listen::{self, Watched},
    meta_cache::MetaCache,
    options::{ConnectOptions, TimeoutOwner},
    relay::Relay,
    resilience::Timeouts,
    server::ServerInfo,
    state::{Life, Moved, State},
    tasks::{self, PendingTasks},
};
use parking_lot::Mutex;
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::sync::{Mutex as AsyncMutex, broadcast, watch};
use trunkline_protocol::{Call, Era, Fault, FaultKind, Handler, Notification, Notify, Raw, Reply, method};
use trunkline_resilience::timeout;

/// An open conversation. Cloning shares it; [`Connection::close`] ends it for all.
#[derive(Clone)]
pub struct Connection(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) link: Link,
    pub(crate) speech: Speech,
    pub(crate) server: ServerInfo,
    pub(crate) options: ConnectOptions,
    ids: IdSource,
    life: Arc<Life>,
    /// The log level the caller asked for.
    level: Mutex<Option<String>>,
    /// The log level of the callers whose calls we relay.
    pub(crate) levels: Levels,
    pub(crate) watched: Watched,
    pub(crate) facts: Facts,
    pub(crate) meta_cache: MetaCache,
    pub(crate) pending_tasks: PendingTasks,
    pub(crate) lines: Lines,
    /// Counts sessions, so that many calls that lose one session open one new session.
    session: AtomicU64,
    renewal: AsyncMutex<()>,
}

/// The result of the detection.
pub(crate) struct Detected {
    pub(crate) link: Link,
    pub(crate) speech: Speech,
    pub(crate) server: ServerInfo,
    pub(crate) ids: IdSource,
    pub(crate) life: Arc<Life>,
}

impl Connection {
    pub(crate) fn new(found: Detected, options: ConnectOptions) -> Self {
        let Detected { link, speech, server, ids, life } = found;
        life.enter(State::Ready);
        disconnect_when_lost(&link, &life);
        tracing::info!(
            server = server.name.as_deref().unwrap_or("unnamed"),
            version = server.version.as_deref().unwrap_or("unknown"),
            revision = %server.revision,
            transport = %server.transport,
            "connected"
        );
        Self(Arc::new(Inner {
            link,
            speech,
            server,
            options,
            ids,
            life,
            level: Mutex::default(),
            levels: Levels::default(),
            watched: Watched::default(),
            facts: Facts::default(),
            meta_cache: MetaCache::default(),
            pending_tasks: PendingTasks::default(),
            lines: Lines::default(),
            session: AtomicU64::new(0),
            renewal: AsyncMutex::default(),
        }))
    }

    pub fn server(&self) -> &ServerInfo {
        &self.0.server
    }

    /// The server's description of itself in the form of a `server/discover` result, also for a
    /// legacy server.
    pub fn introduction(&self) -> Raw {
        era::introduction(&self.0.server)
    }

    pub fn state(&self) -> State {
        self.0.life.state()
    }

    pub fn watch_state(&self) -> watch::Receiver<State> {
        self.0.life.watch()
    }

    /// Notifications that belong to no call. A slow receiver gets `Lagged` with the number it
    /// missed.
    pub fn events(&self) -> broadcast::Receiver<Arc<Notification>> {
        self.0.link.events()
    }

    /// Number of responses that matched no request of ours.
    pub fn strays(&self) -> u64 {
        self.0.link.board().strays()
    }

    /// Number of lines on the server's standard output that were not JSON-RPC messages.
    pub fn noise(&self) -> u64 {
        self.0.link.board().noise()
    }

    /// Ends the session and waits until the server's process or session is gone.
    pub async fn close(&self) {
        if self.0.life.enter(State::ShuttingDown) == Moved::No {
            return;
        }
        self.0.lines.close().await;
        self.0.link.close().await;
        self.0.life.enter(State::Disconnected);
    }

    pub(crate) fn ask(&self, ask: Ask, rounds: Rounds, timeouts: Option<Timeouts>) -> Reply {
        conversation::begin(self.0.clone(), ask, rounds, timeouts, None)
    }

    pub(crate) fn host(&self) -> &Arc<dyn Host> {
        &self.0.options.host
    }

    pub(crate) fn set_level(&self, level: &str) {
        *self.0.level.lock() = Some(level.to_owned());
    }

    /// Publishes a notification that came with a call and concerns all listeners.
    pub(crate) fn publish(&self, notification: Notification) {
        self.0.link.publish(notification);
    }

    pub(crate) async fn notify_server(&self, notification: Notification) -> Result<(), Fault> {
        self.0.life.check_ready()?;
        self.0.link.notify(notification).await
    }
}

impl Handler for Connection {
    /// A caller of the server's era gets its messages unchanged, `input_required` and tasks
    /// included; for a caller of the other era they become questions and one final result.
    fn call(&self, call: Call) -> Reply {
        let era = self.0.speech.era();
        match call.method.as_ref() {
            method::DISCOVER if era == Era::Legacy => return Reply::ready(Ok(self.introduction())),
            method::LISTEN if era == Era::Legacy => return listen::listen(self.0.clone(), &call),
            name if tasks::is_about_task(name) && self.0.runs_tasks() => {
                return Reply::from_future(tasks::answer(self.0.clone(), call));
            }
            _ => {}
        }
        match Relay::of(&call, &self.0) {
            Ok((ask, rounds, relay)) => {
                let options = &self.0.options;
                let is_timed =
                    options.timekeeper == TimeoutOwner::Connection && call.method != method::LISTEN;
                let timeouts = is_timed.then_some(options.timeouts);
                match self.0.shared_line(&ask) {
                    Some(subject) => lines::begin(self.0.clone(), &subject, ask, rounds, relay),
                    None => conversation::begin(self.0.clone(), ask, rounds, timeouts, Some(relay)),
                }
            }
            Err(fault) => Reply::ready(Err(fault)),
        }
    }

    fn notify(&self, notice: Notify) {
        // A modern server asks for the roots each time.
        if notice.notification.method == method::ROOTS_CHANGED && self.0.speech.era() == Era::Modern {
            return;
        }
        let connection = self.clone();
        tokio::spawn(async move {
            if let Err(fault) = connection.notify_server(notice.notification).await {
                tracing::debug!(%fault, "a notification could not be delivered");
            }
        });
    }
}

impl Inner {
    pub(crate) fn is_ready(&self) -> bool {
        self.life.state() == State::Ready
    }

    /// Waits until the connection accepts requests; while a lost session is renewed, until that is
    /// done. If the connection is lost, the error is the reason of the loss.
    pub(crate) async fn ready(&self) -> Result<(), Fault> {
        if self.is_ready() {
            return Ok(());
        }
        let mut states = self.life.watch();
        // The sender lives in `self`, so this does not fail.
        states.wait_for(|state| *state != State::Initializing).await.ok();
        match &*self.link.board().watch_loss().borrow() {
            Some(fault) if self.life.state() == State::Disconnected => Err(fault.clone()),
            _ => self.life.check_ready(),
        }
    }

    /// Writes a request with an id of its own; it is sent when the exchange is first polled.
    pub(crate) fn exchange(&self, ask: &Ask) -> Exchange {
        let level = self.level.lock().clone();
        self.link.exchange(self.speech.write(ask, self.ids.next(), level.as_deref()))
    }

    /// The number of the current session.
    pub(crate) fn session(&self) -> u64 {
        self.session.load(Ordering::Acquire)
    }

    /// Opens a new session in place of session number `lost`, once, however many calls ask for it.
    /// It runs in its own task, because other calls may wait for it if the asking call is dropped.
    pub(crate) async fn renew(self: &Arc<Self>, lost: u64) -> Result<(), Loss> {
        let inner = self.clone();
        let renewal = tokio::spawn(async move { inner.renew_once(lost).await });
        renewal
            .await
            .unwrap_or_else(|_| Err(no_new_session("opening the new session was aborted".to_owned())))
    }

    async fn renew_once(&self, lost: u64) -> Result<(), Loss> {
        let _turn = self.renewal.lock().await;
        if self.session() != lost {
            return Ok(());
        }
        let Link::Http(http) = &self.link else { return Ok(()) };
        if self.life.enter(State::Initializing) == Moved::No {
            return Err(no_new_session("the connection was closed".to_owned()));
        }
        tracing::info!("the server no longer knows the session; opening a new one");
        http.forget_session();
        let limit = self.options.timeouts.connect();
        let begun = handshake::initialize(&self.link, &self.speech, &self.ids, &self.options);
        let renewed = timeout(limit, begun).await.unwrap_or_else(|| {
            Err(no_new_session(format!(
                "the server no longer knows our session, and opening a new one took longer than {limit:?}"
            )))
        });
        match renewed {
            Ok(_) => {
                self.session.fetch_add(1, Ordering::Release);
                self.life.enter(State::Ready);
                self.replay_level().await;
                self.replay_subscriptions().await;
                Ok(())
            }
            Err(loss) => {
                self.link.board().lose(&loss.fault);
                self.life.enter(State::Disconnected);
                Err(loss)
            }
        }
    }
}

fn no_new_session(why: String) -> Loss {
    Loss { fault: Fault::new(FaultKind::ConnectionLost, why), how: LossKind::Line }
}

/// Marks the connection as disconnected when its line is lost; `close` does so itself.
fn disconnect_when_lost(link: &Link, life: &Arc<Life>) {
    let mut loss = link.board().watch_loss();
    let life = life.clone();
    tokio::spawn(async move {
        // An error means that the connection was dropped.
        if loss.wait_for(Option::is_some).await.is_ok() && life.state() != State::ShuttingDown {
            life.enter(State::Disconnected);
        }
    });
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("server", &self.0.server)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
