//! What a server says that belongs to no call.

use std::sync::Arc;
use trunkline_protocol::Notification;

/// A notification, and who may hear it.
#[derive(Debug, Clone)]
pub struct Event {
    pub notification: Notification,
    /// The principal whose session said it; `None` where everybody shares the session.
    pub principal: Option<Arc<str>>,
}
