//! The interface to an HTTP client, which the embedding program implements.

use std::{fmt, time::Duration};

use futures_util::future::BoxFuture;

use trunkline_process::{Captured, Keep};

/// Sends HTTP requests. Redirects are returned, not followed. A body is read up to `read_limit`
/// bytes, of which `keep` selects the part to keep (see
/// [`HeadTail`](trunkline_process::HeadTail)).
pub trait Fetch: fmt::Debug + Send + Sync {
    /// Sends a request and reads its answer, within the deadline.
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'static, Result<FetchResponse, FetchError>>;
}

/// A request.
#[derive(Clone, PartialEq, Eq)]
pub struct FetchRequest {
    /// The method.
    pub method: FetchMethod,
    /// The full URL.
    pub url: String,
    /// Header names are in lower case and may include `authorization`.
    pub headers: Vec<(String, String)>,
    /// The part of the body to keep.
    pub keep: Keep,
    /// Maximum number of bytes read from the body.
    pub read_limit: u64,
    /// Timeout of the request, including the body.
    pub deadline: Duration,
}

/// The HTTP methods in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchMethod {
    /// Reads.
    Get,
    /// Changes something. Sent without a body.
    Post,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchResponse {
    /// The status.
    pub status: u16,
    /// Header names may have any case.
    pub headers: Vec<(String, String)>,
    /// The kept part of the body.
    pub body: Captured,
}

/// The reason why there is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FetchError(pub String);

impl FetchResponse {
    /// The first value of a header; `name` in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(given, _)| given.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

/// Omits header values, which may be secret.
impl fmt::Debug for FetchRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetchRequest")
            .field("method", &self.method)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}
