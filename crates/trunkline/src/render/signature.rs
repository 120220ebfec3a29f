//! Formats a tool's input schema on one line: `(path: string, depth?: integer)`.

use super::safe;
use serde_json::Value;
use trunkline_protocol::Raw;

/// Maximum number of enum values listed in a signature.
const MAX_CHOICES: usize = 5;
/// Maximum depth of arrays and references followed.
const MAX_DEPTH: usize = 4;
/// Maximum number of schemas visited for one signature; references can multiply them.
const MAX_SCHEMAS: usize = 1_000;

/// The arguments that a schema describes.
pub(super) fn of_schema(schema: &Raw) -> String {
    let schema: Value = schema.decode().unwrap_or_default();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let mut left = MAX_SCHEMAS;
    let arguments: Vec<String> = properties
        .map(|(name, property)| {
            let mark = if required.contains(&name.as_str()) { "" } else { "?" };
            let kind = kind(property, &schema, (0, &mut left));
            let colon = if kind.is_empty() { "" } else { ": " };
            safe::line(&format!("{name}{mark}{colon}{kind}"))
        })
        .collect();
    format!("({})", arguments.join(", "))
}

/// The type in a word or two; empty if the schema allows any type.
fn kind(schema: &Value, root: &Value, (depth, left): (usize, &mut usize)) -> String {
    if depth > MAX_DEPTH || *left == 0 {
        return "…".to_owned();
    }
    *left -= 1;
    if let Some(target) = schema["$ref"].as_str() {
        let found = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return found.map_or_else(String::new, |found| kind(found, root, (depth + 1, left)));
    }
    if let Some(values) = schema["enum"].as_array() {
        return choices(values);
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(branches) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let mut kinds: Vec<String> =
            branches.iter().map(|branch| kind(branch, root, (depth + 1, left))).collect();
        kinds.dedup();
        return kinds.join("|");
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => match kind(&schema["items"], root, (depth + 1, left)) {
            inner if inner.is_empty() => "array".to_owned(),
            inner if inner.contains('|') => format!("({inner})[]"),
            inner => format!("{inner}[]"),
        },
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
        _ => String::new(),
    }
}

fn choices(values: &[Value]) -> String {
    let mut words: Vec<String> = values.iter().take(MAX_CHOICES).map(Value::to_string).collect();
    if values.len() > MAX_CHOICES {
        words.push("…".to_owned());
    }
    words.join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_spelled_shortly() {
        let schema = r##"{"type":"object","required":["path"],"properties":{
            "path":{"type":"string"},"depth":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},
            "level":{"enum":["a","b"]},"maybe":{"anyOf":[{"type":"number"},{"type":"null"}]},
            "pair":{"type":["string","null"]},"who":{"$ref":"#/$defs/Who"},"any":{}},
            "$defs":{"Who":{"type":"object"}}}"##;
        let want = "(path: string, depth?: integer, tags?: string[], level?: \"a\"|\"b\", maybe?: number|null, \
                    pair?: string|null, who?: object, any?)";
        assert_eq!(of_schema(&Raw::parse(schema).unwrap()), want);
    }

    #[test]
    fn j13_references_do_not_unfold() {
        let next = |level: usize| format!(r##"{{"$ref":"#/$defs/d{level}"}}"##);
        let union =
            |level: usize| format!(r#""d{level}":{{"anyOf":[{}]}}"#, vec![next(level + 1); 200].join(","));
        let definitions: Vec<String> = (0..4).map(union).collect();
        let schema = format!(r#"{{"properties":{{"a":{}}},"$defs":{{{}}}}}"#, next(0), definitions.join(","));
        assert!(of_schema(&Raw::parse(schema).unwrap()).len() < 10_000);
    }

    #[test]
    fn odd_schemas_do_not_hurt() {
        for schema in ["{}", "true", r##"{"properties":{"a":{"$ref":"#/properties/a"}}}"##] {
            assert!(of_schema(&Raw::parse(schema).unwrap()).starts_with('('));
        }
    }
}
