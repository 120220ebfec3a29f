//! Checks who is at the other end of standard input and output.

use crate::{commands::Context, failure::Failure};
use std::{
    fs::{self, File},
    io::{self, IsTerminal},
    os::{
        fd::AsFd,
        unix::fs::{FileTypeExt, MetadataExt},
    },
};

/// Refuses to serve on a standard output that is closed or `/dev/null`: all responses would be
/// lost without any error.
pub(crate) fn require_reader() -> Result<(), Failure> {
    // If `fstat` fails, assume that it works.
    if is_dev_null().unwrap_or(false) {
        return Err(Failure::usage("standard output is closed or /dev/null, so all responses would be lost")
            .hint("a client starts this command with a pipe; use --listen to serve over HTTP"));
    }
    Ok(())
}

/// Explains a server on standard input to a user who has started it on a terminal.
pub(crate) fn explain_on_terminal(context: &Context, over_http: &str) {
    if io::stdin().is_terminal() {
        context.screen.note(&format!(
            "this command expects the messages of an MCP client on its standard input; {over_http}; press Ctrl-C to end"
        ));
    }
}

/// A standard output that was closed at startup is `/dev/null` as well: Rust's runtime opens it in
/// its place, so that no other file gets descriptor 1.
fn is_dev_null() -> io::Result<bool> {
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?).metadata()?;
    let nowhere = fs::metadata("/dev/null")?;
    Ok(output.file_type().is_char_device() && output.rdev() == nowhere.rdev())
}
