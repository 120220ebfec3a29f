//! Request ids, which keep their original JSON text.

use crate::{Defect, Raw};
use bytes::Bytes;
use std::{
    fmt,
    hash::{Hash, Hasher},
};

/// Maximum length of an id, in bytes of JSON text. It is limited because every response echoes the
/// id.
pub const MAX_ID_BYTES: usize = 1024;

/// A string or an integer of any size. Ids are equal if their values are: `1.0` equals `1`,
/// `"\u0061"` equals `"a"`.
#[derive(Clone)]
pub struct RequestId {
    raw: Raw,
    /// The canonical text, if `raw` is written differently.
    plain: Option<Bytes>,
}

impl RequestId {
    pub fn number(value: u64) -> Self {
        Self { raw: Raw::trusted(value.to_string().into()), plain: None }
    }

    pub fn text(value: &str) -> Self {
        Self { raw: Raw::string(value), plain: None }
    }

    /// Reads an id from JSON: a string or an integer of any size.
    pub fn read(raw: Raw) -> Result<Self, Defect> {
        if raw.as_bytes().len() > MAX_ID_BYTES {
            return Err(Defect::LongId);
        }
        let plain = match raw.as_bytes()[0] {
            b'"' => plain_string(&raw)?,
            b'-' | b'0'..=b'9' => plain_integer(raw.as_bytes())?,
            b'n' => return Err(Defect::NullId),
            _ => return Err(Defect::BadId),
        };
        Ok(Self { raw, plain })
    }

    /// The id as it is written on the wire.
    pub fn raw(&self) -> &Raw {
        &self.raw
    }

    /// The value of an id that we issued as a number.
    pub fn as_number(&self) -> Option<u64> {
        std::str::from_utf8(self.spelling()).ok()?.parse().ok()
    }

    fn spelling(&self) -> &[u8] {
        self.plain.as_deref().unwrap_or(self.raw.as_bytes())
    }
}

fn plain_string(raw: &Raw) -> Result<Option<Bytes>, Defect> {
    if !raw.as_bytes().contains(&b'\\') {
        return Ok(None);
    }
    let text: String = raw.decode().map_err(|_| Defect::BadId)?;
    Ok(Some(Raw::string(&text).bytes().clone()))
}

fn plain_integer(text: &[u8]) -> Result<Option<Bytes>, Defect> {
    let Some(end) = text.iter().position(|byte| matches!(byte, b'.' | b'e' | b'E')) else { return Ok(None) };
    let (whole, fraction) = text.split_at(end);
    let zeros = fraction.strip_prefix(b".").is_some_and(|digits| digits.iter().all(|digit| *digit == b'0'));
    if zeros { Ok(Some(Bytes::copy_from_slice(whole))) } else { Err(Defect::BadId) }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.spelling() == other.spelling()
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.spelling().hash(state);
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RequestId, Defect> {
        RequestId::read(Raw::parse(text.to_owned()).unwrap())
    }

    #[test]
    fn thirty_digits_stay_thirty_digits() {
        let id = read("123456789012345678901234567890").unwrap();
        assert_eq!(id.to_string(), "123456789012345678901234567890");
    }

    #[test]
    fn one_point_zero_is_one_but_keeps_its_spelling() {
        let id = read("1.0").unwrap();
        assert_eq!(id, RequestId::number(1));
        assert_eq!(id.as_number(), Some(1));
        assert_eq!(id.to_string(), "1.0");
    }

    #[test]
    fn a_number_is_not_the_string_of_its_digits() {
        assert_ne!(read("1").unwrap(), read("\"1\"").unwrap());
        assert_eq!(read("\"\\u0061\"").unwrap(), RequestId::text("a"));
    }

    #[test]
    fn other_types_are_refused() {
        assert_eq!(read("null"), Err(Defect::NullId));
        for bad in ["true", "1.5", "1e3", "{}", "[1]"] {
            assert_eq!(read(bad), Err(Defect::BadId), "{bad}");
        }
        assert_eq!(read(&format!("\"{}\"", "x".repeat(MAX_ID_BYTES))), Err(Defect::LongId));
    }
}
