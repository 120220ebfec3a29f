//! Reads or changes members of an object in one pass over its text.
//!
//! A [`Raw`] was validated when it was made, so nothing is validated again. Unchanged members keep
//! every byte, whitespace included.

use crate::{
    Raw,
    object::write_member,
    scan::{Member, checked_members},
};
use bytes::Bytes;

/// Maximum number of members that one pass changes: the number of bits of the mask in `with_all`.
const MOST_CHANGES: usize = 32;

/// A member of an object, passed to the closure of [`Raw::edit_members`].
#[derive(Debug)]
pub struct Named<'a> {
    member: &'a Member,
    text: &'a Bytes,
}

/// The decision of the closure of [`Raw::edit_members`] about a member.
#[derive(Debug)]
pub enum MemberEdit {
    Kept,
    LeftOut,
    /// Replaced by this value.
    Became(Raw),
}

impl Named<'_> {
    pub fn is(&self, name: &str) -> bool {
        self.member.is(name, self.text)
    }

    pub fn value(&self) -> Raw {
        self.member.value(self.text)
    }
}

impl Raw {
    /// An array of these values.
    pub fn array<'a>(items: impl IntoIterator<Item = &'a Raw>) -> Raw {
        let mut text = vec![b'['];
        for item in items {
            if text.len() > 1 {
                text.push(b',');
            }
            text.extend_from_slice(item.as_bytes());
        }
        text.push(b']');
        Raw::trusted(text.into())
    }

    /// This object with one member replaced in its place, or added at the end; `None` if this is
    /// not an object.
    #[must_use = "returns a changed copy of the object"]
    pub fn with(&self, name: &str, value: &Raw) -> Option<Raw> {
        if let Some(found) = self.find(name) {
            return Some(found.replaced(value));
        }
        let open = self.as_bytes().strip_suffix(b"}")?;
        let mut text = Vec::with_capacity(open.len() + value.as_bytes().len() + name.len() + 5);
        text.extend_from_slice(open.trim_ascii_end());
        add_member(&mut text, name, value);
        text.push(b'}');
        Some(Raw::trusted(text.into()))
    }

    /// The members of these names, each still raw; `None` for absent members, and for all of them
    /// if this is not an object.
    pub fn pick<const N: usize>(&self, names: [&str; N]) -> [Option<Raw>; N] {
        let (mut found, mut missing) = ([const { None }; N], N);
        for member in checked_members(self.as_bytes()).into_iter().flatten() {
            if let Some(i) = names.iter().position(|name| member.is(name, self.as_bytes())) {
                found[i] = Some(member.value(self.bytes()));
                // The parser refuses duplicate names, so each name is found at most once.
                missing -= 1;
                if missing == 0 {
                    break;
                }
            }
        }
        found
    }

    /// This object with these members replaced in their places, or added at the end; `None` if
    /// this is not an object.
    ///
    /// # Panics
    /// With more than 32 changes.
    #[must_use = "returns a changed copy of the object"]
    pub fn with_all(&self, changes: &[(&str, &Raw)]) -> Option<Raw> {
        assert!(changes.len() <= MOST_CHANGES, "at most 32 changes in one pass; use an `Object` for more");
        let old = self.as_bytes();
        let room = changes.iter().map(|(name, value)| name.len() + value.as_bytes().len() + 4).sum::<usize>();
        let mut text = Vec::with_capacity(old.len() + room);
        let (mut made, mut copied) = (0_u32, 0);
        for member in checked_members(old)? {
            if let Some(i) = changes.iter().position(|(name, _)| member.is(name, old)) {
                text.extend_from_slice(&old[copied..member.value.start]);
                text.extend_from_slice(changes[i].1.as_bytes());
                copied = member.value.end;
                made |= 1 << i;
            }
        }
        text.extend_from_slice(old[copied..old.len() - 1].trim_ascii_end());
        for (i, (name, value)) in changes.iter().enumerate() {
            if made & (1 << i) == 0 {
                add_member(&mut text, name, value);
            }
        }
        text.push(b'}');
        Some(Raw::trusted(text.into()))
    }

    /// A copy that owns its memory. A slice of a frame keeps the whole frame in memory.
    #[must_use = "returns a copy of the value"]
    pub fn detached(&self) -> Raw {
        Raw::trusted(Bytes::copy_from_slice(self.as_bytes()))
    }

    /// One object with the members of both; `None` if either is not an object. The caller ensures
    /// that no name is in both.
    pub fn joined(&self, other: &Raw) -> Option<Raw> {
        let (first, second) = (self.as_bytes(), other.as_bytes());
        let (b'{', b'{') = (first[0], second[0]) else { return None };
        let mut text = Vec::with_capacity(first.len() + second.len());
        text.extend_from_slice(first[..first.len() - 1].trim_ascii_end());
        let rest = second[1..].trim_ascii_start();
        if text.len() > 1 && rest.len() > 1 {
            text.push(b',');
        }
        text.extend_from_slice(rest);
        Some(Raw::trusted(text.into()))
    }

    /// This object without the members of these names; `None` if it has none of them.
    pub fn without(&self, names: &[&str]) -> Option<Raw> {
        self.edit_members(|member| {
            if names.iter().any(|name| member.is(name)) { MemberEdit::LeftOut } else { MemberEdit::Kept }
        })
    }

    /// This object after `judge` decided about each member; `None` if all members are kept or this
    /// is not an object.
    pub fn edit_members(&self, mut judge: impl FnMut(&Named<'_>) -> MemberEdit) -> Option<Raw> {
        let old = self.as_bytes();
        let mut text = Vec::new();
        // The end of the unchanged prefix, until the first change.
        let mut kept = Some(1);
        for member in checked_members(old)? {
            let verdict = judge(&Named { member: &member, text: self.bytes() });
            let Member { key, value, .. } = member;
            if let (MemberEdit::Kept, Some(_)) = (&verdict, kept) {
                kept = Some(value.end);
                continue;
            }
            if let Some(end) = kept.take() {
                text.reserve(old.len());
                text.extend_from_slice(&old[..end]);
            }
            if text.len() > 1 && !matches!(verdict, MemberEdit::LeftOut) {
                text.push(b',');
            }
            // A member's text starts at the quote before its name.
            match verdict {
                MemberEdit::LeftOut => {}
                MemberEdit::Kept => text.extend_from_slice(&old[key.start - 1..value.end]),
                MemberEdit::Became(new) => {
                    text.extend_from_slice(&old[key.start - 1..value.start]);
                    text.extend_from_slice(new.as_bytes());
                }
            }
        }
        if kept.is_some() {
            return None;
        }
        text.push(b'}');
        Some(Raw::trusted(text.into()))
    }
}

