//! Plain: the simple schemas that most tools have, which can be checked against the text of a
//! value.
//!
//! A plain schema can only prove that a value fits. Everything that it does not support, in the
//! schema or in the value, is left to the engine, which also reports the errors.

use serde_json::{Map, Value};

/// Drafts in which every keyword supported here has the same meaning.
const KNOWN_DRAFTS: [&str; 4] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
];

/// Every integer up to this one is exact as `f64`.
const MAX_WHOLE: u64 = 1 << 53;
const MAX_BOUND: f64 = 9_007_199_254_740_992.0;

/// Maximum number of properties of a plain object and of choices of a plain string. They are
/// searched linearly, and each required property has a bit.
const MAX_NAMES: usize = 64;

/// The accepted values by JSON type, since most keywords apply to one type. A type that is false
/// or `None` is rejected.
#[derive(Debug, Clone, Default)]
pub(super) struct Plain {
    pub(super) null: bool,
    pub(super) boolean: bool,
    pub(super) number: Option<Number>,
    pub(super) text: Option<Text>,
    pub(super) list: Option<List>,
    pub(super) object: Option<Fields>,
}

/// Bounds, all of which must hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    least: f64,
    most: f64,
    above: f64,
    below: f64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Number {
    pub(super) range: Range,
    /// True if only integers are accepted.
    pub(super) whole: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    /// The allowed number of characters.
    pub(super) length: Range,
    pub(super) choices: Option<Vec<Box<str>>>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct List {
    pub(super) length: Range,
    /// `None` if every item is accepted.
    pub(super) items: Option<Box<Plain>>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    pub(super) named: Vec<Field>,
    pub(super) others: Others,
    /// The bits of all required members.
    pub(super) required: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    pub(super) value: Plain,
    /// Its bit in `required`; 0 if it is optional.
    pub(super) bit: u64,
}

/// The rule for members that `properties` does not name.
#[derive(Debug, Clone, Default)]
pub(super) enum Others {
    #[default]
    Allowed,
    Forbidden,
    Fitting(Box<Plain>),
}

impl Plain {
    /// `None` if the schema uses unsupported keywords or is invalid.
    pub(super) fn new(schema: &Value) -> Option<Self> {
        let Some(draft) = schema.get("$schema") else { return Self::part(schema) };
        let mut schema = schema.clone();
        let known = KNOWN_DRAFTS.iter().any(|known| draft == known);
        // Only at the root: in a subschema, `$schema` would change the meaning of the keywords
        // next to it.
        schema.as_object_mut().filter(|_| known)?.remove("$schema");
        Self::part(&schema)
    }

    fn part(schema: &Value) -> Option<Self> {
        let schema = match schema {
            Value::Bool(true) => return Some(Self::anything()),
            schema => schema.as_object()?,
        };
        let mut plain = match (schema.get("type"), schema.get("anyOf")) {
            (None, None) => Self::anything(),
            (Some(kinds), None) => Self::of_kinds(kinds)?,
            // Other keywords next to `anyOf` would narrow each choice, which is not supported.
            (_, Some(choices)) => {
                let others = schema.iter().filter(|(keyword, _)| *keyword != "anyOf");
                let alone = others.into_iter().all(|(keyword, value)| is_annotation(keyword, value));
                return Self::any_of(choices).filter(|_| alone);
            }
        };
        for (keyword, value) in schema {
            plain.narrow(keyword, value)?;
        }
        plain.require(schema)?;
        Some(plain)
    }

    fn anything() -> Self {
        Self {
            null: true,
            boolean: true,
            number: Some(Number::default()),
            text: Some(Text::default()),
            list: Some(List::default()),
            object: Some(Fields::default()),
        }
    }

    /// The types in `type`: one, or several different ones.
    fn of_kinds(kinds: &Value) -> Option<Self> {
        let one = std::slice::from_ref(kinds);
        let mut plain = Self::default();
        for kind in kinds.as_array().map_or(one, Vec::as_slice) {
            plain = plain.joined(Self::of_kind(kind.as_str()?)?)?;
        }
        (!kinds.as_array().is_some_and(Vec::is_empty)).then_some(plain)
    }

    fn of_kind(kind: &str) -> Option<Self> {
        let none = Self::default();
        Some(match kind {
            "null" => Self { null: true, ..none },
            "boolean" => Self { boolean: true, ..none },
            "number" => Self { number: Some(Number::default()), ..none },
            "integer" => Self { number: Some(Number { whole: true, ..Number::default() }), ..none },
            "string" => Self { text: Some(Text::default()), ..none },
            "array" => Self { list: Some(List::default()), ..none },
            "object" => Self { object: Some(Fields::default()), ..none },
            _ => return None,
        })
    }

    /// Choices that all have different types, as in "string or null".
    fn any_of(choices: &Value) -> Option<Self> {
        let choices = choices.as_array().filter(|choices| !choices.is_empty())?;
        choices.iter().try_fold(Self::default(), |plain, choice| plain.joined(Self::part(choice)?))
    }

    fn joined(self, other: Self) -> Option<Self> {
        let clash = (self.null && other.null)
            || (self.boolean && other.boolean)
            || (self.number.is_some() && other.number.is_some())
            || (self.text.is_some() && other.text.is_some())
            || (self.list.is_some() && other.list.is_some())
            || (self.object.is_some() && other.object.is_some());
        (!clash).then(|| Self {
            null: self.null || other.null,
            boolean: self.boolean || other.boolean,
            number: self.number.or(other.number),
            text: self.text.or(other.text),
            list: self.list.or(other.list),
            object: self.object.or(other.object),
        })
    }

    /// Applies one keyword; `None` if it is not supported or applies to a type that is rejected
    /// anyway.
    fn narrow(&mut self, keyword: &str, value: &Value) -> Option<()> {
        match keyword {
            "type" | "required" => {}
            "minimum" => self.number.as_mut()?.range.least = bound(value)?,
            "maximum" => self.number.as_mut()?.range.most = bound(value)?,
            "exclusiveMinimum" => self.number.as_mut()?.range.above = bound(value)?,
            "exclusiveMaximum" => self.number.as_mut()?.range.below = bound(value)?,
            "minLength" => self.text.as_mut()?.length.least = count(value)?,
            "maxLength" => self.text.as_mut()?.length.most = count(value)?,
            "minItems" => self.list.as_mut()?.length.least = count(value)?,
            "maxItems" => self.list.as_mut()?.length.most = count(value)?,
            "items" => self.list.as_mut()?.items = Some(Box::new(Self::part(value)?)),
            "enum" => self.choose(value.as_array()?)?,
            "const" => self.choose(std::slice::from_ref(value))?,
            "properties" => self.object.as_mut()?.named = fields(value.as_object()?)?,
            "additionalProperties" => self.object.as_mut()?.others = others(value)?,
            _ => return is_annotation(keyword, value).then_some(()),
        }
        Some(())
    }

    /// Restricts the values to these strings, and null if it is among them.
    fn choose(&mut self, choices: &[Value]) -> Option<()> {
        let text = self.text.take().filter(|text| text.choices.is_none() && choices.len() <= MAX_NAMES)?;
        let texts = choices.iter().filter(|choice| !choice.is_null());
        let texts: Option<Vec<Box<str>>> = texts.map(|choice| choice.as_str().map(Box::from)).collect();
        let null = self.null && choices.iter().any(Value::is_null);
        *self = Self { null, text: Some(Text { choices: Some(texts?), ..text }), ..Self::default() };
        Some(())
    }

    /// Marks the required members; `None`, for the engine, if `properties` does not name one of
    /// them.
    fn require(&mut self, schema: &Map<String, Value>) -> Option<()> {
        let Some(required) = schema.get("required") else { return Some(()) };
        let required = required.as_array().filter(|names| names.len() <= MAX_NAMES)?;
        let object = self.object.as_mut()?;
        for (place, name) in required.iter().enumerate() {
            let field = object.named.iter_mut().find(|field| name == field.name.as_ref())?;
            if field.bit != 0 {
                return None;
            }
            field.bit = 1 << place;
            object.required |= field.bit;
        }
        Some(())
    }
}

impl Number {
    /// True if an integer certainly fits.
    pub(super) fn holds_whole(&self, magnitude: u64, sign: f64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "numbers that would lose digits are rejected below")]
        let value = magnitude as f64;
        magnitude <= MAX_WHOLE && self.range.holds(sign * value)
    }
}

