//! Splits a stream into chunks, as a network or a pipe may.
//!
//! The first line of an input gives the chunk lengths: each of its bytes, modulo 32, is the length
//! of a chunk; they repeat until the end of the stream.

use bytes::Bytes;
use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::io::{AsyncRead, ReadBuf};

/// A reader that returns one piece per read, with a `Pending` before each.
pub(super) struct Pieces {
    left: VecDeque<Bytes>,
    waits: bool,
}

/// Splits an input into the lengths of the pieces and the stream.
pub(super) fn cutting(data: &[u8]) -> (&[u8], Bytes) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(0);
    let (lengths, stream) = data.split_at(end);
    (lengths, Bytes::copy_from_slice(stream.strip_prefix(b"\n").unwrap_or(stream)))
}

/// Splits a stream into pieces, some of which may be empty.
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
        // An empty read would mean EOF.
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
