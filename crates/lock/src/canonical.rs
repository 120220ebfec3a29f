//! The canonical form of a definition, which its hash is made of.

use ring::digest::{SHA256, digest};
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// A member that models do not see and servers may change at any time.
const LEFT_OUT: &str = "_meta";

/// The definition without `_meta`, with the members of all objects in order of their names.
pub fn canonical(definition: &Value) -> Value {
    let mut sorted = sorted(definition);
    if let Value::Object(members) = &mut sorted {
        // `shift_remove` keeps the order of the others.
        members.shift_remove(LEFT_OUT);
    }
    sorted
}

/// The hash of a definition: `sha256:` and the digest of its canonical form.
pub fn hash(definition: &Value) -> String {
    let text = canonical(definition).to_string();
    let mut out = String::from("sha256:");
    for byte in digest(&SHA256, text.as_bytes()).as_ref() {
        write!(out, "{byte:02x}").expect("a String takes any text");
    }
    out
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let members = members.into_iter().map(|(name, value)| (name.clone(), sorted(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn order_and_meta_do_not_count_and_everything_else_does() {
        let one = json!({"name": "t", "inputSchema": {"type": "object", "required": ["a", "b"]}});
        let other: Value = serde_json::from_str(
            r#"{"_meta": {"x": 1}, "inputSchema": {"required": ["a", "b"], "type": "object"}, "name": "t"}"#,
        )
        .unwrap();
        assert_eq!(hash(&one), hash(&other));
        assert!(hash(&one).starts_with("sha256:") && hash(&one).len() == 71);
        let changed = json!({"name": "t", "inputSchema": {"type": "object", "required": ["b", "a"]}});
        assert_ne!(hash(&one), hash(&changed));
        let inner =
            json!({"name": "t", "inputSchema": {"type": "object", "_meta": 1, "required": ["a", "b"]}});
        assert_ne!(hash(&one), hash(&inner), "only the outer `_meta` is left out");
    }
}