impl Range {
    pub(super) fn holds(&self, value: f64) -> bool {
        value >= self.least && value <= self.most && value > self.above && value < self.below
    }

    /// True if the count is within the bounds. It is computed only if there are bounds.
    pub(super) fn holds_count(&self, count: impl FnOnce() -> usize) -> bool {
        let open = self.least <= 0.0 && self.most == f64::INFINITY;
        open || u32::try_from(count()).is_ok_and(|count| self.holds(count.into()))
    }
}

impl Default for Range {
    fn default() -> Self {
        let (none, all) = (f64::NEG_INFINITY, f64::INFINITY);
        Self { least: none, most: all, above: none, below: all }
    }
}

/// True if a keyword does not affect validation and its value is valid.
fn is_annotation(keyword: &str, value: &Value) -> bool {
    match keyword {
        "title" | "description" | "$comment" | "format" => value.is_string(),
        "default" => true,
        "examples" => value.is_array(),
        "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        "uniqueItems" => value == &Value::Bool(false),
        _ => false,
    }
}

fn fields(properties: &Map<String, Value>) -> Option<Vec<Field>> {
    let field = |(name, value): (&String, &Value)| {
        Some(Field { name: name.as_str().into(), value: Plain::part(value)?, bit: 0 })
    };
    if properties.len() > MAX_NAMES {
        return None;
    }
    properties.iter().map(field).collect()
}

