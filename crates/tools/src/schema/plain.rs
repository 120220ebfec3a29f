//! Plain: the simple schema most tools have, checked on the text itself.
//!
//! It only ever says that a value fits. Whatever it does not understand, in the schema or in the value, is left to the
//! validator, which also says what is wrong.

use serde_json::{Map, Value};
use trunkline_protocol::Raw;

/// Keywords that say nothing about which values fit.
const SILENT: [&str; 9] =
    ["title", "description", "default", "examples", "$schema", "$id", "$comment", "deprecated", "readOnly"];

/// An object whose members are texts, numbers and truth values.
#[derive(Debug)]
pub(super) struct Plain {
    properties: Vec<Property>,
    others: Others,
}

#[derive(Debug)]
struct Property {
    name: String,
    kind: Kind,
    required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Integer,
    /// An integer that is not negative.
    Natural,
    Truth,
}

/// What becomes of members that no property names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    Allowed,
    Forbidden,
}

impl Plain {
    /// `None` when the schema says more than this can check.
    pub(super) fn new(schema: &Value) -> Option<Self> {
        let schema = schema.as_object()?;
        let said = ["type", "properties", "required", "additionalProperties"];
        if schema.get("type")? != "object" || !only(schema, &said) {
            return None;
        }
        let others = match schema.get("additionalProperties") {
            None | Some(Value::Bool(true)) => Others::Allowed,
            Some(Value::Bool(false)) => Others::Forbidden,
            Some(_) => return None,
        };
        let mut properties = Vec::new();
        for (name, property) in schema.get("properties").map_or(Some(&Map::new()), Value::as_object)? {
            properties.push(Property { name: name.clone(), kind: Kind::of(property)?, required: false });
        }
        for name in schema.get("required").map_or(Some(&Vec::new()), Value::as_array)? {
            properties.iter_mut().find(|property| name == &property.name)?.required = true;
        }
        Some(Self { properties, others })
    }

    pub(super) fn fits(&self, value: &Raw) -> bool {
        let Some(members) = value.object() else { return false };
        let required = self.properties.iter().filter(|property| property.required);
        let mut found = 0;
        for (name, value) in members.iter() {
            match self.properties.iter().find(|property| property.name == name) {
                Some(property) if !property.kind.fits(value) => return false,
                Some(property) => found += usize::from(property.required),
                None if self.others == Others::Forbidden => return false,
                None => {}
            }
        }
        found == required.count()
    }
}

impl Kind {
    fn of(schema: &Value) -> Option<Self> {
        let schema = schema.as_object()?;
        let natural =
            schema.get("type")? == "integer" && schema.get("minimum").is_some_and(|least| least == 0);
        if natural && only(schema, &["type", "minimum"]) {
            return Some(Self::Natural);
        }
        if !only(schema, &["type"]) {
            return None;
        }
        match schema.get("type")?.as_str()? {
            "string" => Some(Self::Text),
            "number" => Some(Self::Number),
            "integer" => Some(Self::Integer),
            "boolean" => Some(Self::Truth),
            _ => None,
        }
    }

    fn fits(self, value: &Raw) -> bool {
        let text = value.as_bytes();
        match (self, text.first()) {
            // An escape may stand for half a character, which no text can hold.
            (Self::Text, Some(b'"')) => !text.contains(&b'\\') || value.text().is_some(),
            (Self::Number, Some(b'-' | b'0'..=b'9')) => {
                text.len() <= MAX_DIGITS && text[1..].iter().all(|b| b.is_ascii_digit() || *b == b'.')
            }
            (Self::Integer, Some(b'-' | b'0'..=b'9')) | (Self::Natural, Some(b'0'..=b'9')) => {
                text.len() <= MAX_DIGITS && text[1..].iter().all(u8::is_ascii_digit)
            }
            (Self::Truth, Some(b't' | b'f')) => true,
            _ => false,
        }
    }
}

/// A number of so many digits is within every range; longer ones are for the validator.
const MAX_DIGITS: usize = 15;

fn only(schema: &Map<String, Value>, said: &[&str]) -> bool {
    schema.keys().all(|keyword| said.contains(&keyword.as_str()) || SILENT.contains(&keyword.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use trunkline_schema::Schema;

    fn fits(plain: &Plain, text: &str) -> bool {
        plain.fits(&Raw::parse(text.to_owned()).unwrap())
    }

    #[test]
    fn what_fits_at_a_first_look_fits() {
        let schema = json!({
            "type": "object", "title": "t", "required": ["text"], "additionalProperties": false,
            "properties": {"text": {"type": "string", "description": "d"}, "n": {"type": "integer"}, "on": {"type": "boolean"},
                "of": {"type": "integer", "minimum": 0, "description": "d"}, "x": {"type": "number"}},
        });
        let plain = Plain::new(&schema).unwrap();
        let validator = Schema::of_stranger(&schema).unwrap();
        let good = [
            r#"{"text":"a"}"#,
            r#"{"n":-7,"text":"\u00e4","on":false}"#,
            r#"{"text":"","of":12,"x":-1.5}"#,
            r#"{ "text" : "\ud83d\ude00" , "n" : 0 }"#,
        ];
        for good in good {
            assert!(fits(&plain, good) && validator.accepts(&serde_json::from_str(good).unwrap()), "{good}");
        }
        let left_to_the_validator = [
            "{}",
            r#"{"text":1}"#,
            r#"{"text":null}"#,
            r#"{"text":"a","n":1.0}"#,
            r#"{"text":"a","n":12345678901234567890}"#,
            r#"{"text":"a","of":-1}"#,
            r#"{"text":"a","x":1e400}"#,
            r#"{"text":"a","on":"true"}"#,
            r#"{"text":"a","other":1}"#,
            r#"{"text":"\ud800"}"#,
            "[]",
        ];
        for other in left_to_the_validator {
            assert!(!fits(&plain, other), "{other}");
        }
    }

    #[test]
    fn members_that_no_property_names_are_free_unless_forbidden() {
        let plain = Plain::new(&json!({"type": "object"})).unwrap();
        assert!(fits(&plain, r#"{"anything":{"at":["all"]}}"#) && fits(&plain, "{}"));
    }

    #[test]
    fn a_schema_that_says_more_is_not_plain() {
        for more in [
            json!({"type": "object", "minProperties": 1}),
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}}),
            json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}}),
            json!({"type": "object", "properties": {"a": {"type": "number", "minimum": 0}}}),
            json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}),
            json!({"type": "object", "properties": {"a": {"type": "object"}}}),
            json!({"type": "object", "properties": {"a": true}}),
            json!({"type": "object", "required": ["a"]}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "$ref": "#/$defs/a"}),
        ] {
            assert!(Plain::new(&more).is_none(), "{more}");
        }
    }
}
