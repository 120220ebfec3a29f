//! JSON text that was checked and not decoded.

use crate::{Malformed, Object, object::write_string, scan};
use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use std::fmt;

/// One JSON value as it was written: every digit, every escape, every unknown member in its place.
///
/// Invariant: the bytes are valid UTF-8 and one valid JSON value within the depth limit, without surrounding blanks.
/// A `Raw` cut from a frame shares the frame's memory, so cloning is cheap.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Raw(Bytes);

impl Raw {
    /// Checks `bytes` as one JSON value.
    pub fn parse(bytes: impl Into<Bytes>) -> Result<Self, Malformed> {
        let bytes = bytes.into();
        let range = scan::document(&bytes)?;
        Ok(Self(bytes.slice(range)))
    }

    /// Writes a value of ours as JSON.
    ///
    /// Fails only for types JSON cannot hold, such as maps with structured keys.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_vec(value).map(|text| Self(text.into()))
    }

    /// The caller knows that `bytes` is the text of one JSON value, because it was scanned or written by us.
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
        std::str::from_utf8(&self.0).expect("a Raw is checked as UTF-8 when it is made")
    }

    pub fn is_object(&self) -> bool {
        self.0.first() == Some(&b'{')
    }

    pub fn is_null(&self) -> bool {
        self.0.as_ref() == b"null"
    }

    /// Decodes into a type; only what the type names is read.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.0)
    }

    /// The members of this object, each still raw; `None` when it is not an object.
    pub fn object(&self) -> Option<Object> {
        Object::cut(self)
    }

    /// One member of this object, still raw.
    pub fn member(&self, name: &str) -> Option<Raw> {
        let members = scan::members(&self.0).ok()??;
        let member = members.iter().find(|member| member.name(&self.0) == name)?;
        Some(member.value(&self.0))
    }

    /// Decodes one member of this object; `None` when it is absent or of another type.
    pub fn member_as<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        self.member(name)?.decode().ok()
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
        let text: &RawValue = serde_json::from_slice(&self.0).map_err(serde::ser::Error::custom)?;
        text.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Raw {
    /// Works inside `serde_json` only, and not below `flatten` or untagged enums, which do not keep the text.
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
