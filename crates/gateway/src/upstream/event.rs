//! A notification of a server that belongs to no call.

use std::sync::Arc;
use trunkline_protocol::Notification;

/// A notification, and the caller who may see it.
#[derive(Debug, Clone)]
pub struct Event {
    pub notification: Notification,
    /// The principal of the session; `None` if all callers share it.
    pub principal: Option<Arc<str>>,
}
