//! How requests are sent: plugged in by whoever has a transport.

use std::{fmt, time::Duration};

use futures_util::future::BoxFuture;

use trunkline_process::{Captured, Keep};

/// Sends HTTP requests. Redirects are answers like any other and not followed; bodies are read to the end or to
/// `read_limit`, of which `keep` is kept (see [`HeadTail`](trunkline_process::HeadTail)).
pub trait Fetch: fmt::Debug + Send + Sync {
    /// Sends a request and reads its answer, within the deadline.
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'static, Result<FetchResponse, FetchError>>;
}

/// A request.
#[derive(Clone, PartialEq, Eq)]
pub struct FetchRequest {
    /// The method.
    pub method: FetchMethod,
    /// The whole address.
    pub url: String,
    /// Names in lower case. One of them may be `authorization`.
    pub headers: Vec<(String, String)>,
    /// What to keep of the body.
    pub keep: Keep,
    /// Bytes of the body that are read at most.
    pub read_limit: u64,
    /// How long all of it may take.
    pub deadline: Duration,
}

/// The methods that are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchMethod {
    /// Looks.
    Get,
    /// Changes something. Sent without a body.
    Post,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchResponse {
    /// The status.
    pub status: u16,
    /// Names in any case.
    pub headers: Vec<(String, String)>,
    /// What was kept of the body.
    pub body: Captured,
}

/// Why there is no answer.
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

/// Without values of headers, which may be secret.
impl fmt::Debug for FetchRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetchRequest")
            .field("method", &self.method)
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}
