//! Decides from the tool's schema which type a typed value has.
//!
//! If the schema allows a string, or gives no type, the value is a string; otherwise it is parsed
//! as JSON of an allowed type. An array takes one item per word, or a whole JSON array.

use super::BadArgument;
use serde_json::Value;
use trunkline_protocol::Raw;

/// Maximum depth of references and unions followed, so that a circular schema ends.
const MAX_DEPTH: usize = 16;
/// Maximum number of union branches visited; references can multiply them.
const MAX_BRANCHES: usize = 1_000;
/// The order in which types are listed.
const ORDER: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

pub(super) struct Kinds {
    root: Value,
}

impl Kinds {
    pub(super) fn new(schema: Option<&Raw>) -> Self {
        Self { root: schema.and_then(|raw| raw.decode().ok()).unwrap_or_default() }
    }

    /// Splits a name at its dots, unless the schema has a property with exactly this name.
    pub(super) fn path(&self, name: &str) -> Vec<String> {
        if self.root["properties"].get(name).is_some() || name.split('.').any(str::is_empty) {
            return vec![name.to_owned()];
        }
        name.split('.').map(str::to_owned).collect()
    }

    /// Returns the value as an array item, if the schema expects an array and the text is not one.
    pub(super) fn list_item(
        &self,
        path: &[String],
        name: &str,
        text: &str,
    ) -> Result<Option<Raw>, BadArgument> {
        let schema = self.at(path);
        let types = self.types(schema);
        if !types.contains(&"array") || types.contains(&"string") || text.trim_start().starts_with('[') {
            return Ok(None);
        }
        if types.contains(&"null") && text == "null" {
            return Ok(None);
        }
        let items = self.resolve(schema, 0).map_or(&Value::Null, |schema| &schema["items"]);
        typed(&self.types(items), name, text).map(Some)
    }

    pub(super) fn convert(&self, path: &[String], name: &str, text: &str) -> Result<Raw, BadArgument> {
        typed(&self.types(self.at(path)), name, text)
    }

    fn at(&self, path: &[String]) -> &Value {
        path.iter().fold(&self.root, |schema, name| {
            self.resolve(schema, 0).map_or(&Value::Null, |schema| &schema["properties"][name.as_str()])
        })
    }

    /// Follows references within the schema.
    fn resolve<'a>(&'a self, schema: &'a Value, depth: usize) -> Option<&'a Value> {
        match schema["$ref"].as_str() {
            Some(_) if depth > MAX_DEPTH => None,
            Some(target) => self.resolve(self.root.pointer(target.strip_prefix('#')?)?, depth + 1),
            None => Some(schema),
        }
    }

    /// The types that a schema allows, in a fixed order; empty if it does not restrict them.
    fn types(&self, schema: &Value) -> Vec<&'static str> {
        let (mut found, mut left) = (Vec::new(), MAX_BRANCHES);
        self.collect(schema, &mut found, (0, &mut left));
        ORDER.into_iter().filter(|name| found.iter().any(|known| known == name)).collect()
    }

    fn collect(&self, schema: &Value, found: &mut Vec<String>, (depth, left): (usize, &mut usize)) {
        let Some(schema) = self.resolve(schema, 0).filter(|_| depth <= MAX_DEPTH && *left > 0) else {
            return;
        };
        *left -= 1;
        match &schema["type"] {
            Value::String(name) => found.push(name.clone()),
            Value::Array(names) => found.extend(names.iter().filter_map(Value::as_str).map(str::to_owned)),
            _ => {}
        }
        if !found.is_empty() {
            return;
        }
        let constants = schema["enum"].as_array().into_iter().flatten().chain(schema.get("const"));
        found.extend(constants.map(|value| type_of(value).to_owned()));
        for branch in ["anyOf", "oneOf"].iter().filter_map(|union| schema[*union].as_array()).flatten() {
            let mut inner = Vec::new();
            self.collect(branch, &mut inner, (depth + 1, &mut *left));
            found.append(&mut inner);
        }
    }
}

fn typed(types: &[&str], name: &str, text: &str) -> Result<Raw, BadArgument> {
    if types.is_empty() || types.contains(&"string") {
        return Ok(Raw::string(text));
    }
    let raw = Raw::parse(text.to_owned()).ok().filter(|raw| types.iter().any(|kind| is_of(raw, kind)));
    raw.ok_or_else(|| BadArgument::NotOfKind {
        name: name.to_owned(),
        wanted: types.iter().map(|kind| with_article(kind)).collect::<Vec<_>>().join(" or "),
        value: text.to_owned(),
    })
}

fn is_of(raw: &Raw, kind: &str) -> bool {
    let text = raw.as_str();
    let is_number = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    match kind {
        "integer" => is_number && !text.contains(['.', 'e', 'E']),
        "number" => is_number,
        "boolean" => matches!(text, "true" | "false"),
        "array" => text.starts_with('['),
        "object" => raw.is_object(),
        "null" => raw.is_null(),
        _ => false,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "boolean" => "true or false".to_owned(),
        "integer" | "array" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}
