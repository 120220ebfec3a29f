//! How to connect, and as whom.

use crate::{
    frame_tap::Tap,
    host::{Host, Nobody},
    ids::Ids,
    memory::Memory,
    resilience::{BreakerOptions, RetryOptions, Timeouts},
};
use serde_json::{Value, json};
use std::{ffi::OsString, fmt, sync::Arc, time::Duration};
use trunkline_process::Patience;
use trunkline_protocol::{Era, Raw, Revision};
use trunkline_transport::{child::ChildLimits, http::HttpOptions};

/// The default age at which a cached list is asked for again.
pub const DEFAULT_LIST_TTL: Duration = Duration::from_mins(5);

/// How to connect. The default finds everything out by itself and has nobody to answer questions.
#[derive(Clone)]
pub struct ConnectOptions {
    pub speak: Speak,
    pub timeouts: Timeouts,
    /// Who keeps the time of calls that are passed on.
    pub timekeeper: Timekeeper,
    pub retry: RetryOptions,
    pub breaker: BreakerOptions,
    /// Headers, certificates and limits for HTTP.
    pub http: HttpOptions,
    /// Whether credentials may go over plain http to another machine.
    pub exposure: Exposure,
    /// The environment a server's process may inherit a short list from. The library reads none itself.
    pub environment: Vec<(OsString, OsString)>,
    /// Bounds on what a server's process may make us hold.
    pub process_limits: ChildLimits,
    /// How long a server's process may take to leave.
    pub patience: Patience,
    pub ids: Ids,
    /// How old a cached list may get when the server gives no hint.
    pub list_ttl: Duration,
    pub host: Arc<dyn Host>,
    pub tap: Option<Tap>,
    /// What was found out about servers, to be used again.
    pub memory: Option<Arc<Memory>>,
    pub client: ClientInfo,
    /// The client that stands behind us, when we only pass on.
    pub behalf: Option<Behalf>,
}

/// The client on whose behalf a connection is made. Its calls bring their own `_meta`, and what a legacy server asks goes to
/// the call it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Behalf {
    /// Its capabilities, as it wrote them.
    pub capabilities: Raw,
    /// Its name and version, as it wrote them.
    pub client: Option<Raw>,
}

/// Which revision to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Speak {
    /// The newest one the server has.
    #[default]
    Newest,
    /// The newest of this era.
    Era(Era),
    /// This one; a server that answers with another one is warned about, one we do not know is refused.
    Exactly(Revision),
}

/// Who ends a call that takes too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Timekeeper {
    /// The connection, by its time limits.
    #[default]
    Connection,
    /// Whoever passes the call on: it drops the reply when its own time is over.
    Caller,
}

/// Whether credentials may be read by whoever is in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exposure {
    /// Headers with credentials go over https, or stay on this machine.
    #[default]
    Refuse,
    /// They go wherever the address says.
    Accept,
}

/// Who we say we are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientInfo {
    pub name: String,
    pub title: Option<String>,
    pub version: String,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            speak: Speak::default(),
            timeouts: Timeouts::default(),
            timekeeper: Timekeeper::default(),
            retry: RetryOptions::default(),
            breaker: BreakerOptions::default(),
            http: HttpOptions::default(),
            exposure: Exposure::default(),
            environment: Vec::new(),
            process_limits: ChildLimits::default(),
            patience: Patience::default(),
            ids: Ids::default(),
            list_ttl: DEFAULT_LIST_TTL,
            host: Arc::new(Nobody),
            tap: None,
            memory: None,
            client: ClientInfo::default(),
            behalf: None,
        }
    }
}

impl Default for ClientInfo {
    fn default() -> Self {
        Self { name: "trunkline".to_owned(), title: None, version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

impl ClientInfo {
    pub(crate) fn to_json(&self) -> Value {
        let mut info = json!({"name": self.name, "version": self.version});
        if let Some(title) = &self.title {
            info["title"] = title.clone().into();
        }
        info
    }
}

impl fmt::Debug for ConnectOptions {
    /// Headers and environment may hold secrets, so only what cannot is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("speak", &self.speak)
            .field("timeouts", &self.timeouts)
            .field("ids", &self.ids)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}
