//! The options of a connection, and the client's identity.

use crate::{
    frame_tap::FrameTap,
    host::{Host, NoHost},
    ids::Ids,
    item_filter::ItemFilter,
    memory::Memory,
    resilience::{BreakerOptions, RetryOptions, Timeouts},
};
use serde_json::{Value, json};
use std::{ffi::OsString, fmt, sync::Arc, time::Duration};
use trunkline_process::GracePeriods;
use trunkline_protocol::{Era, Raw, Revision};
use trunkline_transport::{child::ChildLimits, http::HttpOptions};

/// Default TTL of a cached list without a hint from the server.
pub const DEFAULT_LIST_TTL: Duration = Duration::from_mins(5);

/// The options of a connection. By default transport and revision are detected, and the server's
/// questions are not answered.
#[derive(Clone)]
pub struct ConnectOptions {
    pub speak: RevisionChoice,
    pub timeouts: Timeouts,
    /// The side that enforces the timeout of relayed calls.
    pub timekeeper: TimeoutOwner,
    pub retry: RetryOptions,
    pub breaker: BreakerOptions,
    /// Headers, certificates and limits for HTTP.
    pub http: HttpOptions,
    /// Tells if credentials may go over plain http to another machine.
    pub exposure: Exposure,
    /// The environment of which a server's process inherits a short list. The library reads none
    /// itself.
    pub environment: Vec<(OsString, OsString)>,
    /// Limits on the memory that a server's process may make us use.
    pub process_limits: ChildLimits,
    /// Grace periods of a server's process at shutdown.
    pub patience: GracePeriods,
    pub ids: Ids,
    /// TTL of a cached list if the server gives no hint.
    pub list_ttl: Duration,
    pub host: Arc<dyn Host>,
    pub tap: Option<FrameTap>,
    /// Results of earlier detections.
    pub memory: Option<Arc<Memory>>,
    pub client: ClientInfo,
    /// The client whose calls we relay; `None` if we are the client.
    pub behalf: Option<Behalf>,
    /// The items that a [`Client`](crate::Client) lists and uses.
    pub items: ItemFilter,
}

/// The client on whose behalf a connection is made. Its calls have their own `_meta`, and a legacy
/// server's question goes to the call it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Behalf {
    /// Its capabilities, as it wrote them.
    pub capabilities: Raw,
    /// Its name and version, as it wrote them.
    pub client: Option<Raw>,
}

/// The revision to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RevisionChoice {
    /// The newest one that the server supports.
    #[default]
    Newest,
    /// The newest of this era.
    Era(Era),
    /// This one. If a legacy server answers with another one, we log a warning and use that; an
    /// unknown one is an error.
    Exactly(Revision),
}

/// The side that enforces the timeout of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeoutOwner {
    /// The connection, by its own timeouts.
    #[default]
    Connection,
    /// The relaying caller: it drops the reply when its own timeout expires.
    Caller,
}

/// Tells if credentials may be sent unencrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exposure {
    /// Send headers with credentials only over https or to this machine.
    #[default]
    Refuse,
    /// Send them to any address.
    Accept,
}

/// The client's identity, sent to servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientInfo {
    pub name: String,
    pub title: Option<String>,
    pub version: String,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            speak: RevisionChoice::default(),
            timeouts: Timeouts::default(),
            timekeeper: TimeoutOwner::default(),
            retry: RetryOptions::default(),
            breaker: BreakerOptions::default(),
            http: HttpOptions::default(),
            exposure: Exposure::default(),
            environment: Vec::new(),
            process_limits: ChildLimits::default(),
            patience: GracePeriods::default(),
            ids: Ids::default(),
            list_ttl: DEFAULT_LIST_TTL,
            host: Arc::new(NoHost),
            tap: None,
            memory: None,
            client: ClientInfo::default(),
            behalf: None,
            items: ItemFilter::default(),
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
    /// Shows only fields without secrets: headers and environment may hold some.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("speak", &self.speak)
            .field("timeouts", &self.timeouts)
            .field("ids", &self.ids)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}
