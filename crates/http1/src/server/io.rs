//! The bytes of one connection, in and out.

use super::{outbox::Outbox, spare};
use bytes::{Bytes, BytesMut};
use std::{
    io::{self, ErrorKind},
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead as _, AsyncReadExt as _, AsyncWrite as _},
    net::TcpStream,
};
use trunkline_resilience::Alarm;

/// Room for a body that is long.
const LEAST_ROOM: usize = 8 * 1024;
const MOST_ROOM: usize = 256 * 1024;

pub(super) struct Wire {
    stream: TcpStream,
    /// How long the client may take nothing.
    patience: Duration,
    /// Set while there is something that it does not take.
    stuck: Option<Box<Alarm>>,
    /// What came and was not looked at yet, mostly nothing.
    pub(super) input: Bytes,
    pub(super) outbox: Outbox,
}

impl Wire {
    pub(super) fn new(stream: TcpStream, patience: Duration) -> Self {
        Self { stream, patience, stuck: None, input: Bytes::new(), outbox: Outbox::default() }
    }

    /// Adds to the input what has come; 0 when the client has closed.
    pub(super) fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Self { stream, input, .. } = self;
        let poll = |room: &mut tokio::io::ReadBuf<'_>| Pin::new(stream).poll_read(cx, room);
        spare::read(poll, |came| {
            if input.is_empty() {
                *input = Bytes::copy_from_slice(came);
            } else {
                let mut joined = BytesMut::from(std::mem::take(input));
                joined.extend_from_slice(came);
                *input = joined.freeze();
            }
            came.len()
        })
    }

    /// Reads a part of something long, of which so much is known to come.
    pub(super) fn poll_read_on(
        &mut self,
        input: &mut BytesMut,
        announced: Option<u64>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        let announced = announced.map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX));
        input.reserve(announced.clamp(LEAST_ROOM, MOST_ROOM));
        pin!(self.stream.read_buf(input)).poll(cx)
    }

    /// Passes over what has come; 0 when the client has closed.
    pub(super) fn poll_discard(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let stream = Pin::new(&mut self.stream);
        spare::read(|room| stream.poll_read(cx, room), <[u8]>::len)
    }

    /// Writes all that waits. A client that takes nothing for too long is given up.
    pub(super) fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, outbox, .. } = self;
        let mut wrote = false;
        let flushed = outbox.poll_write(|slices| {
            let written = match slices {
                [one] => Pin::new(&mut *stream).poll_write(cx, one),
                slices => Pin::new(&mut *stream).poll_write_vectored(cx, slices),
            };
            wrote |= written.is_ready();
            written
        });
        if flushed.is_pending() {
            return self.poll_stuck(wrote, cx);
        }
        if self.stuck.is_some() {
            self.stuck = None;
        }
        flushed
    }

    fn poll_stuck(&mut self, wrote: bool, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let alarm = match &mut self.stuck {
            Some(alarm) if !wrote => alarm,
            stuck => stuck.insert(Box::new(Alarm::after(self.patience))),
        };
        ready!(Pin::new(&mut **alarm).poll(cx));
        Poll::Ready(Err(io::Error::new(
            ErrorKind::TimedOut,
            "the client takes nothing of what is sent to it",
        )))
    }

    /// Tells the client that nothing more comes.
    pub(super) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