/// Appends a member to the text of an object without its closing brace and without trailing
/// whitespace.
fn add_member(open: &mut Vec<u8>, name: &str, value: &Raw) {
    if open.len() > 1 {
        open.push(b',');
    }
    write_member(open, name, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::borrow::Cow;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn several_members_are_found_in_one_walk() {
        let object = raw(r#"{ "a" : [1,{"c":2}], "\u0062":"x" , "d":null}"#);
        let [a, b, c, d] = object.pick(["a", "b", "c", "d"]);
        assert_eq!((a.unwrap().as_str(), b.unwrap().as_str()), (r#"[1,{"c":2}]"#, r#""x""#));
        assert!(c.is_none() && d.unwrap().is_null());
        assert_eq!(raw("[1]").pick(["a"]), [None]);
    }

    #[test]
    fn several_members_are_changed_in_one_walk() {
        let object = raw("{ \"a\" : 1.50, \"b\":{\"a\":1} ,\n\"c\":[ ] }");
        let (one, two) = (raw("2"), raw("\"x\""));
        let changed = object.with_all(&[("new", &one), ("c", &two), ("a", &one), ("last", &two)]);
        let want = "{ \"a\" : 2, \"b\":{\"a\":1} ,\n\"c\":\"x\",\"new\":2,\"last\":\"x\"}";
        assert_eq!(changed.unwrap().as_str(), want);
        assert_eq!(raw("{ }").with_all(&[("a", &one)]).unwrap().as_str(), r#"{"a":2}"#);
        assert_eq!(raw("{ }").with_all(&[]).unwrap().as_str(), "{}");
        assert!(raw("[]").with_all(&[]).is_none());
    }

    #[test]
    fn two_objects_become_one() {
        let joined = |a: &str, b: &str| raw(a).joined(&raw(b)).map(|both| both.to_string());
        assert_eq!(joined("{ \"a\":1 }", "{ \"b\":2}").unwrap(), "{ \"a\":1,\"b\":2}");
        assert_eq!(joined("{ }", "{\"b\":2}").unwrap(), "{\"b\":2}");
        assert_eq!(joined("{\"a\":1}", "{ }").unwrap(), "{\"a\":1}");
        assert_eq!((joined("{}", "{}").unwrap().as_str(), joined("[]", "{}")), ("{}", None));
    }

    #[test]
    fn members_are_left_out_and_the_others_stay_as_they_were() {
        let object = raw("{ \"a\" : 1.50, \"\\u0062\":{\"a\":1} ,\n\"c\":[ ] }");
        assert_eq!(object.without(&["a", "z"]).unwrap().as_str(), "{\"\\u0062\":{\"a\":1},\"c\":[ ]}");
        assert_eq!(object.without(&["b", "c"]).unwrap().as_str(), "{ \"a\" : 1.50}");
        assert_eq!(object.without(&["a", "b", "c"]).unwrap().as_str(), "{}");
        assert_eq!(object.without(&["c"]).unwrap().as_str(), "{ \"a\" : 1.50, \"\\u0062\":{\"a\":1}}");
        assert!(object.without(&["z"]).is_none() && raw("[]").without(&["a"]).is_none());
    }

    #[test]
    fn members_are_judged_one_by_one() {
        let object = raw(r#"{"a":1,"b" : 2,"c":3,"d":4}"#);
        let edit_members = object.edit_members(|member| match () {
            () if member.is("b") => MemberEdit::Became(Raw::array([&member.value()])),
            () if member.is("c") => MemberEdit::LeftOut,
            () => MemberEdit::Kept,
        });
        assert_eq!(edit_members.unwrap().as_str(), r#"{"a":1,"b" : [2],"d":4}"#);
        let first = object
            .edit_members(|m| if m.is("a") { MemberEdit::Became(Raw::null()) } else { MemberEdit::Kept });
        assert_eq!(first.unwrap().as_str(), r#"{"a":null,"b" : 2,"c":3,"d":4}"#);
        assert!(object.edit_members(|_| MemberEdit::Kept).is_none());
    }

    #[test]
    fn one_member_is_replaced_and_every_other_byte_stays() {
        let params = raw("{ \"a\" : [1.50,{\"name\":\"]}\\\"\"}] ,\n\"name\":\t\"x\" , \"z\":{} }");
        let want = "{ \"a\" : [1.50,{\"name\":\"]}\\\"\"}] ,\n\"name\":\t\"long\\ner\" , \"z\":{} }";
        assert_eq!(params.with("name", &Raw::string("long\ner")).unwrap().as_str(), want);
        assert_eq!(params.member("name").unwrap().text().unwrap(), "x");
        assert!(matches!(params.member("name").unwrap().text().unwrap(), Cow::Borrowed(_)));
        assert!(params.member("nam").is_none());
    }

    #[test]
    fn a_missing_member_is_added_at_the_end() {
        assert_eq!(raw("{ }").with("a\"", &raw("1")).unwrap().as_str(), "{\"a\\\"\":1}");
        assert_eq!(raw("{\"b\":2 }").with("a", &raw("1")).unwrap().as_str(), "{\"b\":2,\"a\":1}");
        assert!(raw("[1]").with("a", &raw("1")).is_none() && raw("3").member("a").is_none());
    }

    #[test]
    fn names_and_texts_with_escapes_are_read_as_what_they_stand_for() {
        let object = raw(r#"{"\u006eame":"a\u0062","na\\me":1}"#);
        assert_eq!(object.member("name").unwrap().text().unwrap(), "ab");
        assert_eq!(object.member("na\\me").unwrap().as_str(), "1");
        assert!(object.member(r"na\\me").is_none());
        assert!(raw("1").text().is_none());
        assert_eq!(Raw::array([&raw("1"), &raw("{ }")]).as_str(), "[1,{ }]");
        assert_eq!(Raw::array([]).as_str(), "[]");
    }

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            "[a-c\"\\\\{}\\[\\],: \n\u{e9}]{0,8}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::btree_map("[a-c\"\\\\]{0,2}", inner, 0..4)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn finding_agrees_with_the_checking_reader(value in any_json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let json = raw(&text.unwrap());
            for name in ["", "a", "b", "c", "ab", "\"", "\\", "a\"", "zz"] {
                prop_assert_eq!(json.member(name), json.object().and_then(|all| all.get(name).cloned()));
                let changed = json.with(name, &Raw::string("new"));
                prop_assert_eq!(changed.is_some(), value.is_object());
                if let (Some(changed), Some(map)) = (changed, value.as_object()) {
                    let mut want = map.clone();
                    want.insert(name.to_owned(), "new".into());
                    let got: serde_json::Value = Raw::parse(changed.bytes().clone()).unwrap().decode().unwrap();
                    prop_assert_eq!(got, serde_json::Value::Object(want));
                }
            }
        }
    }
}
