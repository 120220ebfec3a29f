//! Changing one member of an object without reading the others.
//!
//! A [`Raw`] was checked when it was made, so nothing is checked again, and nothing is allocated but the changed text. What is
//! not changed keeps every byte, blanks included.

use crate::{Raw, object::write_member};

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

    /// This object with one member replaced in its place, or added at the end; `None` when it is not an object.
    #[must_use = "the object itself stays as it is"]
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
}

/// Adds a member to the text of an object that is not closed yet and ends without blanks.
pub(crate) fn add_member(open: &mut Vec<u8>, name: &str, value: &Raw) {
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
