//! Our own standard input and output.
//!
//! A pipe is opened anew through `/proc`, which gives a description of our own: it can be made non-blocking without anybody
//! noticing who shares the one we inherited. What is no pipe, or cannot be opened, goes through a thread that may block.

use std::{fs, io, os::unix::fs::FileTypeExt};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::unix::pipe,
};

const INPUT: &str = "/proc/self/fd/0";
const OUTPUT: &str = "/proc/self/fd/1";

/// What we are told. To be called on a runtime with I/O enabled.
pub fn standard_input() -> Box<dyn AsyncRead + Send + Unpin> {
    match open(INPUT, |options| options.open_receiver(INPUT)) {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdin()),
    }
}

/// What we tell. To be called on a runtime with I/O enabled.
pub fn standard_output() -> Box<dyn AsyncWrite + Send + Unpin> {
    match open(OUTPUT, |options| options.open_sender(OUTPUT)) {
        Ok(pipe) => Box::new(pipe),
        Err(_) => Box::new(tokio::io::stdout()),
    }
}

fn open<T>(path: &str, open: impl FnOnce(&pipe::OpenOptions) -> io::Result<T>) -> io::Result<T> {
    // Looked at first, because opening something else may have effects: a terminal would become ours.
    if fs::metadata(path)?.file_type().is_fifo() {
        open(&pipe::OpenOptions::new())
    } else {
        Err(io::ErrorKind::Unsupported.into())
    }
}