fn others(schema: &Value) -> Option<Others> {
    Some(match schema {
        Value::Bool(true) => Others::Allowed,
        Value::Bool(false) => Others::Forbidden,
        schema => Others::Fitting(Box::new(Plain::part(schema)?)),
    })
}

/// A bound for numbers, if it is exact as `f64`.
fn bound(value: &Value) -> Option<f64> {
    value.as_f64().filter(|bound| bound.abs() <= MAX_BOUND)
}

/// A bound for lengths.
fn count(value: &Value) -> Option<f64> {
    bound(value).filter(|_| value.is_u64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_that_says_more_is_not_plain() {
        for more in [
            json!({"minProperties": 1}),
            json!({"type": "string", "pattern": "x"}),
            json!({"type": "integer", "minimum": 1e300}),
            json!({"type": "string", "minimum": 1}),
            json!({"type": ["string", "string"]}),
            json!({"type": []}),
            json!({"type": "text"}),
            json!({"anyOf": []}),
            json!({"anyOf": [{"type": "string"}, {"type": "string", "maxLength": 2}]}),
            json!({"type": "string", "anyOf": [{"type": "string"}]}),
            json!({"anyOf": [{"type": "integer", "minimum": 10}, {"type": "null"}], "minimum": 0}),
            json!({"anyOf": [{"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]}], "required": ["b"]}),
            json!({"anyOf": [{"type": "object", "properties": {"a": {}}}], "additionalProperties": false}),
            json!({"properties": {"a": {"$schema": KNOWN_DRAFTS[2], "type": "string", "format": "email"}}}),
            json!({"$schema": 1, "type": "string"}),
            json!({"enum": [1, 2]}),
            json!({"enum": ["a"], "const": "b"}),
            json!({"items": [{"type": "string"}]}),
            json!({"uniqueItems": true}),
            json!({"required": ["a"]}),
            json!({"required": ["a", "a"], "properties": {"a": {}}}),
            json!({"required": "a", "properties": {"a": {}}}),
            json!({"properties": {"a": false}}),
            json!({"properties": []}),
            json!({"title": 1}),
            json!({"$schema": "http://json-schema.org/draft-04/schema#"}),
            json!({"$ref": "#/$defs/a"}),
            json!({"maxLength": -1}),
            json!({"maxLength": 1.5}),
            json!(false),
            json!([]),
        ] {
            assert!(Plain::new(&more).is_none(), "{more}");
        }
    }
}
