//! The application's interface: caches lists, lets the host answer questions, retries failures.

mod call;
mod driver;
mod lists;
mod requests;
mod subscription;
mod tasks;

use crate::{
    ConnectOptions, Connection, ServerInfo, State, Target,
    cache::{CacheOptions, Stale},
    item_filter::ItemFilter,
    resilience::{Breaker, BreakerState, OutOfRange, Retry, Timeouts},
};
use lists::{ListeningHost, Lists};
use parking_lot::Mutex;
use std::{fmt, sync::Arc};
use tokio::sync::watch;
use trunkline_protocol::{Fault, FaultKind, Raw, Reply};

pub use call::ToolCall;
pub use lists::Listing;
pub use subscription::{Change, Interest, Subscription};

/// A connection to one server with all protocol features, the same for every revision and
/// transport.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

struct Shared {
    connection: Connection,
    timeouts: Timeouts,
    breaker: Breaker,
    retry: Retry,
    lists: Arc<Lists>,
    items: ItemFilter,
    subscribed: Mutex<subscription::Counts>,
}

impl Client {
    /// Connects; transport and revision are detected.
    pub async fn connect(target: &Target, mut options: ConnectOptions) -> Result<Self, Fault> {
        let breaker = Breaker::new(target.key(), options.breaker).map_err(|e| bad_option(&e))?;
        let retry = Retry::new(options.retry).map_err(|e| bad_option(&e))?;
        let cache = CacheOptions { ttl: options.list_ttl, stale: Stale::Never, ..CacheOptions::default() };
        let lists = Arc::new(Lists::new(cache).map_err(|e| bad_option(&e))?);
        options.host = Arc::new(ListeningHost { host: options.host, lists: lists.clone() });
        let (timeouts, items) = (options.timeouts, options.items.clone());
        let connection = Connection::open(target, options).await?;
        let subscribed = Mutex::default();
        let shared = Shared { connection, timeouts, breaker, retry, lists, items, subscribed };
        Ok(Self(Arc::new(shared)))
    }

    pub fn server(&self) -> &ServerInfo {
        self.0.connection.server()
    }

    /// True if the server declares a capability, such as `tools` or `resources.subscribe`.
    pub fn has_capability(&self, path: &str) -> bool {
        self.server().has_capability(path)
    }

    pub fn state(&self) -> State {
        self.0.connection.state()
    }

    pub fn watch_state(&self) -> watch::Receiver<State> {
        self.0.connection.watch_state()
    }

    pub fn breaker(&self) -> BreakerState {
        self.0.breaker.state()
    }

    /// The underlying connection, for callers that want the raw messages.
    pub fn connection(&self) -> &Connection {
        &self.0.connection
    }

    /// Sends any request with its parameters as JSON. The reply also yields notifications and
    /// questions.
    pub fn request(&self, method: &str, params: Option<Raw>) -> Reply {
        use trunkline_protocol::{Call, Handler};
        let mut call = Call::new(method.to_owned(), params);
        call.revision = self.server().revision;
        self.0.connection.call(call)
    }

    /// Closes the connection and waits until the server's process or session has ended.
    pub async fn close(&self) {
        self.0.connection.close().await;
    }

    /// Fails with E205 if the server does not declare this capability.
    fn needs(&self, capability: &str) -> Result<(), Fault> {
        if self.has_capability(capability) {
            return Ok(());
        }
        let fault = format!("the server does not offer `{capability}`");
        Err(Fault::new(FaultKind::CapabilityMissing, fault))
    }
}

fn bad_option(error: &OutOfRange) -> Fault {
    Fault::new(FaultKind::InvalidRequest, error.to_string())
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.0.connection).finish()
    }
}
