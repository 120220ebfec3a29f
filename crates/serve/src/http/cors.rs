//! CORS: web pages of named origins may call this server.
//!
//! Without named origins no header of CORS is ever sent, and a browser refuses the answer to a
//! page of another origin. Credentials are sent in `Authorization` by the page itself, so
//! `Access-Control-Allow-Credentials` is never needed.

use super::response::{Body, empty};
use crate::guard::Guard;
use ::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};

/// The methods of all endpoints.
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, DELETE");
/// The headers of answers that a page may read.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "etag, location, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset, \
     x-mcp-version, x-request-id, mcp-session-id, mcp-protocol-version, www-authenticate",
);
/// Seconds for which a browser may keep the answer to a preflight.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// A request of a page whose origin is named in the configuration.
#[derive(Debug, Clone)]
pub(super) struct Cors {
    origin: HeaderValue,
}

impl Cors {
    /// Expects that the guard has accepted these headers.
    pub(super) fn of(guard: &Guard, headers: &HeaderMap) -> Option<Self> {
        if guard.origins.is_empty() {
            return None;
        }
        let origin = headers.get(header::ORIGIN)?;
        let named = origin.to_str().is_ok_and(|text| guard.origins.iter().any(|named| named == text));
        named.then(|| Self { origin: origin.clone() })
    }

    /// The answer, if the browser asks whether the page may send a request. It asks without
    /// credentials.
    pub(super) fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<Response<Body>> {
        if method != Method::OPTIONS || !headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD) {
            return None;
        }
        let mut response = self.on(empty(StatusCode::NO_CONTENT));
        let answer = response.headers_mut();
        answer.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        answer.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        // The origin is trusted with every header: those of MCP include names that tools choose.
        if let Some(wanted) = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
            answer.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
        }
        Some(response)
    }

    pub(super) fn on(&self, mut response: Response<Body>) -> Response<Body> {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, self.origin.clone());
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
        headers.append(header::VARY, HeaderValue::from_static("origin"));
        response
    }
}
