//! The byte stream of one connection, with its input and output buffers.

use super::{output::Output, scratch};
use bytes::{Bytes, BytesMut};
use std::{
    io::{self, ErrorKind},
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use trunkline_resilience::Deadline;

/// Least and most room that is reserved to read a body.
const MIN_READ: usize = 8 * 1024;
const MAX_READ: usize = 256 * 1024;

pub(super) struct BufferedIo<S> {
    stream: S,
    /// Limit on a write that makes no progress.
    write_timeout: Duration,
    /// Set while output waits for a client that does not read.
    stalled: Option<Box<Deadline>>,
    /// Bytes read and not yet parsed; empty on an idle connection.
    pub(super) input: Bytes,
    pub(super) output: Output,
}

impl<S: AsyncRead + AsyncWrite + Unpin> BufferedIo<S> {
    pub(super) fn new(stream: S, write_timeout: Duration) -> Self {
        Self { stream, write_timeout, stalled: None, input: Bytes::new(), output: Output::default() }
    }

    /// Reads more into `input`; 0 at EOF.
    pub(super) fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Self { stream, input, .. } = self;
        let poll = |room: &mut ReadBuf<'_>| Pin::new(stream).poll_read(cx, room);
        scratch::read(poll, |read| {
            if input.is_empty() {
                *input = Bytes::copy_from_slice(read);
            } else {
                let mut joined = BytesMut::from(std::mem::take(input));
                joined.extend_from_slice(read);
                *input = joined.freeze();
            }
            read.len()
        })
    }

    /// Reads more of a body, `remaining` bytes of which are still to come; 0 at EOF.
    pub(super) fn poll_read_body(
        &mut self,
        body: &mut BytesMut,
        remaining: Option<u64>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let remaining = remaining.map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX));
        body.reserve(remaining.clamp(MIN_READ, MAX_READ));
        pin!(self.stream.read_buf(body)).poll(cx)
    }

    /// Reads and drops; 0 at EOF.
    pub(super) fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let stream = Pin::new(&mut self.stream);
        scratch::read(|room| stream.poll_read(cx, room), <[u8]>::len)
    }

    /// Writes all output. Fails when the client takes nothing for longer than the write timeout.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, output, .. } = self;
        let mut progress = false;
        let written = output.poll_write(|slices| {
            let written = match slices {
                [one] => Pin::new(&mut *stream).poll_write(cx, one),
                slices => Pin::new(&mut *stream).poll_write_vectored(cx, slices),
            };
            progress |= written.is_ready();
            written
        });
        // A stream with a buffer of its own, such as TLS, may still hold some of it.
        let flushed = match written {
            Poll::Ready(Ok(())) => Pin::new(stream).poll_flush(cx),
            other => other,
        };
        if flushed.is_pending() {
            return self.poll_write_timeout(progress, cx);
        }
        if self.stalled.is_some() {
            self.stalled = None;
        }
        flushed
    }

    fn poll_write_timeout(&mut self, progress: bool, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let deadline = match &mut self.stalled {
            Some(deadline) if !progress => deadline,
            stalled => stalled.insert(Box::new(Deadline::after(self.write_timeout))),
        };
        ready!(Pin::new(&mut **deadline).poll(cx));
        Poll::Ready(Err(io::Error::new(
            ErrorKind::TimedOut,
            "the client takes nothing of what is sent to it",
        )))
    }

    /// Closes the write half.
    pub(super) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
