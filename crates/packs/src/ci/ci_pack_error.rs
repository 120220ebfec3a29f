//! Errors that prevent the ci pack from being offered.

use std::{io, path::PathBuf};

/// An error that prevents the ci pack from being offered.
#[derive(Debug, thiserror::Error)]
pub enum CiPackError {
    /// No root was named.
    #[error("the ci pack needs at least one root")]
    NoRoot,
    /// A root cannot be used.
    #[error("the root {} cannot be used", path.display())]
    Root {
        /// The root.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A provider is configured without a [`Fetch`](super::Fetch) to send requests with.
    #[error("a provider is configured, but no HTTP client to send requests")]
    NoFetch,
    /// Two providers are of the same kind.
    #[error("the provider {kind} is configured twice")]
    Twice {
        /// Its name.
        kind: &'static str,
    },
    /// A provider's address is not an HTTPS URL, nor an HTTP one of this machine.
    #[error("the address {url:?} of the provider {kind} is not an https address")]
    Address {
        /// The provider's name.
        kind: &'static str,
        /// The address.
        url: String,
    },
}
