//! Finds the file that a command names.
//!
//! Done here and not left to the system, so that a missing program, a file that cannot run and a bad directory can
//! be told apart, and so that the `PATH` searched is certainly the child's.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::{command::ChildCommand, spawn_error::SpawnError};

/// Searched when the child gets no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The file to run; also checks the working directory.
pub(super) fn find(command: &ChildCommand) -> Result<PathBuf, SpawnError> {
    check_directory(command)?;
    let program = Path::new(&command.program);
    if command.program.as_encoded_bytes().contains(&b'/') {
        let path =
            command.directory.as_deref().map_or_else(|| program.to_path_buf(), |base| base.join(program));
        let path = std::path::absolute(&path).unwrap_or(path);
        return usable(&path)?.ok_or_else(|| not_found(command, Vec::new()));
    }
    let list = command.variable("PATH").unwrap_or(DEFAULT_PATH.as_ref());
    // A relative entry would let whatever lies in the working directory pose as the program.
    let searched: Vec<PathBuf> = std::env::split_paths(list).filter(|entry| entry.is_absolute()).collect();
    let mut refused = None;
    for directory in &searched {
        match usable(&directory.join(program)) {
            Ok(Some(path)) => return Ok(path),
            Ok(None) => {}
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| not_found(command, searched)))
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
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err(refuse(io::ErrorKind::PermissionDenied));
    }
    Ok(Some(path.to_path_buf()))
}

fn check_directory(command: &ChildCommand) -> Result<(), SpawnError> {
    let Some(directory) = &command.directory else {
        return Ok(());
    };
    let checked = match fs::metadata(directory) {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => io::ErrorKind::NotADirectory.into(),
        Err(error) => error,
    };
    Err(SpawnError::BadWorkingDirectory { directory: directory.clone(), source: checked })
}

fn not_found(command: &ChildCommand, searched: Vec<PathBuf>) -> SpawnError {
    SpawnError::NotFound { program: command.program.clone(), searched }
}
