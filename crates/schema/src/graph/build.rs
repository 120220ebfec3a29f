//! Builds the graph of a schema.

use super::{
    Graph, Id, Node,
    resources::{Resource, Resources, resource_at},
};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// The reason for which the cost of a schema cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    #[error("its reference `{0}` has no unique target in the schema")]
    Reference(String),
    #[error("it uses `{0}`, whose target depends on the value")]
    Dynamic(&'static str),
    #[error("a subschema has both `$id` and `$ref`")]
    IdAndReference,
    #[error("a subschema of draft 4 has its own identifier")]
    OldIds,
}

/// Keywords whose schema, or each schema of their list or map, applies to the same value.
const SAME_VALUE: [&str; 10] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies", "extends"];
/// Keywords whose schemas apply to members, to items or to nothing. Each is handled separately.
const INSIDE: [&str; 15] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "prefixItems",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "contentSchema",
    "$defs",
    "definitions",
    "$ref",
    "$schema",
];
/// Keywords that do not affect validation. Errors do not copy them.
const ANNOTATIONS: [&str; 7] = ["title", "description", "$comment", "default", "examples", "$id", "$anchor"];
/// Keywords whose target depends on the path by which a value was reached.
const DYNAMIC: [&str; 2] = ["$dynamicRef", "$recursiveRef"];

struct Builder<'a> {
    resources: Resources<'a>,
    graph: Graph,
    ids: HashMap<*const Value, Id>,
    patterns: HashMap<&'a str, usize>,
    /// Subschemas that have an id but no node yet.
    pending: Vec<Pending<'a>>,
}

struct Pending<'a> {
    id: Id,
    schema: &'a Value,
    resource: Resource<'a>,
    /// Length of the JSON pointer to it.
    pointer: usize,
}

pub(super) fn graph(schema: &Value) -> Result<Graph, Unsupported> {
    let resources = Resources::new(schema)?;
    let from = resources.root();
    let graph = Graph { embedded: resources.embedded, ..Graph::default() };
    let (ids, patterns) = (HashMap::new(), HashMap::new());
    let mut builder = Builder { resources, graph, ids, patterns, pending: Vec::new() };
    builder.id_of(schema, from, 0);
    while let Some(pending) = builder.pending.pop() {
        let node = builder.node(&pending)?;
        builder.graph.nodes[pending.id] = node;
    }
    Ok(builder.graph)
}

impl<'a> Builder<'a> {
    fn id_of(&mut self, schema: &'a Value, within: Resource<'a>, pointer: usize) -> Id {
        let next = self.graph.nodes.len();
        let id = *self.ids.entry(std::ptr::from_ref(schema)).or_insert(next);
        if id == next {
            let resource = resource_at(schema).unwrap_or(within);
            self.graph.pointer_bytes += pointer;
            self.graph.nodes.push(Node::default());
            self.pending.push(Pending { id, schema, resource, pointer });
        }
        id
    }

    fn pattern(&mut self, pattern: &'a str) -> usize {
        let patterns = &mut self.graph.patterns;
        *self.patterns.entry(pattern).or_insert_with(|| {
            patterns.push(pattern.into());
            patterns.len() - 1
        })
    }

