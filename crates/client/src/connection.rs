//! Connection: one conversation with one server, offered as a [`Handler`].

use crate::{
    conversation::{self, Rounds},
    era::{Ask, Speech},
    handshake,
    host::Host,
    ids::IdSource,
    inbox::Loss,
    link::{Exchange, Link},
    options::ConnectOptions,
    resilience::Timeouts,
    server::ServerInfo,
    state::{Life, State},
};
use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::sync::{Mutex as AsyncMutex, broadcast, watch};
use trunkline_protocol::{Call, Fault, FaultKind, Handler, Notification, Notify, Raw, Reply};

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
    /// Counts sessions, so that many calls that lose one session begin one new session.
    session: AtomicU64,
    renewal: AsyncMutex<()>,
}

/// The pieces that detection found.
pub(crate) struct Found {
    pub(crate) link: Link,
    pub(crate) speech: Speech,
    pub(crate) server: ServerInfo,
    pub(crate) ids: IdSource,
    pub(crate) life: Arc<Life>,
}

impl Connection {
    pub(crate) fn new(found: Found, options: ConnectOptions) -> Self {
        let Found { link, speech, server, ids, life } = found;
        life.enter(State::Ready);
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
            session: AtomicU64::new(0),
            renewal: AsyncMutex::default(),
        }))
    }

    pub fn server(&self) -> &ServerInfo {
        &self.0.server
    }

    pub fn state(&self) -> State {
        self.0.life.state()
    }

    /// The states as they follow each other.
    pub fn watch_state(&self) -> watch::Receiver<State> {
        self.0.life.watch()
    }

    /// Notifications that belong to no call. A listener that is too slow hears how many it missed.
    pub fn events(&self) -> broadcast::Receiver<Notification> {
        self.0.link.events()
    }

    /// Messages of the server that answered nothing we asked.
    pub fn strays(&self) -> u64 {
        self.0.link.strays()
    }

    /// Says goodbye and waits until the server's process or session is gone.
    pub async fn close(&self) {
        if self.0.life.enter(State::ShuttingDown) == crate::state::Moved::No {
            return;
        }
        self.0.link.close().await;
        self.0.life.enter(State::Disconnected);
    }

    pub(crate) fn ask(&self, ask: Ask, rounds: Rounds, timeouts: Option<Timeouts>) -> Reply {
        conversation::begin(self.0.clone(), ask, rounds, timeouts)
    }

    pub(crate) fn host(&self) -> &Arc<dyn Host> {
        &self.0.options.host
    }

    pub(crate) fn set_level(&self, level: &str) {
        *self.0.level.lock().unwrap_or_else(PoisonError::into_inner) = Some(level.to_owned());
    }

    /// A notification came with a call that concerns everyone.
    pub(crate) fn overhear(&self, notification: Notification) {
        self.0.link.overhear(notification);
    }

    pub(crate) async fn notify_server(&self, notification: Notification) -> Result<(), Fault> {
        self.0.life.check_ready()?;
        self.0.link.notify(notification).await
    }
}

impl Handler for Connection {
    /// A caller of the server's own era gets its messages as they are, `input_required` and tasks included; for a caller of
    /// the other era they become questions and one final result.
    fn call(&self, call: Call) -> Reply {
        let params = match call.params.as_ref().map(Raw::object) {
            None => trunkline_protocol::Object::new(),
            Some(Some(params)) => params,
            Some(None) => {
                let fault = Fault::new(FaultKind::InvalidRequest, "`params` must be an object");
                return Reply::ready(Err(fault));
            }
        };
        let rounds =
            if call.revision.era() == self.0.speech.era() { Rounds::PassedOn } else { Rounds::Driven };
        self.ask(Ask::new(call.method, params), rounds, Some(self.0.options.timeouts))
    }

    fn notify(&self, notice: Notify) {
        let connection = self.clone();
        tokio::spawn(async move {
            if let Err(fault) = connection.notify_server(notice.notification).await {
                tracing::debug!(%fault, "a notification could not be delivered");
            }
        });
    }
}

impl Inner {
    pub(crate) fn check_ready(&self) -> Result<(), Fault> {
        self.life.check_ready()
    }

    /// Dresses a request with an id of its own; it goes out when the exchange is first asked.
    pub(crate) fn exchange(&self, ask: &Ask) -> Exchange {
        let level = self.level.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.link.exchange(self.speech.dress(ask, self.ids.next(), level.as_deref()))
    }

    /// The number of the session that requests now belong to.
    pub(crate) fn session(&self) -> u64 {
        self.session.load(Ordering::Acquire)
    }

    /// Begins a new session in place of session number `lost`, once, however many calls ask for it.
    pub(crate) async fn renew(&self, lost: u64) -> Result<(), Loss> {
        let _turn = self.renewal.lock().await;
        if self.session() != lost {
            return Ok(());
        }
        let Link::Http(http) = &self.link else { return Ok(()) };
        tracing::info!("the server forgot the session; beginning a new one");
        self.life.enter(State::Initializing);
        http.forget_session();
        let renewed = handshake::initialize(&self.link, &self.speech, &self.ids, &self.options).await;
        match renewed {
            Ok(_) => {
                self.session.fetch_add(1, Ordering::Release);
                self.life.enter(State::Ready);
                Ok(())
            }
            Err(loss) => {
                self.life.enter(State::Disconnected);
                Err(loss)
            }
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("server", &self.0.server)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
