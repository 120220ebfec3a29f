//! How an upstream is reached. Another crate knows transports; here is what the gateway asks of it.

use futures_util::future::BoxFuture;
use std::sync::Arc;
use trunkline_protocol::{Caller, Fault, Handler, Notification, Raw, Revision, message::meta};

/// Opens sessions with one server.
pub trait Connect: Send + Sync {
    /// Starts or reaches the server and introduces the client that the profile describes.
    fn connect(&self, profile: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, Broken>>;
}

/// One open conversation with a server. Its [`Handler`] takes calls in the newest shape.
pub trait Session: Handler {
    /// What the server says about itself, as `server/discover` tells it.
    fn introduction(&self) -> Raw;

    fn revision(&self) -> Revision;

    /// Hears every notification that belongs to no call, for as long as the session lives.
    fn on_event(&self, hear: Box<dyn Fn(Notification) + Send + Sync>);

    /// Waits until the session is gone, and tells why.
    fn lost(&self) -> BoxFuture<'static, Fault>;

    /// Says goodbye and waits until the server's process or session is gone.
    fn close(&self) -> BoxFuture<'static, ()>;
}

/// Why there is no session.
#[derive(Debug, Clone)]
pub struct Broken {
    pub fault: Fault,
    /// Whether trying again the same way makes sense: a missing program stays missing until the configuration changes.
    pub permanent: bool,
}

/// For whom a session is opened. A server of the legacy era learns once and for all what its client can do, so clients
/// that differ in it cannot share a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Profile {
    /// The caller's id.
    pub principal: String,
    /// Client capabilities as the client wrote them.
    pub capabilities: String,
    /// Name and version of the client as it wrote them, where it did.
    pub client: Option<String>,
}

impl Profile {
    /// The profile of whoever makes a call; `params` are those of the call, in the newest shape.
    pub fn of(caller: &Caller, params: Option<&Raw>) -> Self {
        let (mut capabilities, mut client) = (None, None);
        let meta = params.and_then(|params| params.member("_meta"));
        for (name, value) in meta.iter().flat_map(Raw::members) {
            match name.as_ref() {
                meta::CLIENT_CAPABILITIES => capabilities = Some(text(value)),
                meta::CLIENT_INFO => client = Some(text(value)),
                _ => {}
            }
        }
        Self {
            principal: caller.id.clone(),
            capabilities: capabilities.unwrap_or_else(|| "{}".to_owned()),
            client,
        }
    }
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}
