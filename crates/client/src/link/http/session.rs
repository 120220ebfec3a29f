//! What a legacy server gave us to repeat on every request.

use ::http::HeaderValue;
use trunkline_protocol::{Era, Notification, Revision};
use trunkline_transport::{
    headers::{self, MCP_METHOD, MCP_PROTOCOL_VERSION, MCP_SESSION_ID},
    http::Fields,
};

#[derive(Debug, Clone, Default)]
pub(super) struct Session {
    pub(super) id: Option<HeaderValue>,
    pub(super) revision: Option<Revision>,
}

impl Session {
    pub(super) fn era(&self) -> Option<Era> {
        self.revision.map(Revision::era)
    }

    pub(super) fn headers(&self) -> Fields {
        let mut headers = Fields::with_capacity(4);
        self.add_to(&mut headers);
        headers
    }

    /// Adds what the session asks for, without touching what the request itself says.
    pub(super) fn add_to(&self, headers: &mut Fields) {
        if let Some(id) = &self.id {
            headers.set(MCP_SESSION_ID, id.clone());
        }
        if let Some(revision) = self.revision.filter(|r| r.has_version_header())
            && headers.get(&MCP_PROTOCOL_VERSION).is_none()
        {
            headers.set(MCP_PROTOCOL_VERSION, HeaderValue::from_static(revision.as_str()));
        }
    }

    pub(super) fn headers_for(&self, notification: &Notification) -> Fields {
        let mut headers = self.headers();
        if self.era() == Some(Era::Modern) {
            headers.set(MCP_METHOD, headers::encode_value(&notification.method));
        }
        headers
    }
}
