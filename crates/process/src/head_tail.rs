//! The beginning and the end of a stream whose middle may be dropped.

use std::collections::VecDeque;

/// The number of bytes of a stream to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// From the beginning.
    pub head: usize,
    /// From the end, not counting the head.
    pub tail: usize,
}

/// The kept parts of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Captured {
    /// The beginning.
    pub head: Vec<u8>,
    /// The end, not counting the head.
    pub tail: Vec<u8>,
    /// Total bytes written, including dropped ones.
    pub total: u64,
}

/// Collects a stream chunk by chunk and keeps its beginning and end.
#[derive(Debug)]
pub struct HeadTail {
    keep: Keep,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Keep {
    /// Only the beginning: for output that is parsed.
    pub const fn head(bytes: usize) -> Self {
        Self { head: bytes, tail: 0 }
    }

    /// Only the end: for output that explains a failure.
    pub const fn tail(bytes: usize) -> Self {
        Self { head: 0, tail: bytes }
    }

    /// Both ends: for output that people read.
    pub const fn ends(head: usize, tail: usize) -> Self {
        Self { head, tail }
    }
}

impl Captured {
    /// Bytes dropped between head and tail.
    pub fn dropped(&self) -> u64 {
        self.total - (self.head.len() + self.tail.len()) as u64
    }

    /// True if something was dropped.
    pub fn is_truncated(&self) -> bool {
        self.dropped() > 0
    }

    /// The tail as text. If something before it was dropped, it starts with a whole line.
    pub fn tail_text(&self) -> String {
        let start = match self.tail.iter().position(|byte| *byte == b'\n') {
            Some(at) if self.is_truncated() && at + 1 < self.tail.len() => at + 1,
            _ => 0,
        };
        String::from_utf8_lossy(&self.tail[start..]).into_owned()
    }

    /// The kept text. A gap is marked with its size, and invalid UTF-8 is replaced.
    pub fn text(&self) -> String {
        if !self.is_truncated() {
            return String::from_utf8_lossy(&[&self.head[..], &self.tail].concat()).into_owned();
        }
        let head = String::from_utf8_lossy(whole_characters(&self.head)).into_owned();
        let start = self.tail.iter().position(|byte| byte & 0xC0 != 0x80).unwrap_or(0);
        let tail = String::from_utf8_lossy(&self.tail[start..]);
        format!("{head}\n[{} bytes left out]\n{tail}", self.dropped())
    }
}

/// `bytes` without an incomplete UTF-8 character at the end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    let last = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    let is_cut = str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    if is_cut { &bytes[..bytes.len() - last.len()] } else { bytes }
}

impl HeadTail {
    /// An empty stream.
    pub fn new(keep: Keep) -> Self {
        Self { keep, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    /// Adds the next chunk.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.keep.head - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        let rest = &rest[rest.len().saturating_sub(self.keep.tail)..];
        let excess = (self.tail.len() + rest.len()).saturating_sub(self.keep.tail);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    pub(crate) fn has_dropped(&self) -> bool {
        self.total > (self.head.len() + self.tail.len()) as u64
    }

    /// A copy of what is kept so far.
    pub fn captured(&self) -> Captured {
        let tail = self.tail.iter().copied().collect();
        Captured { head: self.head.clone(), tail, total: self.total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(keep: Keep, pieces: &[&[u8]]) -> Captured {
        let mut stream = HeadTail::new(keep);
        for piece in pieces {
            stream.push(piece);
        }
        stream.captured()
    }

    #[test]
    fn what_fits_is_whole() {
        let captured = kept(Keep::ends(4, 4), &[b"abc", b"def", b"gh"]);
        assert_eq!(captured.text(), "abcdefgh");
        assert!(!captured.is_truncated());
    }

    #[test]
    fn the_middle_is_dropped_and_counted() {
        let captured = kept(Keep::ends(3, 2), &[b"ab", b"cdefg", b"h", b"ij"]);
        assert_eq!((captured.head.as_slice(), captured.tail.as_slice()), (&b"abc"[..], &b"ij"[..]));
        assert_eq!(captured.text(), "abc\n[5 bytes left out]\nij");
    }

    #[test]
    fn without_a_tail_only_the_head_is_kept() {
        let captured = kept(Keep::head(2), &[b"abcdef"]);
        assert_eq!((captured.head.as_slice(), captured.dropped()), (&b"ab"[..], 4));
    }

    #[test]
    fn a_cut_never_leaves_half_a_character() {
        let captured = kept(Keep::ends(4, 4), &["aäöüxxöäü".as_bytes()]);
        assert_eq!(captured.text(), "aä\n[7 bytes left out]\näü");
        assert_eq!(kept(Keep::head(2), &["ä€".as_bytes()]).text(), "ä\n[3 bytes left out]\n");
    }
}
