//! Why a program could not be started.

use std::{io, path::PathBuf};

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its path is relative.
    #[error("the path of a program must be absolute, and {} is not", path.display())]
    Relative {
        /// The path.
        path: PathBuf,
    },
    /// It is not there.
    #[error("there is no program at {}", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not an executable file.
    #[error("{} is not an executable file", path.display())]
    NotExecutable {
        /// Its path.
        path: PathBuf,
    },
    /// The directory to run it in is not there.
    #[error("there is no directory {}", path.display())]
    NoDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// An argument or a variable contains a NUL byte.
    #[error("an argument of {} contains a NUL byte", path.display())]
    Nul {
        /// The program.
        path: PathBuf,
    },
    /// The system did not start it.
    #[error("cannot start {}", path.display())]
    System {
        /// The program.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}
