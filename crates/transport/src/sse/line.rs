//! A value without line breaks, so that it cannot inject a field into an event stream.

use std::fmt;

use bytes::Bytes;
use http::HeaderValue;

/// Longest id that is sent back in a header: servers commonly refuse heads beyond 8 KiB.
const MAX_HEADER_BYTES: usize = 4096;

/// An event's id or name: no carriage return, no line feed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Line(Bytes);

/// A text with a line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value contains a line break or a NUL")]
pub struct NotALine;

impl Line {
    pub fn new(value: impl Into<Bytes>) -> Result<Self, NotALine> {
        let value = value.into();
        if memchr::memchr3(b'\r', b'\n', 0, &value).is_some() {
            return Err(NotALine);
        }
        Ok(Self(value))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The value as a header; `None` if it is empty, too long or has control characters.
    pub fn to_header(&self) -> Option<HeaderValue> {
        let fits = !self.0.is_empty() && self.0.len() <= MAX_HEADER_BYTES;
        fits.then(|| HeaderValue::from_bytes(&self.0).ok()).flatten()
    }

    /// Copies a line out of a chunk. The line is short and kept for long, and must not keep the
    /// chunk in memory.
    pub(super) fn copied(value: &[u8]) -> Self {
        Self(Bytes::copy_from_slice(value))
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_no_breaks_and_no_nul() {
        for bad in ["a\nb", "a\rb", "\n", "a\0"] {
            assert_eq!(Line::new(bad), Err(NotALine), "{bad:?}");
        }
        assert_eq!(Line::new("ä b").unwrap().as_bytes(), "ä b".as_bytes());
    }

    #[test]
    fn only_what_a_header_can_carry_becomes_one() {
        assert_eq!(Line::new("s_1:42").unwrap().to_header().unwrap(), "s_1:42");
        assert!(Line::new("ä").unwrap().to_header().is_some());
        assert!(Line::new("").unwrap().to_header().is_none());
        assert!(Line::new("a\x07").unwrap().to_header().is_none());
        assert!(Line::new("x".repeat(MAX_HEADER_BYTES + 1)).unwrap().to_header().is_none());
    }
}
