//! Errors of a fetch.

use std::time::Duration;

use http::StatusCode;

use crate::http::{HttpError, InvalidUrl};

/// The reason why a URL could not be fetched.
///
/// The texts are for the caller who chose the URL. They do not tell a refused address from a host
/// that does not exist or does not answer, because that would describe our network. The log gets
/// the source.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    #[error("the URL cannot be fetched: expected an http or https URL without user name and password")]
    InvalidUrl(#[source] InvalidUrl),
    #[error("the server of the URL cannot be reached, or its address may not be fetched")]
    Unreachable(#[source] Box<HttpError>),
    #[error("the server redirects more than {limit} times in a row")]
    TooManyRedirects { limit: usize },
    #[error("the server redirects from https to http, which is not followed")]
    Downgrade,
    #[error("the server redirects to an address that cannot be fetched")]
    BadRedirect(#[source] InvalidUrl),
    #[error("the server answered with HTTP status {}", status.as_u16())]
    Status { status: StatusCode },
    #[error("the content is larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error("the server sent too little for {limit:?}")]
    TooSlow { limit: Duration },
    #[error("the fetch took longer than {limit:?}")]
    TimedOut { limit: Duration },
    #[error("the content has a coding that was not requested")]
    Coding { coding: String },
    #[error("the connection broke before the end of the content")]
    Broken(#[source] Box<HttpError>),
    #[error("the compressed content is damaged")]
    Damaged,
    #[error("too many large contents are in memory; try again later")]
    OutOfMemory,
}

impl ForeignError {
    /// True if the same fetch may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable(_)
            | Self::Broken(_)
            | Self::OutOfMemory
            | Self::TooSlow { .. }
            | Self::TimedOut { .. } => true,
            Self::Status { status } => status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS,
            _ => false,
        }
    }
}
