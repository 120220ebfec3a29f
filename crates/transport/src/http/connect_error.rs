//! Errors of opening a connection, before a request was sent.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::connector::LookupFailed;
use super::tls_error::TlsError;
use crate::foreign::AddressRefused;

/// A connection that could not be opened.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot connect to {authority}: {failure}")]
pub struct ConnectError {
    /// Host and port.
    pub authority: String,
    pub failure: ConnectFailure,
}

/// The reason why a connection could not be opened.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ConnectFailure {
    #[error("connection refused")]
    Refused,
    #[error("the host name cannot be resolved")]
    UnknownHost,
    #[error("no connection within {after:?}")]
    TimedOut { after: Duration },
    #[error("the network or host is unreachable")]
    Unreachable,
    #[error("{0}")]
    Forbidden(AddressRefused),
    #[error("{0}")]
    Tls(TlsError),
    #[error("{0}")]
    Other(Arc<dyn Error + Send + Sync>),
}

impl ConnectFailure {
    /// Advice for the user.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Refused => Some("is the server running, and is the port right?"),
            Self::UnknownHost => Some("check the host name and DNS"),
            Self::TimedOut { .. } => Some("is a firewall in between, or the address wrong?"),
            Self::Unreachable => Some("check the network connection"),
            Self::Tls(error) => error.hint(),
            Self::Forbidden(_) | Self::Other(_) => None,
        }
    }

    pub(super) fn from_source(source: Box<dyn Error + Send + Sync>, after: Duration) -> Self {
        if let Some(error) = find::<rustls::Error>(&*source) {
            return Self::Tls(error.into());
        }
        if let Some(refused) = find::<AddressRefused>(&*source) {
            return Self::Forbidden(refused.clone());
        }
        if find::<LookupFailed>(&*source).is_some() {
            return Self::UnknownHost;
        }
        match find::<io::Error>(&*source).map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => Self::Refused,
            Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => Self::Unreachable,
            Some(io::ErrorKind::TimedOut) => Self::TimedOut { after },
            _ => Self::Other(source.into()),
        }
    }
}

/// The first error of type `T` in a chain of sources. [`Error::source`] of an `io::Error` skips
/// the error that it wraps, so that one is checked as well.
pub(super) fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(found) = wrapped.and_then(|wrapped| find::<T>(wrapped)) {
            return Some(found);
        }
        next = error.source();
    }
    None
}
