//! Finding and changing one member of an object without reading the others.
//!
//! A [`Raw`] was checked when it was made, so here nothing is checked again: text between quotes is skipped at once, brackets
//! are counted, and nothing is allocated but the changed text. What is not changed keeps every byte, blanks included.

use crate::{Raw, object::write_string};
use std::{borrow::Cow, ops::Range};

/// A member of an object: its name with the quotes, and its value.
struct Place {
    name: Range<usize>,
    value: Range<usize>,
}

impl Raw {
    /// One member of this object. Unlike [`Raw::member`] this reads no deeper than it must.
    pub fn find(&self, name: &str) -> Option<Raw> {
        let place = find(self.as_bytes(), name)?;
        Some(Raw::trusted(self.bytes().slice(place.value)))
    }

    /// This text, where it is one; borrowed unless it has escapes.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        let inside = self.as_str().strip_prefix('"')?.strip_suffix('"')?;
        if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
            return Some(Cow::Borrowed(inside));
        }
        self.decode().ok().map(Cow::Owned)
    }

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

    /// This object with one member replaced in its place, or added at the end; `None` when it is not an object.
    #[must_use = "the object itself stays as it is"]
    pub fn with(&self, name: &str, value: &Raw) -> Option<Raw> {
        if !self.is_object() {
            return None;
        }
        let (old, new) = (self.as_bytes(), value.as_bytes());
        let mut text = Vec::with_capacity(old.len() + new.len() + name.len() + 4);
        if let Some(place) = find(old, name) {
            text.extend_from_slice(&old[..place.value.start]);
            text.extend_from_slice(new);
            text.extend_from_slice(&old[place.value.end..]);
        } else {
            let inside = old[..old.len() - 1].trim_ascii_end();
            text.extend_from_slice(inside);
            if inside.len() > 1 {
                text.push(b',');
            }
            write_string(&mut text, name);
            text.push(b':');
            text.extend_from_slice(new);
            text.push(b'}');
        }
        Some(Raw::trusted(text.into()))
    }
}

fn find(text: &[u8], name: &str) -> Option<Place> {
    if text.first() != Some(&b'{') {
        return None;
    }
    let mut at = skip_blanks(text, 1);
    while text.get(at) == Some(&b'"') {
        let place = member(text, at);
        if is_named(&text[place.name.clone()], name) {
            return Some(place);
        }
        at = skip_blanks(text, place.value.end);
        if text.get(at) != Some(&b',') {
            return None;
        }
        at = skip_blanks(text, at + 1);
    }
    None
}

fn member(text: &[u8], at: usize) -> Place {
    let name = at..skip_string(text, at);
    // Between the two stands a colon, as the check has seen.
    let colon = skip_blanks(text, name.end);
    let start = skip_blanks(text, colon + 1);
    Place { name, value: start..skip_value(text, start) }
}

fn is_named(quoted: &[u8], name: &str) -> bool {
    let inside = &quoted[1..quoted.len() - 1];
    if inside == name.as_bytes() {
        return memchr::memchr(b'\\', inside).is_none();
    }
    memchr::memchr(b'\\', inside).is_some()
        && serde_json::from_slice::<String>(quoted).is_ok_and(|read| read == name)
}

fn skip_blanks(text: &[u8], at: usize) -> usize {
    let blanks = text[at..].iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')).count();
    at + blanks
}

/// The place behind the string that begins at `at`.
fn skip_string(text: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(step) = memchr::memchr2(b'"', b'\\', &text[at..]) {
        at += step;
        if text[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

/// The place behind the value that begins at `at`.
fn skip_value(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(b'"') => skip_string(text, at),
        Some(b'{' | b'[') => skip_container(text, at),
        _ => {
            let end = text[at..]
                .iter()
                .position(|b| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n'));
            end.map_or(text.len(), |length| at + length)
        }
    }
}

fn skip_container(text: &[u8], at: usize) -> usize {
    let (mut at, mut depth) = (at, 0_usize);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at = skip_string(text, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn one_member_is_replaced_and_every_other_byte_stays() {
        let params = raw("{ \"a\" : [1.50,{\"name\":\"]}\\\"\"}] ,\n\"name\":\t\"x\" , \"z\":{} }");
        let want = "{ \"a\" : [1.50,{\"name\":\"]}\\\"\"}] ,\n\"name\":\t\"long\\ner\" , \"z\":{} }";
        assert_eq!(params.with("name", &Raw::string("long\ner")).unwrap().as_str(), want);
        assert_eq!(params.find("name").unwrap().text().unwrap(), "x");
        assert!(matches!(params.find("name").unwrap().text().unwrap(), Cow::Borrowed(_)));
        assert!(params.find("nam").is_none());
    }

    #[test]
    fn a_missing_member_is_added_at_the_end() {
        assert_eq!(raw("{ }").with("a\"", &raw("1")).unwrap().as_str(), "{\"a\\\"\":1}");
        assert_eq!(raw("{\"b\":2 }").with("a", &raw("1")).unwrap().as_str(), "{\"b\":2,\"a\":1}");
        assert!(raw("[1]").with("a", &raw("1")).is_none() && raw("3").find("a").is_none());
    }

    #[test]
    fn names_and_texts_with_escapes_are_read_as_what_they_stand_for() {
        let object = raw(r#"{"\u006eame":"a\u0062","na\\me":1}"#);
        assert_eq!(object.find("name").unwrap().text().unwrap(), "ab");
        assert_eq!(object.find("na\\me").unwrap().as_str(), "1");
        assert!(object.find(r"na\\me").is_none());
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
                prop_assert_eq!(json.find(name), json.member(name));
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
