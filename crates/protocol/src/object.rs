//! The members of one JSON object, each still raw, for reading, replacing and serializing.

use crate::{Raw, scan};
use std::borrow::Cow;

/// An object split into its members. Their order is kept, and unchanged values are written byte
/// for byte.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Object(Vec<(Cow<'static, str>, Raw)>);

/// Initial capacity, enough for most objects.
const USUAL_MEMBERS: usize = 6;

impl Object {
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn cut(raw: &Raw) -> Option<Self> {
        let members = scan::checked_members(raw.as_bytes())?;
        let mut cut = Vec::with_capacity(USUAL_MEMBERS);
        for member in members {
            let known = member.plain_name(raw.as_bytes()).and_then(known);
            let name =
                known.map_or_else(|| Cow::Owned(member.name(raw.as_bytes()).into_owned()), Cow::Borrowed);
            cut.push((name, member.value(raw.bytes())));
        }
        Some(Self(cut))
    }

    pub fn get(&self, name: &str) -> Option<&Raw> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Replaces a member in its place, or adds it at the end.
    pub fn set(&mut self, name: impl Into<Cow<'static, str>>, value: Raw) {
        let name = name.into();
        match self.0.iter_mut().find(|(key, _)| *key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// Adds a member without searching for the name. The caller ensures that the name is not in
    /// the object yet.
    pub(crate) fn push(&mut self, name: impl Into<Cow<'static, str>>, value: Raw) {
        self.0.push((name.into(), value));
    }

    pub fn remove(&mut self, name: &str) -> Option<Raw> {
        let at = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.remove(at).1)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), value))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn to_raw(&self) -> Raw {
        let size = self.0.iter().map(|(key, value)| key.len() + value.as_bytes().len() + 4).sum::<usize>();
        let mut text = Vec::with_capacity(size + 2);
        text.push(b'{');
        for (i, (key, value)) in self.0.iter().enumerate() {
            if i > 0 {
                text.push(b',');
            }
            write_member(&mut text, key, value);
        }
        text.push(b'}');
        Raw::trusted(text.into())
    }
}

impl FromIterator<(String, Raw)> for Object {
    fn from_iter<I: IntoIterator<Item = (String, Raw)>>(members: I) -> Self {
        let mut object = Self::new();
        for (name, value) in members {
            object.set(name, value);
        }
        object
    }
}

/// Lists known names by length, so that an unknown name is rarely compared with any.
macro_rules! known {
    ($($len:literal: $($name:literal)*;)*) => {
        $($(const _: () = assert!($name.len() == $len);)*)*

        /// The constant for a member name of the protocol.
        fn known(name: &[u8]) -> Option<&'static str> {
            match name.len() {
                $($len => {
                    $(if name == $name.as_bytes() {
                        return Some($name);
                    })*
                    None
                })*
                _ => None,
            }
        }
    };
}

known! {
    3: "uri";
    4: "name" "type" "text" "code" "data";
    5: "_meta" "tools" "ttlMs" "title";
    6: "cursor";
    7: "content" "isError" "version" "message";
    9: "arguments";
    10: "resultType" "cacheScope" "nextCursor" "clientInfo";
    11: "description" "inputSchema" "annotations";
    12: "outputSchema" "requestState" "capabilities";
    13: "progressToken";
    14: "inputResponses";
    15: "protocolVersion";
    17: "structuredContent";
    32: "io.modelcontextprotocol/logLevel";
    34: "io.modelcontextprotocol/clientInfo" "io.modelcontextprotocol/serverInfo";
    38: "io.modelcontextprotocol/subscriptionId";
    39: "io.modelcontextprotocol/protocolVersion";
    42: "io.modelcontextprotocol/clientCapabilities";
}

/// The member name, without an allocation if the protocol defines it.
pub(crate) fn intern(name: Cow<'_, str>) -> Cow<'static, str> {
    known(name.as_bytes()).map_or_else(|| Cow::Owned(name.into_owned()), Cow::Borrowed)
}

pub(crate) fn write_member(out: &mut Vec<u8>, name: &str, value: &Raw) {
    write_string(out, name);
    out.push(b':');
    out.extend_from_slice(value.as_bytes());
}

pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    if scan::plain_run(text.as_bytes()) == text.len() {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        serde_json::to_writer(out, text).expect("a string is valid JSON, and writing to memory cannot fail");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn an_edit_touches_one_member_only() {
        let mut object =
            raw(r#"{ "z": 1.50, "n":123456789012345678901234567890, "a\u0041": "\/" }"#).object().unwrap();
        object.set("z", raw("2"));
        object.set("new", raw("[ ]"));
        let want = r#"{"z":2,"n":123456789012345678901234567890,"aA":"\/","new":[ ]}"#;
        assert_eq!(object.to_raw().as_str(), want);
        assert_eq!(object.remove("n").unwrap().as_str(), "123456789012345678901234567890");
        assert_eq!(object.len(), 3);
    }

    #[test]
    fn what_is_not_an_object_has_no_members() {
        assert!(raw("[1]").object().is_none());
        assert!(raw("{}").object().unwrap().is_empty());
        assert!(raw("{}").member("a").is_none());
    }

    #[test]
    fn names_are_written_as_json() {
        let mut object = Object::new();
        object.set("a\"\n", Raw::null());
        assert_eq!(object.to_raw().as_str(), r#"{"a\"\n":null}"#);
    }
}
