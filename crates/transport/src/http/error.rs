//! All errors of a request.

use std::error::Error;
use std::time::Duration;

use trunkline_resilience::OutOfMemory;

use super::connect_error::{ConnectError, ConnectFailure, find};
use super::credentials::CredentialsError;
use super::media::UnexpectedContentType;
use super::redirect::RedirectError;
use super::status::StatusError;
use super::target::InvalidUrl;
use super::tls_error::TlsError;
use crate::body::{BodyError, BoxError};
use crate::sse::EventError;

/// The reason why a request got no usable response.
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
    OutOfMemory(#[from] OutOfMemory),
    #[error("the request was not sent: {0}")]
    NotSent(#[source] OutOfMemory),
    #[error(transparent)]
    UnexpectedContentType(#[from] Box<UnexpectedContentType>),
    #[error("the response has content encoding {encoding}, which was not requested")]
    UnexpectedEncoding { encoding: String },
    #[error(transparent)]
    Redirect(#[from] RedirectError),
    #[error("the server names an endpoint of another origin, {target}; nothing was sent there")]
    ForeignEndpoint { target: String },
    #[error("the server's stream ended before it named an endpoint")]
    NoEndpoint,
    #[error("the connection broke: {0}")]
    Broken(#[source] BoxError),
    #[error(transparent)]
    Credentials(#[from] Box<CredentialsError>),
    #[error("{phase} took longer than {limit:?}")]
    Timeout { phase: Phase, limit: Duration },
}

/// The event that timed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Phase {
    #[error("the response head")]
    Head,
    #[error("the endpoint event")]
    Endpoint,
}

impl HttpError {
    /// True if the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Connect(_) | Self::Broken(_) | Self::Timeout { .. } => true,
            Self::Status(refusal) => refusal.is_transient(),
            Self::Credentials(error) => error.transient,
            _ => false,
        }
    }

    /// True if the server may have received the request, and perhaps acted on it.
    pub fn may_have_been_processed(&self) -> bool {
        !matches!(
            self,
            Self::InvalidUrl(_) | Self::Connect(_) | Self::Tls(_) | Self::NotSent(_) | Self::Credentials(_)
        )
    }

    /// The error status, if the server answered with one.
    pub fn status(&self) -> Option<&StatusError> {
        match self {
            Self::Status(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// Advice for the user.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Connect(error) => error.failure.hint(),
            Self::Tls(error) => error.hint(),
            Self::Redirect(RedirectError::OtherOrigin { .. }) => {
                Some("if the server has moved there, use that address")
            }
            Self::Redirect(RedirectError::LosesBody { .. }) => Some("use the address it redirects to"),
            Self::UnexpectedContentType(_) => Some("is this the address of an MCP endpoint?"),
            _ => None,
        }
    }

    pub(crate) fn broken(source: impl Into<BoxError>) -> Self {
        Self::Broken(source.into())
    }

    /// Classifies an error of the connection pool.
    pub(super) fn from_request(error: hyper_util::client::legacy::Error) -> Self {
        if let Some(connect) = find::<ConnectError>(&error) {
            return connect.clone().into();
        }
        Self::from_broken(error.into())
    }

    /// An error on an open connection. With TLS 1.3 the refusal of a client certificate arrives
    /// here, after the handshake.
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
            BodyError::OutOfMemory(full) => Self::OutOfMemory(full),
            BodyError::Broken(source) => Self::from_broken(source),
        }
    }
}

impl From<EventError> for HttpError {
    fn from(error: EventError) -> Self {
        match error {
            EventError::TooLarge { limit } => Self::TooLarge { limit },
            EventError::OutOfMemory(full) => Self::OutOfMemory(full),
        }
    }
}
