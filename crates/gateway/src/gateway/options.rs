//! The settings of a gateway.

use super::{PersonalOptions, Source};
use crate::{approval::Approvals, catalog::Rules, rewrite::StateOptions};
use std::{fmt, sync::Arc, time::Duration};
use trunkline_protocol::message::Implementation;

/// Upper limit of `page_size`.
pub const MAX_PAGE_SIZE: usize = 10_000;

/// The settings of a gateway.
#[derive(Clone)]
pub struct GatewayOptions {
    /// The gateway's name and version, for clients.
    pub identity: Implementation,
    /// Instructions that precede those of the servers.
    pub instructions: Option<String>,
    /// The servers, in the order in which they are listed.
    pub servers: Vec<Arc<dyn Source>>,
    pub rules: Rules,
    /// Items on one page of a list, at most [`MAX_PAGE_SIZE`].
    pub page_size: usize,
    /// The TTL of lists for clients.
    pub list_ttl: Duration,
    /// Time in which changes of offers are collected before a new catalog is made.
    pub quiet: Duration,
    /// Maximum time that a call waits for the first connection of its server.
    pub patience: Duration,
    /// Maximum time that lists and calls of unknown names wait for the first connection of a
    /// server. The default is not to wait: the list names the missing servers, and a change is
    /// announced when they connect.
    pub grace: Duration,
    /// The same while no server at all has connected.
    pub settle: Duration,
    /// Maximum time that a subscription waits for the servers' acknowledgements.
    pub agree_within: Duration,
    /// Most subscriptions of one caller, and of all together.
    pub listeners_per_caller: usize,
    pub listeners: usize,
    /// This gateway's own id, published in its introduction to detect a gateway that is its own
    /// upstream.
    pub instance: Option<Arc<str>>,
    /// Key and lifetime of the seal that binds a server's `requestState` to its call.
    pub states: StateOptions,
    /// The requests for a person's consent; `None`: calls that need it are refused.
    pub approvals: Option<Approvals>,
    /// The catalogs of single identities, for servers that differ by caller.
    pub personal: PersonalOptions,
}

impl GatewayOptions {
    pub fn new(identity: Implementation) -> Self {
        Self {
            identity,
            instructions: None,
            servers: Vec::new(),
            rules: Rules::default(),
            page_size: 1000,
            list_ttl: Duration::ZERO,
            quiet: Duration::from_millis(50),
            patience: Duration::from_secs(30),
            grace: Duration::ZERO,
            settle: Duration::ZERO,
            agree_within: Duration::from_secs(2),
            listeners_per_caller: 32,
            listeners: 4096,
            instance: None,
            states: StateOptions::default(),
            approvals: None,
            personal: PersonalOptions::default(),
        }
    }
}

impl fmt::Debug for GatewayOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers: Vec<&str> = self.servers.iter().map(|server| server.name().as_ref()).collect();
        f.debug_struct("GatewayOptions")
            .field("servers", &servers)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}
