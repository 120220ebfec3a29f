//! JSON with comments and trailing commas, where every key and value knows its place in the text.
//!
//! Nothing else is looser than JSON: a file that other programs read as JSON means the same here, and names that stand
//! twice in one object are refused, because readers differ about which one counts.

mod lines;
mod reader;

use serde_json::Number;
use std::ops::Range;

pub use lines::{Lines, Position};
pub use reader::{MAX_BYTES, MAX_DEPTH, SyntaxError, parse};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub value: Value,
    pub place: Place,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub key: String,
    pub key_place: Place,
    pub node: Node,
}

/// Bytes of one of the texts that were read together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which text, by its number among them.
    pub source: u16,
    pub start: u32,
    pub end: u32,
}

impl Node {
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The members of an object; anything else has none.
    pub fn entries(&self) -> &[Entry] {
        if let Value::Table(entries) = &self.value { entries } else { &[] }
    }

    /// The items of a list; anything else has none.
    pub fn items(&self) -> &[Node] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    pub fn bool(&self) -> Option<bool> {
        if let Value::Bool(value) = self.value { Some(value) } else { None }
    }

    /// What stands at a path such as `["mcp", "servers"]`.
    pub fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// How many values there are, this one among them.
    pub fn count(&self) -> usize {
        let below = self.items().iter().chain(self.entries().iter().map(|entry| &entry.node));
        1 + below.map(Self::count).sum::<usize>()
    }

    /// The same without places.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Number(number) => number.clone().into(),
            Value::Text(text) => text.clone().into(),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Table(entries) => {
                entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect()
            }
        }
    }

    /// A JSON value that stands, with everything in it, at one place.
    pub fn from_json(value: serde_json::Value, place: Place) -> Self {
        let value = match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(value),
            serde_json::Value::Number(number) => Value::Number(number),
            serde_json::Value::String(text) => Value::Text(text),
            serde_json::Value::Array(items) => {
                Value::List(items.into_iter().map(|item| Self::from_json(item, place)).collect())
            }
            serde_json::Value::Object(members) => Value::Table(
                members
                    .into_iter()
                    .map(|(key, value)| Entry { key, key_place: place, node: Self::from_json(value, place) })
                    .collect(),
            ),
        };
        Self { value, place }
    }

    /// What kind of value it is, for people.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Table(_) => "an object",
        }
    }
}

impl Place {
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

#[cfg(test)]
mod tests;
