//! Bytes waiting to be written: small parts are copied into one buffer, large ones queued after it.

use bytes::{Buf as _, Bytes};
use std::{
    collections::VecDeque,
    io::{self, ErrorKind, IoSlice},
    task::{Poll, ready},
};

/// From this size on, bytes are queued instead of copied.
const LARGE: usize = 16 * 1024;
/// With so many bytes waiting, a body is not polled for more.
const HIGH_WATER: usize = 64 * 1024;
/// Slices of one vectored write.
const MAX_SLICES: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Output {
    buffer: Vec<u8>,
    /// Bytes of the buffer that are written.
    written: usize,
    large: VecDeque<Bytes>,
}

impl Output {
    /// The buffer to append to, before anything large is queued.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        debug_assert!(self.large.is_empty(), "the buffer is written before the queue");
        &mut self.buffer
    }

    pub(super) fn push(&mut self, bytes: Bytes) {
        if self.large.is_empty() && bytes.len() < LARGE {
            self.buffer().extend_from_slice(&bytes);
        } else {
            self.large.push_back(bytes);
        }
    }

    /// Appends one chunk, which must not be empty: an empty chunk ends the body.
    pub(super) fn push_chunk(&mut self, bytes: Bytes) {
        let size = format!("{:x}\r\n", bytes.len());
        self.push(size.into());
        self.push(bytes);
        self.push(Bytes::from_static(b"\r\n"));
    }

    pub(super) fn is_full(&self) -> bool {
        let large: usize = self.large.iter().map(Bytes::len).sum();
        self.buffer.len() - self.written + large >= HIGH_WATER
    }

    /// Writes everything, then frees the buffer: an idle connection holds none.
    pub(super) fn poll_write(
        &mut self,
        mut write: impl FnMut(&[IoSlice<'_>]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<()>> {
        loop {
            let buffer = &self.buffer[self.written..];
            let wrote = if self.large.is_empty() {
                if buffer.is_empty() {
                    break;
                }
                ready!(write(&[IoSlice::new(buffer)]))?
            } else {
                let mut slices = [IoSlice::new(&[]); MAX_SLICES];
                slices[0] = IoSlice::new(buffer);
                let pieces = slices[1..].iter_mut().zip(&self.large);
                let count = 1 + pieces.map(|(slice, piece)| *slice = IoSlice::new(piece)).count();
                ready!(write(&slices[..count]))?
            };
            if wrote == 0 {
                return Poll::Ready(Err(ErrorKind::WriteZero.into()));
            }
            self.advance(wrote);
        }
        self.written = 0;
        self.buffer = Vec::new();
        Poll::Ready(Ok(()))
    }

    fn advance(&mut self, mut wrote: usize) {
        let of_buffer = wrote.min(self.buffer.len() - self.written);
        self.written += of_buffer;
        wrote -= of_buffer;
        while let Some(first) = self.large.front_mut() {
            let of_first = wrote.min(first.len());
            first.advance(of_first);
            wrote -= of_first;
            if !first.is_empty() {
                break;
            }
            self.large.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes everything, at most `at_once` bytes at a time.
    fn written(output: &mut Output, at_once: usize) -> Vec<u8> {
        let mut all = Vec::new();
        let write = |slices: &[IoSlice<'_>]| {
            let joined: Vec<u8> = slices.iter().flat_map(|slice| slice.to_vec()).collect();
            let count = joined.len().min(at_once);
            all.extend_from_slice(&joined[..count]);
            Poll::Ready(Ok(count))
        };
        assert!(matches!(output.poll_write(write), Poll::Ready(Ok(()))));
        all
    }

    #[test]
    fn a_small_response_is_one_slice_and_a_large_one_is_not_copied() {
        let mut output = Output::default();
        output.buffer().extend_from_slice(b"head");
        output.push(Bytes::from_static(b"body"));
        let mut writes = Vec::new();
        let mut note = |slices: &[IoSlice<'_>]| {
            writes.push(slices.iter().map(|slice| slice.as_ptr()).collect::<Vec<_>>());
            Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()))
        };
        assert!(output.poll_write(&mut note).is_ready());
        output.buffer().extend_from_slice(b"head");
        let large = Bytes::from(vec![b'x'; LARGE]);
        output.push(large.clone());
        output.push(Bytes::from_static(b"}"));
        assert!(output.poll_write(&mut note).is_ready());
        assert_eq!(writes.iter().map(Vec::len).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(writes[1][1], large.as_ptr());
    }

    proptest! {
        #[test]
        fn partial_writes_keep_all_bytes_in_order(
            lengths in prop::collection::vec(prop_oneof![1..50_usize, LARGE..LARGE + 5], 0..12),
            at_once in prop_oneof![Just(1000_usize), 1..100_000_usize],
        ) {
            let mut output = Output::default();
            let mut expected = b"head".to_vec();
            output.buffer().extend_from_slice(b"head");
            for (nth, length) in lengths.iter().enumerate() {
                let piece = vec![u8::try_from(nth).unwrap(); *length];
                expected.extend_from_slice(&piece);
                output.push(piece.into());
            }
            prop_assert_eq!(written(&mut output, at_once), expected);
            prop_assert!(!output.is_full() && output.buffer.capacity() == 0);
        }
    }
}
