//! Looks up members of an object without parsing it: absent names are ruled out by a byte search.

use crate::{Raw, raw::text_in, scan::checked_members};
use memchr::{
    memchr,
    memmem::{self, Finder},
};
use std::{
    borrow::Cow,
    ops::Range,
    sync::{LazyLock, OnceLock},
};

/// Up to this size a byte search is faster than a pass over the members, which skips long strings.
const SMALL: usize = 4096;

/// A key with a `\u` escape may decode to any name, so a byte search cannot rule it out.
static ESCAPE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br"\u"));

/// A member that most objects lack, so it is worth a byte search before a pass over the members.
///
/// Its name must consist of letters, which JSON can escape only with `\u`.
#[derive(Debug)]
pub struct RareMember {
    name: &'static str,
    finder: OnceLock<Finder<'static>>,
}

/// A member's position in the text of its object.
#[derive(Debug)]
pub struct Found<'a> {
    object: &'a Raw,
    value: Range<usize>,
}

impl RareMember {
    pub const fn new(name: &'static str) -> Self {
        Self { name, finder: OnceLock::new() }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The member of this object, still raw.
    pub fn of(&self, object: &Raw) -> Option<Raw> {
        let text = object.as_bytes();
        if text.len() <= SMALL && self.is_nowhere_in(text) { None } else { object.member(self.name) }
    }

    /// True if the object has the member with the value `true`.
    pub fn is_true(&self, object: &Raw) -> bool {
        self.of(object).is_some_and(|value| value.as_bytes() == b"true")
    }

    fn is_nowhere_in(&self, text: &[u8]) -> bool {
        let finder = self.finder.get_or_init(|| Finder::new(self.name));
        finder.find(text).is_none() && !has_escaped_names(text)
    }
}

/// True if the text has a `\u` escape. Most texts have no backslash at all, which is checked
/// first.
fn has_escaped_names(text: &[u8]) -> bool {
    memchr(b'\\', text).is_some() && ESCAPE.find(text).is_some()
}

impl Raw {
    /// The names and values of this object, in order; empty if this is not an object.
    pub fn members(&self) -> impl Iterator<Item = (Cow<'_, str>, &[u8])> {
        let text = self.as_bytes();
        let members = checked_members(text).into_iter().flatten();
        members.map(move |member| (member.name(text), member.text(text)))
    }

    /// False only if no member at any depth has that name; true if there may be one.
    pub fn may_name(&self, name: &str) -> bool {
        let text = self.as_bytes();
        memmem::find(text, name.as_bytes()).is_some() || has_escaped_names(text)
    }

    /// The decoded string value of one member; `None` if it is absent or not a string.
    pub fn text_of(&self, name: &str) -> Option<Cow<'_, str>> {
        self.find(name)?.text()
    }

    /// The position of one member.
    pub fn find(&self, name: &str) -> Option<Found<'_>> {
        let text = self.as_bytes();
        let value = checked_members(text)?.find(|member| member.is(name, text))?.value;
        Some(Found { object: self, value })
    }
}

impl<'a> Found<'a> {
    /// The decoded string value; `None` if it is not a string.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        text_in(&self.object.as_bytes()[self.value.clone()])
    }

    /// The object with this member's value replaced.
    #[must_use = "returns a changed copy of the object"]
    pub fn replaced(&self, value: &Raw) -> Raw {
        let (old, new) = (self.object.as_bytes(), value.as_bytes());
        let mut text = Vec::with_capacity(old.len() - self.value.len() + new.len());
        text.extend_from_slice(&old[..self.value.start]);
        text.extend_from_slice(new);
        text.extend_from_slice(&old[self.value.end..]);
        Raw::trusted(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn a_rare_member_is_found_however_it_is_spelt_and_only_where_it_is_a_member() {
        static RARE: RareMember = RareMember::new("isError");
        for (text, there) in [
            (r#"{"isError":true}"#, true),
            (r#"{"content":["\n"],"i\u0073Error" : true }"#, true),
            (r#"{"isError":false}"#, false),
            (r#"{"isError":"true"}"#, false),
            (r#"{"content":{"isError":true}}"#, false),
            (r#"{"content":"isError"}"#, false),
            (r#"{"content":"\u0069"}"#, false),
            ("[true]", false),
        ] {
            assert_eq!(RARE.is_true(&raw(text)), there, "{text}");
        }
        assert_eq!(RARE.of(&raw(r#"{"isError":[1]}"#)).unwrap().as_str(), "[1]");
        let long = "x".repeat(SMALL);
        assert!(RARE.is_true(&raw(&format!(r#"{{"content":"{long}","isError":true}}"#))));
        assert!(RARE.of(&raw(&format!(r#"{{"content":"{long}"}}"#))).is_none());
    }

    #[test]
    fn what_is_nowhere_in_the_text_is_no_name() {
        let list = raw(r#"[{"a":{"name":1}}]"#);
        assert!(list.may_name("name") && !list.may_name("title"));
        assert!(raw(r#"{"\u0074itle":1}"#).may_name("title"));
    }

    #[test]
    fn members_and_texts_are_read_as_what_they_stand_for() {
        let object = raw(r#"{ "a\n" : [1, 2] ,"name":"x","other":"\u0061","n":1}"#);
        let members: Vec<_> =
            object.members().map(|(name, value)| (name.into_owned(), value.len())).collect();
        assert_eq!(members, [("a\n".into(), 6), ("name".into(), 3), ("other".into(), 8), ("n".into(), 1)]);
        assert_eq!(object.text_of("name"), Some(Cow::Borrowed("x")));
        assert_eq!(object.text_of("other").unwrap(), "a");
        assert!(object.text_of("n").is_none() && object.text_of("none").is_none());
        assert_eq!(raw("[1]").members().count(), 0);
    }
}
