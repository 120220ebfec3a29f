//! What waits to be written: a text that is put together here, and behind it what is too long to be copied.

use super::spare;
use bytes::{Buf as _, Bytes};
use std::{
    collections::VecDeque,
    io::{self, ErrorKind, IoSlice},
    task::{Poll, ready},
};

/// So many bytes are not copied.
const LONG: usize = 16 * 1024;
/// How much may wait before more of a stream is asked for.
const ENOUGH: usize = 64 * 1024;
/// How many pieces are written at once.
const AT_ONCE: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Outbox {
    text: Vec<u8>,
    written: usize,
    tail: VecDeque<Bytes>,
}

impl Outbox {
    /// Where text is added, before anything long.
    pub(super) fn text(&mut self) -> &mut Vec<u8> {
        debug_assert!(self.tail.is_empty(), "text comes before what is long");
        if self.text.capacity() == 0 {
            self.text = spare::text();
        }
        &mut self.text
    }

    pub(super) fn add(&mut self, bytes: Bytes) {
        if self.tail.is_empty() && bytes.len() < LONG {
            self.text().extend_from_slice(&bytes);
        } else {
            self.tail.push_back(bytes);
        }
    }

    /// Adds bytes as one chunk. There are some: an empty chunk is the end.
    pub(super) fn add_chunk(&mut self, bytes: Bytes) {
        let size = format!("{:x}\r\n", bytes.len());
        self.add(size.into());
        self.add(bytes);
        self.add(Bytes::from_static(b"\r\n"));
    }

    pub(super) fn is_full(&self) -> bool {
        let long: usize = self.tail.iter().map(Bytes::len).sum();
        self.text.len() - self.written + long >= ENOUGH
    }

    /// Writes everything; memory that is no longer needed goes back.
    pub(super) fn poll_write(
        &mut self,
        mut write: impl FnMut(&[IoSlice<'_>]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<()>> {
        loop {
            let text = &self.text[self.written..];
            let wrote = if self.tail.is_empty() {
                if text.is_empty() {
                    break;
                }
                ready!(write(&[IoSlice::new(text)]))?
            } else {
                let mut slices = [IoSlice::new(&[]); AT_ONCE];
                slices[0] = IoSlice::new(text);
                let pieces = slices[1..].iter_mut().zip(&self.tail);
                let count = 1 + pieces.map(|(slice, piece)| *slice = IoSlice::new(piece)).count();
                ready!(write(&slices[..count]))?
            };
            if wrote == 0 {
                return Poll::Ready(Err(ErrorKind::WriteZero.into()));
            }
            self.advance(wrote);
        }
        self.written = 0;
        if self.text.capacity() > 0 {
            spare::keep_text(std::mem::take(&mut self.text));
        }
        Poll::Ready(Ok(()))
    }

    fn advance(&mut self, mut wrote: usize) {
        let of_text = wrote.min(self.text.len() - self.written);
        self.written += of_text;
        wrote -= of_text;
        while let Some(first) = self.tail.front_mut() {
            let of_first = wrote.min(first.len());
            first.advance(of_first);
            wrote -= of_first;
            if !first.is_empty() {
                break;
            }
            self.tail.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Writes everything, so many bytes at a time.
    fn written(outbox: &mut Outbox, at_once: usize) -> Vec<u8> {
        let mut all = Vec::new();
        let write = |slices: &[IoSlice<'_>]| {
            let joined: Vec<u8> = slices.iter().flat_map(|slice| slice.to_vec()).collect();
            let count = joined.len().min(at_once);
            all.extend_from_slice(&joined[..count]);
            Poll::Ready(Ok(count))
        };
        assert!(matches!(outbox.poll_write(write), Poll::Ready(Ok(()))));
        all
    }

    #[test]
    fn a_short_answer_is_one_piece_and_a_long_one_is_not_copied() {
        let mut outbox = Outbox::default();
        outbox.text().extend_from_slice(b"head");
        outbox.add(Bytes::from_static(b"body"));
        let mut writes = Vec::new();
        let mut note = |slices: &[IoSlice<'_>]| {
            writes.push(slices.iter().map(|slice| slice.as_ptr()).collect::<Vec<_>>());
            Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()))
        };
        assert!(outbox.poll_write(&mut note).is_ready());
        outbox.text().extend_from_slice(b"head");
        let long = Bytes::from(vec![b'x'; LONG]);
        outbox.add(long.clone());
        outbox.add(Bytes::from_static(b"}"));
        assert!(outbox.poll_write(&mut note).is_ready());
        assert_eq!(writes.iter().map(Vec::len).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(writes[1][1], long.as_ptr());
    }

    proptest! {
        #[test]
        fn however_little_is_written_at_once_all_of_it_is_and_in_order(
            lengths in prop::collection::vec(prop_oneof![1..50_usize, LONG..LONG + 5], 0..12),
            at_once in prop_oneof![Just(1000_usize), 1..100_000_usize],
        ) {
            let mut outbox = Outbox::default();
            let mut expected = b"head".to_vec();
            outbox.text().extend_from_slice(b"head");
            for (nth, length) in lengths.iter().enumerate() {
                let piece = vec![u8::try_from(nth).unwrap(); *length];
                expected.extend_from_slice(&piece);
                outbox.add(piece.into());
            }
            prop_assert_eq!(written(&mut outbox, at_once), expected);
            prop_assert!(!outbox.is_full() && outbox.text.capacity() == 0);
        }
    }
}
