//! JSON text that is validated but not decoded.

use crate::{Malformed, Object, object::write_string, scan};
use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned, ser::SerializeStruct};
use serde_json::value::RawValue;
use std::{borrow::Cow, fmt};

/// The struct name with which `serde_json` recognises a `RawValue`, whose text it writes verbatim.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// One JSON value in its original text: all digits, escapes and unknown members are kept.
///
/// Invariant: the bytes are valid UTF-8 and one valid JSON value within the depth limit, without
/// surrounding whitespace. A `Raw` cut from a frame shares the frame's memory, so cloning is
/// cheap.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Raw(Bytes);

impl Raw {
    /// Validates `bytes` as one JSON value.
    pub fn parse(bytes: impl Into<Bytes>) -> Result<Self, Malformed> {
        let bytes = bytes.into();
        let range = scan::document(&bytes)?;
        Ok(Self(bytes.slice(range)))
    }

    /// Serializes a value as JSON.
    ///
    /// Fails only for types that JSON cannot represent, such as maps with structured keys.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_vec(value).map(|text| Self(text.into()))
    }

    /// Wraps `bytes` without validation. The caller knows that they are one JSON value, because we
    /// scanned or wrote them.
    pub(crate) fn trusted(bytes: Bytes) -> Self {
        Self(bytes)
    }

    pub fn string(text: &str) -> Self {
        let mut quoted = Vec::with_capacity(text.len() + 2);
        write_string(&mut quoted, text);
        Self(quoted.into())
    }

    pub fn empty_object() -> Self {
        Self(Bytes::from_static(b"{}"))
    }

    pub fn null() -> Self {
        Self(Bytes::from_static(b"null"))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn bytes(&self) -> &Bytes {
        &self.0
    }

    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("a `Raw` is validated as UTF-8 when it is created")
    }

    pub fn is_object(&self) -> bool {
        self.0.first() == Some(&b'{')
    }

    pub fn is_null(&self) -> bool {
        self.0.as_ref() == b"null"
    }

    /// Decodes into a type. Members that the type does not name are ignored.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.0)
    }

    /// The members of this object, each still raw; `None` if this is not an object.
    pub fn object(&self) -> Option<Object> {
        Object::cut(self)
    }

    /// One member of this object, still raw.
    pub fn member(&self, name: &str) -> Option<Raw> {
        let member = scan::checked_members(&self.0)?.find(|member| member.is(name, &self.0))?;
        Some(member.value(&self.0))
    }

    /// The decoded text of a JSON string; `None` for any other value.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        text_in(self.as_bytes())
    }

    /// Decodes one member of this object; `None` if it is absent or of another type.
    pub fn member_as<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.member(name)?.decode().ok()
    }
}

/// The decoded text of a validated JSON string; `None` for any other value.
pub(crate) fn text_in(json: &[u8]) -> Option<Cow<'_, str>> {
    match json {
        [b'"', text @ .., b'"'] if scan::plain_run(text) == text.len() => {
            std::str::from_utf8(text).ok().map(Cow::Borrowed)
        }
        [b'"', ..] => serde_json::from_slice(json).ok().map(Cow::Owned),
        _ => None,
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Raw {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Serializes like `RawValue`, but without validating the text again.
        let mut text = serializer.serialize_struct(RAW_VALUE, 1)?;
        text.serialize_field(RAW_VALUE, self.as_str())?;
        text.end()
    }
}

impl<'de> serde::Deserialize<'de> for Raw {
    /// Works only with `serde_json`, and not inside `flatten` or untagged enums, which do not keep
    /// the text.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(Bytes::from(String::from(Box::<str>::from(text)))))
    }
}

impl From<serde_json::Value> for Raw {
    fn from(value: serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn what_is_written_is_the_text_itself() {
        let value = raw(r#"{ "n": 1.50, "a": [ "\/" , 123456789012345678901234567890 ] }"#);
        assert_eq!(serde_json::to_string(&vec![&value]).unwrap(), format!("[{value}]"));
        assert_eq!(Raw::encode(&value).unwrap(), value);
        assert_eq!(serde_json::to_value(raw(r#"{"a":[1]}"#)).unwrap(), serde_json::json!({"a": [1]}));
    }

    #[test]
    fn a_member_is_found_among_values_that_look_like_members() {
        let value = raw(r#"{ "x" : "\"}", "y":{"name":[1,"]"]} ,"\u006eame" :  -1.5e3 , "z":[]}"#);
        assert_eq!(value.member("name").unwrap().as_str(), "-1.5e3");
        assert_eq!(value.member("z").unwrap().as_str(), "[]");
        assert_eq!(value.member("y").unwrap().as_str(), r#"{"name":[1,"]"]}"#);
        assert!(value.member("missing").is_none() && raw("[]").member("x").is_none());
    }

    #[test]
    fn only_a_string_has_a_text() {
        assert_eq!(raw(r#""a é""#).text().unwrap(), "a é");
        assert_eq!(raw(r#""\u0061\n""#).text().unwrap(), "a\n");
        for other in ["1", "null", "{}", r#"["a"]"#, r#""\ud800""#] {
            assert_eq!(raw(other).text(), None, "{other}");
        }
    }
}
