//! What a legacy server gave us to repeat on every request.

use ::http::{HeaderMap, HeaderValue};
use trunkline_protocol::{Era, Notification, Revision};
use trunkline_transport::headers::{self, MCP_METHOD, MCP_PROTOCOL_VERSION, MCP_SESSION_ID};

#[derive(Debug, Clone, Default)]
pub(super) struct Session {
    pub(super) id: Option<HeaderValue>,
    pub(super) revision: Option<Revision>,
}

impl Session {
    pub(super) fn era(&self) -> Option<Era> {
        self.revision.map(Revision::era)
    }

    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(4);
        self.add_to(&mut headers);
        headers
    }

    /// Adds what the session asks for, without touching what the request itself says.
    pub(super) fn add_to(&self, headers: &mut HeaderMap) {
        if let Some(id) = &self.id {
            headers.insert(MCP_SESSION_ID, id.clone());
        }
        if let Some(revision) = self.revision.filter(|r| r.has_version_header()) {
            headers.entry(MCP_PROTOCOL_VERSION).or_insert(HeaderValue::from_static(revision.as_str()));
        }
    }

    pub(super) fn headers_for(&self, notification: &Notification) -> HeaderMap {
        let mut headers = self.headers();
        if self.era() == Some(Era::Modern) {
            headers.insert(MCP_METHOD, headers::encode_value(&notification.method));
        }
        headers
    }
}
