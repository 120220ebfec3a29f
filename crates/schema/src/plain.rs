//! Plain: the simple schemas that most tools have, held against the text of a value.
//!
//! A plain schema only ever says that a value fits. Whatever it does not understand, in the schema or in the value, is left to the
//! engine, which also says what is wrong.

use serde_json::{Map, Value};

/// Drafts in which every keyword that is read here means the same.
const KNOWN_DRAFTS: [&str; 4] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-07/schema",
];

/// Up to here every whole number is itself as a floating one.
const MAX_WHOLE: u64 = 1 << 53;
const MAX_BOUND: f64 = 9_007_199_254_740_992.0;

/// Most properties of a plain object, and most choices of a plain text. They are searched one by one, and those that must be there
/// have a bit each.
const MAX_NAMES: usize = 64;

/// What fits, kind by kind: keywords of JSON Schema speak of one kind of value each. A kind that is absent does not fit.
#[derive(Debug, Clone, Default)]
pub(super) struct Plain {
    pub(super) null: bool,
    pub(super) truth: bool,
    pub(super) number: Option<Number>,
    pub(super) text: Option<Text>,
    pub(super) list: Option<List>,
    pub(super) object: Option<Fields>,
}

/// Bounds, all of which hold.
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
    /// Only whole numbers.
    pub(super) whole: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    /// How many characters.
    pub(super) length: Range,
    pub(super) choices: Option<Vec<Box<str>>>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct List {
    pub(super) length: Range,
    /// Absent when everything may stand in it.
    pub(super) items: Option<Box<Plain>>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    pub(super) named: Vec<Field>,
    pub(super) others: Others,
    /// The bits of all members that must be there.
    pub(super) required: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) name: Box<str>,
    pub(super) value: Plain,
    /// Its bit among those that must be there; none when it may be left out.
    pub(super) bit: u64,
}

/// What becomes of members that no property names.
#[derive(Debug, Clone, Default)]
pub(super) enum Others {
    #[default]
    Allowed,
    Forbidden,
    Fitting(Box<Plain>),
}

impl Plain {
    /// `None` when the schema says more than this can check, or is not one.
    pub(super) fn new(schema: &Value) -> Option<Self> {
        let Some(draft) = schema.get("$schema") else { return Self::part(schema) };
        let mut schema = schema.clone();
        let known = KNOWN_DRAFTS.iter().any(|known| draft == known);
        // Only here: in a part of a schema it would change what the keywords beside it say.
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
            // What stands beside choices narrows each of them.
            (_, Some(choices)) => {
                let others = schema.iter().filter(|(keyword, _)| *keyword != "anyOf");
                let alone = others.into_iter().all(|(keyword, value)| is_silent(keyword, value));
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
            truth: true,
            number: Some(Number::default()),
            text: Some(Text::default()),
            list: Some(List::default()),
            object: Some(Fields::default()),
        }
    }

    /// The kinds that `type` names: one, or several different ones.
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
            "boolean" => Self { truth: true, ..none },
            "number" => Self { number: Some(Number::default()), ..none },
            "integer" => Self { number: Some(Number { whole: true, ..Number::default() }), ..none },
            "string" => Self { text: Some(Text::default()), ..none },
            "array" => Self { list: Some(List::default()), ..none },
            "object" => Self { object: Some(Fields::default()), ..none },
            _ => return None,
        })
    }

    /// Choices of which no two speak of the same kind: that is how "or null" is written.
    fn any_of(choices: &Value) -> Option<Self> {
        let choices = choices.as_array().filter(|choices| !choices.is_empty())?;
        choices.iter().try_fold(Self::default(), |plain, choice| plain.joined(Self::part(choice)?))
    }

    fn joined(self, other: Self) -> Option<Self> {
        let clash = (self.null && other.null)
            || (self.truth && other.truth)
            || (self.number.is_some() && other.number.is_some())
            || (self.text.is_some() && other.text.is_some())
            || (self.list.is_some() && other.list.is_some())
            || (self.object.is_some() && other.object.is_some());
        (!clash).then(|| Self {
            null: self.null || other.null,
            truth: self.truth || other.truth,
            number: self.number.or(other.number),
            text: self.text.or(other.text),
            list: self.list.or(other.list),
            object: self.object.or(other.object),
        })
    }

    /// Takes in what one keyword says; `None` when that is not understood, or speaks of a kind that does not fit anyway.
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
            _ => return is_silent(keyword, value).then_some(()),
        }
        Some(())
    }

    /// Leaves only these texts, and null if it is among them.
    fn choose(&mut self, choices: &[Value]) -> Option<()> {
        let text = self.text.take().filter(|text| text.choices.is_none() && choices.len() <= MAX_NAMES)?;
        let texts = choices.iter().filter(|choice| !choice.is_null());
        let texts: Option<Vec<Box<str>>> = texts.map(|choice| choice.as_str().map(Box::from)).collect();
        let null = self.null && choices.iter().any(Value::is_null);
        *self = Self { null, text: Some(Text { choices: Some(texts?), ..text }), ..Self::default() };
        Some(())
    }

    /// Marks the members that must be there. One that no property names is left to the engine.
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
    /// Whether a whole number is sure to fit.
    pub(super) fn holds_whole(&self, magnitude: u64, sign: f64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "a number that would lose digits is not judged")]
        let value = magnitude as f64;
        magnitude <= MAX_WHOLE && self.range.holds(sign * value)
    }
}

impl Range {
    pub(super) fn holds(&self, value: f64) -> bool {
        value >= self.least && value <= self.most && value > self.above && value < self.below
    }

    /// Whether so many are right; they are counted only where that matters.
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

/// Whether a keyword is one that says nothing about which values fit, and is used as it should be.
fn is_silent(keyword: &str, value: &Value) -> bool {
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

/// A bound of numbers that is exact.
fn bound(value: &Value) -> Option<f64> {
    value.as_f64().filter(|bound| bound.abs() <= MAX_BOUND)
}

/// A bound of lengths.
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
