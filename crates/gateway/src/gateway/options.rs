//! How a gateway is set up.

use super::Source;
use crate::catalog::Rules;
use std::{fmt, sync::Arc, time::Duration};
use trunkline_protocol::message::Implementation;

/// The most items of one page, whatever the options say.
pub const MAX_PAGE_SIZE: usize = 10_000;

/// The settings of a gateway.
#[derive(Clone)]
pub struct GatewayOptions {
    /// Who we say we are.
    pub identity: Implementation,
    /// Told before what the servers tell.
    pub instructions: Option<String>,
    /// The servers, in the order in which they are listed.
    pub servers: Vec<Arc<dyn Source>>,
    pub rules: Rules,
    /// Items on one page of a list, at most [`MAX_PAGE_SIZE`].
    pub page_size: usize,
    /// How long a list may be taken for fresh.
    pub list_ttl: Duration,
    /// How long changes of offers are gathered before a new catalog is made of them.
    pub quiet: Duration,
    /// How long a call waits until the server that it is for is first heard.
    pub patience: Duration,
    /// How long lists, and calls for names that nobody has yet, wait for a server that is wanted for the first time. Nothing waits
    /// by default: what is missing is said, and told when it comes.
    pub grace: Duration,
    /// How long they wait while no server at all was heard.
    pub settle: Duration,
    /// How long a subscription waits for the servers to agree.
    pub agree_within: Duration,
    /// Subscriptions that one caller may hold, and all together.
    pub listeners_per_caller: usize,
    pub listeners: usize,
    /// This gateway's own id, told in its introduction so that a gateway behind itself is noticed.
    pub instance: Option<Arc<str>>,
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
