//! Errors that prevent the git pack from being offered.

use std::{io, path::PathBuf};

/// An error that prevents the git pack from being offered.
#[derive(Debug, thiserror::Error)]
pub enum GitPackError {
    /// No root was named.
    #[error("the git pack needs at least one root")]
    NoRoot,
    /// A root cannot be used.
    #[error("the root {} cannot be used", path.display())]
    Root {
        /// The root.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Git was not found in the search directories.
    #[error("git was not found in {}", search.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    NoGit {
        /// The search directories.
        search: Vec<PathBuf>,
    },
}
