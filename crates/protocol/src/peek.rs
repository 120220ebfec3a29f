//! Looking into an object in passing: nothing is cut out of it, and what is not there is known without a walk.

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

/// Up to here looking for a name is faster than a walk over the members, which jumps over long strings.
const SMALL: usize = 4096;

/// A name that is spelt with this can be any name.
static SPELT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br"\u"));

/// A member that most objects lack. That its name is nowhere in the text is found out faster than by a walk.
///
/// The name consists of letters, for which there is no other spelling than `\u`.
#[derive(Debug)]
pub struct RareMember {
    name: &'static str,
    finder: OnceLock<Finder<'static>>,
}

/// A member of an object, where it stands in the object's text.
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

    /// Whether the object has the member, and it is `true`.
    pub fn is_true(&self, object: &Raw) -> bool {
        self.of(object).is_some_and(|value| value.as_bytes() == b"true")
    }

    fn is_nowhere_in(&self, text: &[u8]) -> bool {
        let finder = self.finder.get_or_init(|| Finder::new(self.name));
        finder.find(text).is_none() && !has_spelt_names(text)
    }
}

/// Whether a name may stand in this text without being found there. Most texts have no escape at all, which is found out fastest.
fn has_spelt_names(text: &[u8]) -> bool {
    memchr(b'\\', text).is_some() && SPELT.find(text).is_some()
}

impl Raw {
    /// The names and values of this object, in their order; of anything else, none.
    pub fn members(&self) -> impl Iterator<Item = (Cow<'_, str>, &[u8])> {
        let text = self.as_bytes();
        let members = checked_members(text).into_iter().flatten();
        members.map(move |member| (member.name(text), member.text(text)))
    }

    /// Whether a member of that name may stand in this text, at any depth. A `false` is certain, and found quickly.
    pub fn may_name(&self, name: &str) -> bool {
        let text = self.as_bytes();
        memmem::find(text, name.as_bytes()).is_some() || has_spelt_names(text)
    }

    /// The text of one member; `None` when it is absent or of another type.
    pub fn text_of(&self, name: &str) -> Option<Cow<'_, str>> {
        self.find(name)?.text()
    }

    /// One member, where it stands.
    pub fn find(&self, name: &str) -> Option<Found<'_>> {
        let text = self.as_bytes();
        let value = checked_members(text)?.find(|member| member.is(name, text))?.value;
        Some(Found { object: self, value })
    }
}

impl<'a> Found<'a> {
    /// Its text; `None` when it is of another type.
    pub fn text(&self) -> Option<Cow<'a, str>> {
        text_in(&self.object.as_bytes()[self.value.clone()])
    }

    /// The object with another value in its place.
    #[must_use = "the object itself stays as it is"]
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
