//! The part of the head that all requests of one kind to one target share, serialized once.

use http::Method;
use trunkline_http1::write_header;

use super::fields::Fields;
use super::target::Target;

#[derive(Debug)]
pub(crate) struct RequestTemplate {
    pub(super) method: Method,
    pub(super) target: Target,
    pub(super) fields: Fields,
    /// The request line and the fields in HTTP/1.1 form.
    pub(super) text: Vec<u8>,
    /// The `host` field, used unless the request has its own.
    pub(super) host: Vec<u8>,
}

impl RequestTemplate {
    pub(crate) fn new(method: Method, target: Target, fields: Fields) -> Self {
        let mut text = Vec::new();
        for part in [method.as_str(), " ", target.path(), " HTTP/1.1\r\n"] {
            text.extend_from_slice(part.as_bytes());
        }
        for (name, value) in fields.iter() {
            write_header(&mut text, name.as_str(), value.as_bytes());
        }
        let mut host = Vec::new();
        write_header(&mut host, "host", target.host().as_bytes());
        Self { method, target, fields, text, host }
    }

    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// A copy for another target.
    pub(super) fn with_target(&self, target: Target) -> Self {
        Self::new(self.method.clone(), target, self.fields.clone())
    }
}
