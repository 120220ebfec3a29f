//! Whether standard output leads to anybody.

use crate::failure::Failure;
use std::{
    fs::{self, File},
    io,
    os::{
        fd::AsFd,
        unix::fs::{FileTypeExt, MetadataExt},
    },
};

/// Refuses to serve a program on standard output where that was closed or is thrown away: every answer would be lost, and
/// nobody would know why.
pub(crate) fn leads_somewhere() -> Result<(), Failure> {
    // One that cannot be looked at is tried.
    if is_thrown_away().unwrap_or(false) {
        return Err(Failure::usage(
            "standard output is closed or leads to /dev/null, so nobody would hear an answer",
        )
        .hint("a client starts this command with a pipe; use --listen to serve over HTTP"));
    }
    Ok(())
}

/// What was closed when we were started is `/dev/null` by now: the standard library opens it, so that nothing else is taken
/// for standard output.
fn is_thrown_away() -> io::Result<bool> {
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?).metadata()?;
    let nowhere = fs::metadata("/dev/null")?;
    Ok(output.file_type().is_char_device() && output.rdev() == nowhere.rdev())
}
