//! Everything that can go wrong between a request and its answer.

use std::error::Error;
use std::time::Duration;

use super::connect_error::{ConnectError, ConnectFailure, find};
use super::media::UnexpectedContentType;
use super::redirect::RedirectError;
use super::status::StatusError;
use super::target::InvalidUrl;
use super::tls_error::TlsError;
use crate::body::{BodyError, BoxError};
use crate::sse::EventTooLarge;

/// Why a request got no usable answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error(transparent)]
    InvalidUrl(#[from] InvalidUrl),
    #[error(transparent)]
    Connect(Box<ConnectError>),
    #[error("no secure connection: {0}")]
    Tls(#[source] Box<TlsError>),
    #[error(transparent)]
    Status(#[from] Box<StatusError>),
    #[error("the server's answer is larger than {limit} bytes")]
    TooLarge { limit: usize },
    #[error(transparent)]
    UnexpectedContentType(#[from] Box<UnexpectedContentType>),
    #[error("the answer is content-encoded ({encoding}) although that was not asked for")]
    UnexpectedEncoding { encoding: String },
    #[error(transparent)]
    Redirect(#[from] RedirectError),
    #[error("the server names an endpoint of another origin, {target}; nothing was sent there")]
    ForeignEndpoint { target: String },
    #[error("the server's stream ended before it named an endpoint")]
    NoEndpoint,
    #[error("the connection broke: {0}")]
    Broken(#[source] BoxError),
    #[error("{phase} took longer than {limit:?}")]
    Timeout { phase: Phase, limit: Duration },
}

/// What was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Phase {
    #[error("the beginning of the answer")]
    Head,
    #[error("the endpoint event")]
    Endpoint,
}

impl HttpError {
    /// Whether the same request may well succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect(_) | Self::Broken(_) | Self::Timeout { .. } => true,
            Self::Status(refusal) => refusal.is_transient(),
            _ => false,
        }
    }

    /// Whether the server may have seen the request, and perhaps acted on it.
    pub fn may_have_been_processed(&self) -> bool {
        !matches!(self, Self::InvalidUrl(_) | Self::Connect(_) | Self::Tls(_))
    }

    /// The refusal, if that is what it was.
    pub fn status(&self) -> Option<&StatusError> {
        match self {
            Self::Status(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Connect(error) => error.failure.hint(),
            Self::Tls(error) => error.hint(),
            Self::Redirect(RedirectError::OtherOrigin { .. }) => {
                Some("if that is where the server lives now, use that address")
            }
            Self::Redirect(RedirectError::LosesBody { .. }) => Some("use the address it redirects to"),
            Self::UnexpectedContentType(_) => Some("is this the address of an MCP endpoint?"),
            _ => None,
        }
    }

    pub(crate) fn broken(source: impl Into<BoxError>) -> Self {
        Self::Broken(source.into())
    }

    /// Sorts out an error of the connection pool.
    pub(super) fn from_request(error: hyper_util::client::legacy::Error) -> Self {
        if let Some(connect) = find::<ConnectError>(&error) {
            return connect.clone().into();
        }
        Self::from_broken(error.into())
    }

    /// An error on an open connection. Under TLS 1.3 a server refuses a client's certificate only there.
    pub(crate) fn from_broken(source: BoxError) -> Self {
        let source: Box<dyn Error + Send + Sync> = source;
        match find::<rustls::Error>(&*source) {
            Some(error) => Self::Tls(Box::new(error.into())),
            None => Self::Broken(source),
        }
    }
}

impl From<ConnectError> for HttpError {
    fn from(error: ConnectError) -> Self {
        match error.failure {
            ConnectFailure::Tls(error) => Self::Tls(Box::new(error)),
            _ => Self::Connect(Box::new(error)),
        }
    }
}

impl From<BodyError> for HttpError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge { limit } => Self::TooLarge { limit },
            BodyError::Broken(source) => Self::from_broken(source),
        }
    }
}

impl From<EventTooLarge> for HttpError {
    fn from(error: EventTooLarge) -> Self {
        Self::TooLarge { limit: error.limit }
    }
}
