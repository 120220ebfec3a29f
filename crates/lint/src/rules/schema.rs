//! Finds all subschemas of a tool's JSON schemas.

use crate::{evidence::Item, pointer};
use serde_json::Value;

/// Maximum number of subschemas visited per root.
pub(in crate::rules) const MAX_NODES: usize = 5_000;
/// Maximum depth of visited subschemas.
pub(in crate::rules) const MAX_DEPTH: usize = 64;

/// A schema inside a schema.
#[derive(Debug)]
pub(in crate::rules) struct Node<'a> {
    pub(in crate::rules) value: &'a Value,
    /// Pointer relative to the tool.
    pub(in crate::rules) pointer: String,
    pub(in crate::rules) depth: usize,
}

/// Keywords whose value is a schema.
const ONE: [&str; 12] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "contains",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
/// Keywords whose value is a list of schemas.
const SOME: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
/// Keywords whose value is a map of schemas.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// The schema members of a tool: `/inputSchema`, `/outputSchema`.
pub(in crate::rules) fn roots<'a>(tool: &Item<'a>) -> Vec<(&'static str, &'a Value)> {
    [("/inputSchema", "inputSchema"), ("/outputSchema", "outputSchema")]
        .into_iter()
        .filter_map(|(pointer, member)| Some((pointer, tool.value.get(member)?)))
        .collect()
}

/// All schemas of a tool, its roots first.
pub(in crate::rules) fn of_tool<'a>(tool: &Item<'a>) -> Vec<Node<'a>> {
    roots(tool).into_iter().flat_map(|(pointer, root)| walk(root, pointer)).collect()
}

/// A schema and all schemas inside it, breadth first.
pub(in crate::rules) fn walk<'a>(root: &'a Value, pointer: &str) -> Vec<Node<'a>> {
    let mut nodes = vec![Node { value: root, pointer: pointer.to_owned(), depth: 0 }];
    let mut next = 0;
    while next < nodes.len() && nodes.len() < MAX_NODES {
        let Node { value, pointer, depth } = &nodes[next];
        if *depth < MAX_DEPTH {
            let inner = inside(value, pointer, depth + 1);
            nodes.extend(inner);
        }
        next += 1;
    }
    nodes.truncate(MAX_NODES);
    nodes
}

/// The named parameters of an object schema.
pub(in crate::rules) fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn inside<'a>(schema: &'a Value, at: &str, depth: usize) -> Vec<Node<'a>> {
    let node = |value: &'a Value, pointer: String| Node { value, pointer, depth };
    let mut nodes = Vec::new();
    for keyword in ONE {
        if let Some(value @ (Value::Object(_) | Value::Bool(_))) = schema.get(keyword) {
            nodes.push(node(value, format!("{at}/{keyword}")));
        }
    }
    for keyword in SOME {
        for (index, value) in schema.get(keyword).and_then(Value::as_array).into_iter().flatten().enumerate()
        {
            nodes.push(node(value, format!("{at}/{keyword}/{index}")));
        }
    }
    for keyword in NAMED {
        for (name, value) in schema.get(keyword).and_then(Value::as_object).into_iter().flatten() {
            nodes.push(node(value, format!("{at}/{keyword}/{}", pointer::escape(name))));
        }
    }
    nodes
}
