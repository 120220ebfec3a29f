//! The options of an HTTP client.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, header};

use super::credentials::Credentials;
use super::redirect::Redirects;
use crate::body::DEFAULT_BODY_LIMIT;
use crate::foreign::AddressPolicy;
use crate::sse::DEFAULT_EVENT_LIMIT;

/// Default timeout of name lookup, TCP connect and TLS handshake together.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Default timeout of the `endpoint` event of an HTTP+SSE server.
pub const DEFAULT_ENDPOINT_TIMEOUT: Duration = Duration::from_secs(10);
/// Default idle timeout of a pooled connection.
pub const DEFAULT_POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// Default limit of idle connections per origin.
pub const DEFAULT_POOL_MAX_IDLE: usize = 256;

/// Headers that belong to a single connection or message and are written by the client itself.
const FRAMING: [HeaderName; 8] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::HOST,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("keep-alive"),
];

/// The settings of an [`HttpClient`](super::HttpClient).
#[derive(Clone)]
pub struct HttpOptions {
    /// Sent with every request, unless the request has the same header itself.
    pub extra_headers: HeaderMap,
    /// Supplies the `Authorization` header of requests that have none.
    pub credentials: Option<Arc<dyn Credentials>>,
    /// Trusted in addition to the system's roots.
    pub ca_certificates: Vec<Pem>,
    pub client_certificate: Option<ClientCertificate>,
    pub addresses: AddressPolicy,
    pub redirects: Redirects,
    pub connect_timeout: Duration,
    /// Timeout of the response head. Calls may take long, so there is none by default.
    pub head_timeout: Option<Duration>,
    pub endpoint_timeout: Duration,
    /// Size limit of a response that is not an event stream.
    pub body_limit: usize,
    /// Size limit of one event of a stream.
    pub event_limit: usize,
    pub pool_idle_timeout: Duration,
    /// Limit of idle connections per origin and runtime.
    pub pool_max_idle: usize,
}

/// PEM-encoded certificates or keys.
#[derive(Clone)]
pub enum Pem {
    File(PathBuf),
    Bytes(Vec<u8>),
}

/// The certificate that the client presents if the server requests one.
#[derive(Debug, Clone)]
pub struct ClientCertificate {
    pub chain: Pem,
    /// May be the same file as the chain.
    pub key: Pem,
}

/// A header that [`HttpOptions::extra_headers`] may not contain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the header `{0}` is written by the HTTP client and cannot be set")]
pub struct ForbiddenHeader(pub HeaderName);

impl HttpOptions {
    pub(super) fn check(&self) -> Result<(), ForbiddenHeader> {
        match FRAMING.into_iter().find(|name| self.extra_headers.contains_key(name)) {
            Some(name) => Err(ForbiddenHeader(name)),
            None => Ok(()),
        }
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            extra_headers: HeaderMap::new(),
            credentials: None,
            ca_certificates: Vec::new(),
            client_certificate: None,
            addresses: AddressPolicy::Any,
            redirects: Redirects::SameOrigin,
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            head_timeout: None,
            endpoint_timeout: DEFAULT_ENDPOINT_TIMEOUT,
            body_limit: DEFAULT_BODY_LIMIT,
            event_limit: DEFAULT_EVENT_LIMIT,
            pool_idle_timeout: DEFAULT_POOL_IDLE_TIMEOUT,
            pool_max_idle: DEFAULT_POOL_MAX_IDLE,
        }
    }
}

/// Omits header values, which may be tokens.
impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("extra_headers", &self.extra_headers.keys().collect::<Vec<_>>())
            .field("credentials", &self.credentials)
            .field("ca_certificates", &self.ca_certificates)
            .field("client_certificate", &self.client_certificate)
            .field("addresses", &self.addresses)
            .field("redirects", &self.redirects)
            .field("connect_timeout", &self.connect_timeout)
            .field("head_timeout", &self.head_timeout)
            .field("endpoint_timeout", &self.endpoint_timeout)
            .field("body_limit", &self.body_limit)
            .field("event_limit", &self.event_limit)
            .field("pool_idle_timeout", &self.pool_idle_timeout)
            .field("pool_max_idle", &self.pool_max_idle)
            .finish()
    }
}

/// Omits the bytes, which may be a private key.
impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn headers_that_frame_a_message_cannot_be_set() {
        let mut options = HttpOptions::default();
        options.extra_headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer x"));
        assert_eq!(options.check(), Ok(()));
        options.extra_headers.insert(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        assert_eq!(options.check(), Err(ForbiddenHeader(header::TRANSFER_ENCODING)));
    }

    #[test]
    fn secrets_do_not_show_in_debug_output() {
        let mut options = HttpOptions::default();
        options.extra_headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer canary"));
        let pem = || Pem::Bytes(b"canary".to_vec());
        options.client_certificate = Some(ClientCertificate { chain: pem(), key: pem() });
        let shown = format!("{options:?}");
        assert!(shown.contains("authorization") && shown.contains("6 bytes"), "{shown}");
        assert!(!shown.contains("canary") && !shown.contains("99, 97, 110"), "{shown}");
    }
}