    fn node(&mut self, pending: &Pending<'a>) -> Result<Node, Unsupported> {
        let mut node = Node::default();
        let Some(keywords) = pending.schema.as_object() else { return Ok(node) };
        if let Some(dynamic) = DYNAMIC.into_iter().find(|keyword| keywords.contains_key(*keyword)) {
            return Err(Unsupported::Dynamic(dynamic));
        }
        if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
            if pending.id != 0 && resource_at(pending.schema).is_some() {
                return Err(Unsupported::IdAndReference);
            }
            let (target, resource) = self.resources.resolve(reference, pending.resource)?;
            // The engine skips a reference to the schema that contains it.
            if !std::ptr::eq(target, pending.schema) {
                node.same_value.push(self.id_of(target, resource, pending.pointer));
            }
        }
        for (keyword, value) in keywords {
            self.graph.pointer_bytes += pending.pointer + keyword.len() + 1;
            let keyword = keyword.as_str();
            if SAME_VALUE.contains(&keyword) {
                self.each(value, pending, keyword, &mut node.same_value);
                // The error of `not` copies its schema.
                node.copied += if keyword == "not" { size(value).1 } else { 0 };
            } else if !INSIDE.contains(&keyword) && !ANNOTATIONS.contains(&keyword) {
                let (values, bytes) = size(value);
                node.values += values;
                node.copied += bytes;
            }
        }
        self.members(&mut node, keywords, pending);
        self.items(&mut node, keywords, pending);
        self.definitions(keywords, pending);
        node.unique = keywords.get("uniqueItems") == Some(&Value::Bool(true));
        node.pattern = keywords.get("pattern").and_then(Value::as_str).map(|pattern| self.pattern(pattern));
        node.parses_text = ["format", "contentEncoding", "contentMediaType"]
            .iter()
            .any(|keyword| keywords.contains_key(*keyword));
        Ok(node)
    }

    /// Adds the schemas of a keyword: one, a list or a map of them.
    fn each(&mut self, value: &'a Value, pending: &Pending<'a>, keyword: &str, into: &mut Vec<Id>) {
        let pointer = pending.pointer + keyword.len() + 1;
        match value {
            Value::Array(schemas) => {
                into.extend(schemas.iter().map(|schema| self.id_of(schema, pending.resource, pointer + 3)));
            }
            Value::Object(schemas) if matches!(keyword, "dependentSchemas" | "dependencies") => {
                for (name, schema) in schemas {
                    into.push(self.id_of(schema, pending.resource, pointer + name.len() + 1));
                }
            }
            schema => into.push(self.id_of(schema, pending.resource, pointer)),
        }
    }

    fn members(&mut self, node: &mut Node, keywords: &'a Map<String, Value>, pending: &Pending<'a>) {
        for (name, schema) in maps(keywords, "properties") {
            let pointer = pending.pointer + "/properties/".len() + name.len();
            node.properties.insert(name.as_str().into(), self.id_of(schema, pending.resource, pointer));
        }
        for (pattern, schema) in maps(keywords, "patternProperties") {
            let pointer = pending.pointer + "/patternProperties/".len() + pattern.len();
            let id = self.id_of(schema, pending.resource, pointer);
            node.pattern_properties.push((self.pattern(pattern), id));
        }
        for keyword in ["additionalProperties", "unevaluatedProperties"] {
            if let Some(schema) = keywords.get(keyword) {
                self.each(schema, pending, keyword, &mut node.other_members);
            }
        }
        node.unevaluated =
            ["unevaluatedProperties", "unevaluatedItems"].iter().any(|it| keywords.contains_key(*it));
        let names = keywords.get("propertyNames");
        node.names = names
            .map(|schema| self.id_of(schema, pending.resource, pending.pointer + "/propertyNames".len()));
    }

    fn items(&mut self, node: &mut Node, keywords: &'a Map<String, Value>, pending: &Pending<'a>) {
        for keyword in ["prefixItems", "items", "additionalItems", "unevaluatedItems"] {
            let Some(value) = keywords.get(keyword) else { continue };
            let into = if value.is_array() { &mut node.first_items } else { &mut node.items };
            let mut found = std::mem::take(into);
            self.each(value, pending, keyword, &mut found);
            *(if value.is_array() { &mut node.first_items } else { &mut node.items }) = found;
        }
        let contains = keywords.get("contains");
        node.contains =
            contains.map(|schema| self.id_of(schema, pending.resource, pending.pointer + "/contains".len()));
    }

    /// Adds definitions. Unreferenced ones are not compiled, but the meta-schema validates them.
    fn definitions(&mut self, keywords: &'a Map<String, Value>, pending: &Pending<'a>) {
        for keyword in ["$defs", "definitions"] {
            for (name, schema) in maps(keywords, keyword) {
                self.id_of(schema, pending.resource, pending.pointer + keyword.len() + name.len() + 2);
            }
        }
    }
}

fn maps<'a>(
    keywords: &'a Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    keywords.get(keyword).and_then(Value::as_object).into_iter().flatten()
}

/// The number of JSON values, and of bytes of text in them.
fn size(value: &Value) -> (u64, u64) {
    let sum = |sizes: (u64, u64), more: (u64, u64)| (sizes.0 + more.0, sizes.1 + more.1);
    match value {
        Value::Object(members) => members
            .iter()
            .fold((1, 0), |sizes, (name, value)| sum(sum(sizes, (0, name.len() as u64)), size(value))),
        Value::Array(items) => items.iter().fold((1, 0), |sizes, item| sum(sizes, size(item))),
        Value::String(text) => (1, text.len() as u64),
        _ => (1, 0),
    }
}
