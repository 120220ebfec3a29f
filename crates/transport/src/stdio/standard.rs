//! Our own standard input and output.
//!
//! A pipe is opened again through `/proc`, which gives us our own open file description: making it
//! non-blocking does not affect processes that share the inherited one. Anything that is not a
//! pipe, or cannot be opened, is used through tokio's blocking thread.

use std::{fs, io, os::unix::fs::FileTypeExt};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::unix::pipe,
};

const INPUT: &str = "/proc/self/fd/0";
const OUTPUT: &str = "/proc/self/fd/1";

/// Our standard input. Call it on a runtime with I/O enabled.
pub fn standard_input() -> Box<dyn AsyncRead + Send + Unpin> {
    match open(INPUT, |options| options.open_receiver(INPUT)) {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdin()),
    }
}

/// Our standard output. Call it on a runtime with I/O enabled.
pub fn standard_output() -> Box<dyn AsyncWrite + Send + Unpin> {
    match open(OUTPUT, |options| options.open_sender(OUTPUT)) {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdout()),
    }
}

fn open<T>(path: &str, open: impl FnOnce(&pipe::OpenOptions) -> io::Result<T>) -> io::Result<T> {
    // Checked first, because opening another file may have side effects: a terminal could become
    // our controlling terminal.
    if fs::metadata(path)?.file_type().is_fifo() {
        open(&pipe::OpenOptions::new())
    } else {
        Err(io::ErrorKind::Unsupported.into())
    }
}
