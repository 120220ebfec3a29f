//! Reads a server's list without its broken items: one tool whose schema names a member twice must
//! not hide the others.

use super::{Envelope, Frame};
use crate::{Defect, Malformed, Raw, message::meta::SET_ASIDE};
use bytes::Bytes;
use serde::{
    Deserializer,
    de::{Error, MapAccess, Visitor},
};
use serde_json::{Value, json, value::RawValue};
use std::{collections::HashSet, fmt};

/// The members of a result that hold a list's items, and the member that names an item.
const LISTS: [(&str, &str); 4] =
    [("tools", "name"), ("prompts", "name"), ("resources", "uri"), ("resourceTemplates", "uriTemplate")];
/// Broken items that are named; further ones are left out silently.
const MAX_NAMED: usize = 100;

/// The members of an object, in order, as text.
type Members<'a> = Vec<(String, &'a str)>;

impl Frame {
    /// Reads a frame of a server. If single items of a list are broken, the list is read without
    /// them, and its `_meta` names them as `trunkline/setAside`. Everything else is as strict as
    /// [`Frame::parse`].
    pub fn parse_answer(bytes: &Bytes) -> Result<Self, Malformed> {
        Self::parse(bytes).or_else(|malformed| match malformed.defect {
            Defect::DuplicateKey | Defect::Depth => {
                without_broken_items(bytes).map(Self::One).ok_or(malformed)
            }
            _ => Err(malformed),
        })
    }
}

fn without_broken_items(bytes: &Bytes) -> Option<Envelope> {
    let frame = members(std::str::from_utf8(bytes).ok()?)?;
    let result = frame.iter().find(|(name, _)| name == "result").and_then(|(_, text)| members(text))?;
    let (list, identity) = LISTS.into_iter().find(|(list, _)| result.iter().any(|(name, _)| name == list))?;
    let mut kept = Vec::new();
    let mut broken = Vec::new();
    let (_, items) = result.iter().find(|(name, _)| name == list)?;
    for (index, item) in serde_json::from_str::<Vec<&RawValue>>(items).ok()?.into_iter().enumerate() {
        match Raw::parse(item.get().to_owned()) {
            Ok(_) => kept.push(item.get()),
            Err(malformed) if broken.len() < MAX_NAMED => {
                let read = serde_json::from_str::<Value>(item.get()).unwrap_or_default();
                broken.push(
                    json!({"index": index, "name": read[identity], "reason": reason(malformed.defect)}),
                );
            }
            Err(_) => {}
        }
    }
    if broken.is_empty() {
        return None;
    }
    let (items, broken) = (format!("[{}]", kept.join(",")), Value::from(broken).to_string());
    let empty = ("_meta".to_owned(), "{}");
    let meta = result.iter().find(|(name, _)| name == "_meta").unwrap_or(&empty);
    let meta = with(&members(meta.1)?, SET_ASIDE, &broken);
    let result = with(&result, list, &items);
    let result = with(&members(&result)?, "_meta", &meta);
    Envelope::parse(&with(&frame, "result", &result).into()).ok()
}

fn reason(defect: Defect) -> String {
    match defect {
        Defect::Depth => format!("it is nested deeper than {} levels", crate::MAX_DEPTH),
        other => other.to_string(),
    }
}

/// The object with one member replaced in its place, or added at the end.
fn with(object: &Members<'_>, name: &str, value: &str) -> String {
    let mut members: Vec<(&str, &str)> =
        object.iter().map(|(key, old)| (key.as_str(), if key == name { value } else { old })).collect();
    if object.iter().all(|(key, _)| key != name) {
        members.push((name, value));
    }
    let members: Vec<String> =
        members.iter().map(|(name, value)| format!("{}:{value}", Value::from(*name))).collect();
    format!("{{{}}}", members.join(","))
}

/// The members of an object; `None` if it is not an object, or names one twice.
fn members(text: &str) -> Option<Members<'_>> {
    struct Unique;
    impl<'de> Visitor<'de> for Unique {
        type Value = Members<'de>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
            let (mut members, mut names) = (Vec::new(), HashSet::new());
            while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                if !names.insert(name.clone()) {
                    return Err(A::Error::custom("a member name occurs twice"));
                }
                members.push((name, value.get()));
            }
            Ok(members)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_map(Unique).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Frame, Malformed> {
        Frame::parse_answer(&Bytes::from(text.to_owned()))
    }

    #[test]
    fn a_broken_item_is_named_and_the_rest_stays_as_it_was() {
        let text = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","n":1.50},{"name":"b","inputSchema":{"type":"object","type":"x"}}],"x":[ ]}}"#;
        let Ok(Frame::One(envelope)) = read(text) else { panic!("it is not read") };
        let want = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","n":1.50}],"x":[ ],"_meta":{"trunkline/setAside":[{"index":1,"name":"b","reason":"a member name occurs twice in one object"}]}}}"#;
        assert_eq!(envelope.to_bytes(), want);
    }

    #[test]
    fn anything_else_is_refused_as_before() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{"tools":[]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"tools":[{"a":1,"a":2}]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"a":1,"a":2}]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"_meta":{"a":1,"a":2}}}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
