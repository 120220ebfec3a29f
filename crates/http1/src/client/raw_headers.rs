//! The headers of a response as text, searched only for what the caller asks for.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use memchr::memchr;

/// Header lines whose syntax was checked.
#[derive(Debug, Clone)]
pub struct RawHeaders(Bytes);

impl RawHeaders {
    pub(super) fn new(lines: Bytes) -> Self {
        Self(lines)
    }

    /// The first header of this name.
    pub fn get(&self, name: &HeaderName) -> Option<HeaderValue> {
        let found = self.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.as_str().as_bytes()));
        found.and_then(|(_, value)| HeaderValue::from_bytes(value).ok())
    }

    pub fn to_map(&self) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in self.iter() {
            if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
                map.append(name, value);
            }
        }
        map
    }

    /// Names as they were sent, and values without the whitespace around them.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut rest = &self.0[..];
        std::iter::from_fn(move || {
            let (line, after) = rest.split_at_checked(memchr(b'\n', rest)? + 1)?;
            rest = after;
            let (name, value) = line.split_at_checked(memchr(b':', line)?)?;
            Some((name, value[1..].trim_ascii()))
        })
    }
}
