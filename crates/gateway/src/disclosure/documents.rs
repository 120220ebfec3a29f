//! The searchable texts of tools, taken from their definitions.

use crate::catalog::Route;
use serde_json::Value;
use trunkline_search::{Argument, Document, Index};

/// The member of `_meta` with tags, as several servers write them.
const TAGS: &str = "tags";

/// The index of a view's tools. A document's number is the tool's place among `routes`.
pub(crate) fn index_of(routes: &[Route]) -> Index {
    let definitions: Vec<Value> =
        routes.iter().map(|route| route.listing().decode().unwrap_or_default()).collect();
    let arguments: Vec<Vec<Argument<'_>>> =
        definitions.iter().map(|tool| arguments(&tool["inputSchema"])).collect();
    let tags: Vec<Vec<&str>> = definitions.iter().map(tags).collect();
    let parts = routes.iter().zip(&definitions).zip(arguments.iter().zip(&tags));
    Index::new(parts.map(|((route, tool), (arguments, tags))| Document {
        server: route.server().name().as_ref(),
        name: route.inner(),
        title: text(&tool["title"]),
        description: text(&tool["description"]),
        tags,
        arguments,
    }))
}

fn arguments(schema: &Value) -> Vec<Argument<'_>> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .map(|(name, argument)| Argument {
            name,
            description: text(&argument["description"]),
            values: argument["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
        })
        .collect()
}

fn tags(tool: &Value) -> Vec<&str> {
    let Some(meta) = tool["_meta"].as_object() else { return Vec::new() };
    let lists = meta.iter().filter_map(|(key, value)| match value {
        Value::Array(tags) if key.rsplit('/').next() == Some(TAGS) => Some(tags),
        Value::Object(own) => own.get(TAGS).and_then(Value::as_array),
        _ => None,
    });
    lists.flatten().filter_map(Value::as_str).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
