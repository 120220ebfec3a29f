//! Compares two messages as text: the order of members and the spelling count.

use serde_json::value::RawValue;
use std::{collections::BTreeMap, fmt};

/// One difference between two messages.
#[derive(Debug, Clone)]
pub(crate) struct Difference {
    exchange: String,
    /// The path: `answer/…` in what the client received, `request/…` in what the server received.
    pub(crate) path: String,
    pub(crate) kind: Kind,
    detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Lost,
    Added,
    Changed,
    Reordered,
}

/// An object with its members in their original order.
struct Members(Vec<(String, Box<RawValue>)>);

impl Difference {
    pub(crate) fn of(mut self, exchange: &str) -> Self {
        exchange.clone_into(&mut self.exchange);
        self
    }
}

/// Compares the messages of a direct connection with those through the bridge.
pub(crate) fn between(direct: &[String], through: &[String]) -> Vec<Difference> {
    let mut found = Vec::new();
    if direct.len() != through.len() {
        let detail = format!("{} messages, then {}: {through:#?}", direct.len(), through.len());
        note(&mut found, "answer", Kind::Changed, detail);
        return found;
    }
    for (direct, through) in direct.iter().zip(through) {
        compare(&raw(direct), &raw(through), "answer", &mut found);
    }
    found
}

fn compare(direct: &RawValue, through: &RawValue, path: &str, found: &mut Vec<Difference>) {
    if direct.get() == through.get() {
        return;
    }
    let objects = (members(direct), members(through));
    if let (Some(direct), Some(through)) = objects {
        return compare_members(&direct, &through, path, found);
    }
    let lists = (read::<Vec<Box<RawValue>>>(direct), read::<Vec<Box<RawValue>>>(through));
    if let (Some(direct), Some(through)) = lists
        && direct.len() == through.len()
    {
        for (at, (direct, through)) in direct.iter().zip(&through).enumerate() {
            compare(direct, through, &format!("{path}/{at}"), found);
        }
        return;
    }
    // The request, which the server echoed as text.
    let frames = (frame(direct), frame(through));
    if let (Some(direct), Some(through)) = frames {
        return compare(&raw(&direct), &raw(&through), "request", found);
    }
    note(found, path, Kind::Changed, format!("{} became {}", direct.get(), through.get()));
}

fn compare_members(direct: &Members, through: &Members, path: &str, found: &mut Vec<Difference>) {
    let seen: BTreeMap<&str, &RawValue> =
        through.0.iter().map(|(name, value)| (name.as_str(), &**value)).collect();
    let known: BTreeMap<&str, &RawValue> =
        direct.0.iter().map(|(name, value)| (name.as_str(), &**value)).collect();
    for (name, value) in &direct.0 {
        let place = format!("{path}/{}", name.replace('/', "~"));
        match seen.get(name.as_str()) {
            Some(other) => compare(value, other, &place, found),
            None => note(found, &place, Kind::Lost, value.get().to_owned()),
        }
    }
    for (name, value) in through.0.iter().filter(|(name, _)| !known.contains_key(name.as_str())) {
        note(found, &format!("{path}/{}", name.replace('/', "~")), Kind::Added, value.get().to_owned());
    }
    let kept = |members: &Members, others: &BTreeMap<&str, &RawValue>| -> Vec<String> {
        members
            .0
            .iter()
            .map(|(name, _)| name.clone())
            .filter(|name| others.contains_key(name.as_str()))
            .collect()
    };
    let (before, after) = (kept(direct, &seen), kept(through, &known));
    if before != after {
        note(found, path, Kind::Reordered, format!("{before:?} became {after:?}"));
    }
}

fn members(value: &RawValue) -> Option<Members> {
    struct Visit;
    impl<'de> serde::de::Visitor<'de> for Visit {
        type Value = Members;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
            let mut members = Vec::new();
            while let Some(entry) = map.next_entry()? {
                members.push(entry);
            }
            Ok(Members(members))
        }
    }
    let mut reader = serde_json::Deserializer::from_str(value.get());
    serde::Deserializer::deserialize_map(&mut reader, Visit).ok()
}

fn frame(value: &RawValue) -> Option<String> {
    read::<String>(value).filter(|text| text.starts_with('{') && text.contains("jsonrpc"))
}

fn read<T: serde::de::DeserializeOwned>(value: &RawValue) -> Option<T> {
    serde_json::from_str(value.get()).ok()
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn note(found: &mut Vec<Difference>, path: &str, kind: Kind, detail: String) {
    found.push(Difference { exchange: String::new(), path: path.to_owned(), kind, detail });
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {:?}: {}", self.exchange, self.path, self.kind, self.detail)
    }
}
