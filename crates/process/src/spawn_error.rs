//! Errors of starting a program.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
};

use rustix::io::Errno;
use thiserror::Error;

/// Errors of a temporary shortage; `TXTBSY` means that the program's file is being written.
const TRANSIENT: [Errno; 5] = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE, Errno::TXTBSY];

/// The reason why a program could not be started.
#[derive(Debug, Error)]
pub enum SpawnError {
    /// There is no such program.
    #[error("{}", not_found(program, searched))]
    NotFound {
        /// The program as given in the command.
        program: OsString,
        /// The directories of the child's `PATH`; empty if the program was given as a path.
        searched: Vec<PathBuf>,
    },
    /// The file is there but cannot be run.
    #[error("{} cannot be executed", program.display())]
    NotExecutable {
        /// The file.
        program: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The working directory is missing, or not a directory.
    #[error("cannot use {} as working directory", directory.display())]
    BadWorkingDirectory {
        /// The directory.
        directory: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The program must be an absolute path, and is not.
    #[error("the path of a program must be absolute, and {} is not", program.display())]
    NotAbsolute {
        /// The program as given in the command.
        program: OsString,
    },
    /// The system is short of processes, memory or descriptors.
    #[error("not enough system resources to start {}", program.display())]
    Resource {
        /// The program.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Anything else, such as a NUL byte in an argument.
    #[error("cannot start {}", program.display())]
    Other {
        /// The program.
        program: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl SpawnError {
    /// True if a retry may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Resource { .. })
    }

    /// Classifies the system's error. ENOENT means a missing interpreter, because the program
    /// itself
    /// was found before.
    pub(crate) fn from_system(program: &Path, source: io::Error) -> Self {
        let program = program.to_path_buf();
        match Errno::from_io_error(&source) {
            Some(errno) if TRANSIENT.contains(&errno) => Self::Resource { program, source },
            Some(Errno::NOENT) => {
                let text = "the interpreter in its first line does not exist";
                Self::NotExecutable { program, source: io::Error::new(io::ErrorKind::NotFound, text) }
            }
            Some(Errno::ACCESS | Errno::PERM | Errno::NOEXEC) => Self::NotExecutable { program, source },
            _ => Self::Other { program, source },
        }
    }
}

fn not_found(program: &OsStr, searched: &[PathBuf]) -> String {
    if searched.is_empty() {
        return format!("there is no program {}", program.display());
    }
    let places: Vec<_> = searched.iter().map(|place| place.display().to_string()).collect();
    format!("there is no program {} in {}", program.display(), places.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(errno: Errno) -> SpawnError {
        SpawnError::from_system(Path::new("/bin/x"), io::Error::from(errno))
    }

    #[test]
    fn shortage_is_transient() {
        for errno in TRANSIENT {
            assert!(class(errno).is_transient(), "{errno}");
        }
    }

    #[test]
    fn other_classes_are_not() {
        assert!(matches!(class(Errno::NOEXEC), SpawnError::NotExecutable { .. }));
        assert!(matches!(class(Errno::TOOBIG), SpawnError::Other { .. }));
        assert!(!class(Errno::ACCESS).is_transient() && !class(Errno::TOOBIG).is_transient());
    }
}
