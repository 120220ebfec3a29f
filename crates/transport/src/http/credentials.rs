//! Credentials that change while a client runs, such as OAuth tokens.

use std::fmt;
use std::pin::Pin;

use http::{HeaderValue, StatusCode, header};

use super::answer::Answer;

/// Retries of one request after the server refused its credentials.
pub(super) const MAX_REFUSALS: usize = 3;

/// Supplies the `Authorization` header of requests. An `Authorization` header that the request or
/// the options have already wins.
pub trait Credentials: fmt::Debug + Send + Sync {
    /// The header of the next request.
    fn header(&self) -> Supply;

    /// Answers a 401, or a 403 that asks for more scopes, with the header to repeat the request
    /// with. `None` passes the refusal to the caller.
    fn refused(&self, refusal: Refusal) -> Supplying;
}

/// The header, or a future that has to be awaited for it.
pub enum Supply {
    Ready(Option<HeaderValue>),
    Pending(Supplying),
}

pub type Supplying = Pin<Box<dyn Future<Output = Result<Option<HeaderValue>, CredentialsError>> + Send>>;

/// A response that refuses the request's credentials.
#[derive(Debug, Clone)]
pub struct Refusal {
    pub status: StatusCode,
    /// The values of `WWW-Authenticate`.
    pub challenges: Vec<String>,
    /// The `Authorization` header of the refused request.
    pub sent: Option<HeaderValue>,
    /// Earlier refusals of the same request.
    pub attempt: usize,
}

/// The reason why there are no credentials for a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CredentialsError {
    pub message: String,
    /// The command or the step that helps.
    pub action: Option<String>,
    /// True if the same request may succeed later.
    pub transient: bool,
}

impl Refusal {
    /// The refusal in a response; `None` if the response is no refusal of credentials. A 403 is
    /// one only if it says that the scope is insufficient.
    pub(super) fn of(answer: &Answer, sent: Option<&HeaderValue>, attempt: usize) -> Option<Self> {
        let status = answer.head.status;
        if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return None;
        }
        let challenges = answer.head.get_all(&header::WWW_AUTHENTICATE);
        let challenges: Vec<String> =
            challenges.iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
        let is_scope = |text: &String| {
            super::Challenge::read(text).iter().any(|found| found.get("error") == Some("insufficient_scope"))
        };
        if status == StatusCode::FORBIDDEN && !challenges.iter().any(is_scope) {
            return None;
        }
        Some(Self { status, challenges, sent: sent.cloned(), attempt })
    }
}

impl fmt::Debug for Supply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready(Some(_)) => "Ready(header)",
            Self::Ready(None) => "Ready(none)",
            Self::Pending(_) => "Pending",
        })
    }
}
