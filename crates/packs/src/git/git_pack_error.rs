//! Why the git pack cannot be offered.

use std::{io, path::PathBuf};

/// Why the git pack cannot be offered.
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
        /// What the system says.
        source: io::Error,
    },
    /// Git is not installed where it was looked for.
    #[error("git was not found in {}", search.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    NoGit {
        /// Where it was looked for.
        search: Vec<PathBuf>,
    },
}
