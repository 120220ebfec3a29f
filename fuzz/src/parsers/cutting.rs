//! Streams cut into pieces, as a network or a pipe may cut them.
//!
//! The first line of an input says how the rest is cut: each of its bytes, modulo 32, is the length of a piece, over and
//! over again.

use bytes::Bytes;
use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, ReadBuf};

/// Gives one piece a time, and between two of them lets its reader wait.
pub(super) struct Pieces {
    left: VecDeque<Bytes>,
    waits: bool,
}

/// The lengths of the pieces, and the stream to be cut.
pub(super) fn cutting(data: &[u8]) -> (&[u8], Bytes) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let (lengths, stream) = data.split_at(end);
    (lengths, Bytes::copy_from_slice(stream.strip_prefix(b"\n").unwrap_or(stream)))
}

/// The pieces of a stream, some of which may be empty.
pub(super) fn cut(stream: &Bytes, lengths: &[u8]) -> Vec<Bytes> {
    let mut rest = stream.clone();
    let mut pieces = Vec::new();
    if lengths.iter().any(|length| length % 32 != 0) {
        for length in lengths.iter().cycle() {
            pieces.push(rest.split_to(rest.len().min(usize::from(length % 32))));
            if rest.is_empty() {
                break;
            }
        }
    }
    pieces.push(rest);
    pieces
}

impl Pieces {
    pub(super) fn new(pieces: impl IntoIterator<Item = Bytes>) -> Self {
        // A piece of nothing would be the end.
        Self { left: pieces.into_iter().filter(|piece| !piece.is_empty()).collect(), waits: false }
    }
}

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.waits = !self.waits;
        if self.waits {
            return Poll::Pending;
        }
        if let Some(piece) = self.left.front_mut() {
            let here = piece.split_to(piece.len().min(room.remaining()));
            room.put_slice(&here);
            if piece.is_empty() {
                self.left.pop_front();
            }
        }
        Poll::Ready(Ok(()))
    }
}
