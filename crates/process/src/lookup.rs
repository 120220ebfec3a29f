//! Finds the executable of a command.
//!
//! This is not left to the system, so that a missing program, a file that is not executable and a
//! bad working directory are different errors, and so that the child's `PATH` is searched.

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use crate::{command::Command, spawn_error::SpawnError};

/// Searched when the child gets no `PATH`.
pub const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The directories of a `PATH`, without relative ones: through these a file in the working
/// directory could be run in place of the program.
pub fn search_path(path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(path).filter(|entry| entry.is_absolute()).collect()
}

/// True if the path is a file with an execute permission.
pub fn is_executable(path: &Path) -> bool {
    matches!(usable(path), Ok(Some(_)))
}

/// The file to run; also checks the working directory.
pub(crate) fn find(command: &Command) -> Result<PathBuf, SpawnError> {
    check_directory(command)?;
    let program = Path::new(&command.program);
    let not_found = |searched| SpawnError::NotFound { program: command.program.clone(), searched };
    if command.program.as_encoded_bytes().contains(&b'/') {
        let path =
            command.directory.as_deref().map_or_else(|| program.to_path_buf(), |base| base.join(program));
        let path = std::path::absolute(&path).unwrap_or(path);
        return usable(&path)?.ok_or_else(|| not_found(Vec::new()));
    }
    let searched = search_path(&command.variable("PATH").unwrap_or(DEFAULT_PATH.into()));
    let mut refused = None;
    for directory in &searched {
        match usable(&directory.join(program)) {
            Ok(Some(path)) => return Ok(path),
            Ok(None) => {}
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| not_found(searched)))
}

/// `None` if there is no such file.
fn usable(path: &Path) -> Result<Option<PathBuf>, SpawnError> {
    let Ok(metadata) = fs::metadata(path) else {
        return Ok(None);
    };
    let refuse =
        |kind: io::ErrorKind| SpawnError::NotExecutable { program: path.into(), source: kind.into() };
    if metadata.is_dir() {
        return Err(refuse(io::ErrorKind::IsADirectory));
    }
    if !metadata.is_file() || metadata.permissions().mode() & 0o111 == 0 {
        return Err(refuse(io::ErrorKind::PermissionDenied));
    }
    Ok(Some(path.to_path_buf()))
}

fn check_directory(command: &Command) -> Result<(), SpawnError> {
    let Some(directory) = &command.directory else {
        return Ok(());
    };
    let source = match fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => io::ErrorKind::NotADirectory.into(),
        Err(error) => error,
    };
    Err(SpawnError::BadWorkingDirectory { directory: directory.clone(), source })
}
