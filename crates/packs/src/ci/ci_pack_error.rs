//! Why the ci pack cannot be offered.

use std::{io, path::PathBuf};

/// Why the ci pack cannot be offered.
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
        /// What the system says.
        source: io::Error,
    },
    /// A provider is configured, and no way to reach it.
    #[error("a provider is configured, and there is nothing to send requests with")]
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
