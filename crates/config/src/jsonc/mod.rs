//! JSON with comments and trailing commas; every key and value keeps its position in the text.
//!
//! There are no other extensions, so a plain JSON file means the same here as elsewhere. Duplicate
//! keys are refused, because parsers differ about which one counts.

mod lines;
mod reader;

use serde_json::Number;
use std::ops::Range;

pub use lines::{Lines, Position};
pub(crate) use reader::{EXTENSIONS, split_bom};
pub use reader::{MAX_BYTES, MAX_DEPTH, SyntaxError, parse};

/// A value and its position.
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

/// A byte range in one of the texts that were read together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Index of the text.
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

    /// The members of an object; empty for other values.
    pub fn entries(&self) -> &[Entry] {
        if let Value::Table(entries) = &self.value { entries } else { &[] }
    }

    /// The items of an array; empty for other values.
    pub fn items(&self) -> &[Node] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    pub fn bool(&self) -> Option<bool> {
        if let Value::Bool(value) = self.value { Some(value) } else { None }
    }

    /// The value at a path such as `["mcp", "servers"]`.
    pub fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The number of values in the tree, including this one.
    pub fn count(&self) -> usize {
        let below = self.items().iter().chain(self.entries().iter().map(|entry| &entry.node));
        1 + below.map(Self::count).sum::<usize>()
    }

    /// The value without positions.
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

    /// Builds a tree in which all values have the same position.
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

    /// The kind of value, for messages.
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
