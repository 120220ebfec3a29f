//! Reads the flat schema of a form as fields, in the notation of any revision.

use crate::{Number, Object, Raw};

/// One field of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub required: bool,
    pub default: Option<Raw>,
    pub kind: FieldKind,
}

/// The type and constraints of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    Text {
        format: Option<TextFormat>,
        min_length: Option<u64>,
        max_length: Option<u64>,
    },
    Number {
        minimum: Option<Number>,
        maximum: Option<Number>,
    },
    Integer {
        minimum: Option<Number>,
        maximum: Option<Number>,
    },
    Boolean,
    One {
        choices: Vec<Choice>,
    },
    Many {
        choices: Vec<Choice>,
        min_items: Option<u64>,
        max_items: Option<u64>,
    },
    /// A type that forms do not allow. An optional field of this kind can be left out.
    Unsupported {
        reason: &'static str,
    },
}

/// The format of a text field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextFormat {
    Email,
    Uri,
    Date,
    DateTime,
    Unknown(String),
}

/// One of several values, with its display title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    pub value: String,
    pub title: Option<String>,
}

/// The reason for which a schema is not a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadForm {
    #[error("the requested schema is not an object")]
    NotAnObject,
    #[error("`type` of the requested schema is not \"object\"")]
    NotOfObjects,
    #[error("`properties` of the requested schema is not an object")]
    NoProperties,
    #[error("`required` of the requested schema is not a list of names")]
    BadRequired,
}

/// Reads `requestedSchema`.
pub fn read_form(schema: &Raw) -> Result<Vec<Field>, BadForm> {
    let schema = schema.object().ok_or(BadForm::NotAnObject)?;
    if text(&schema, "type").is_some_and(|kind| kind != "object") {
        return Err(BadForm::NotOfObjects);
    }
    let properties = schema.get("properties").and_then(Raw::object).ok_or(BadForm::NoProperties)?;
    let required: Vec<String> = match schema.get("required") {
        Some(names) => names.decode().map_err(|_| BadForm::BadRequired)?,
        None => Vec::new(),
    };
    Ok(properties.iter().map(|(name, raw)| read_field(name, raw, &required)).collect())
}

fn read_field(name: &str, raw: &Raw, required: &[String]) -> Field {
    let schema = raw.object().unwrap_or_default();
    Field {
        name: name.to_owned(),
        title: text(&schema, "title"),
        description: text(&schema, "description"),
        required: required.iter().any(|r| r == name),
        default: schema.get("default").cloned(),
        kind: read_kind(&schema),
    }
}

fn read_kind(schema: &Object) -> FieldKind {
    let minimum = || schema.get("minimum").and_then(Number::read);
    let maximum = || schema.get("maximum").and_then(Number::read);
    match (text(schema, "type").as_deref(), has_choices(schema)) {
        (Some("string") | None, true) => {
            choices(schema).map_or(NO_CHOICES, |choices| FieldKind::One { choices })
        }
        (Some("string"), false) => FieldKind::Text {
            format: text(schema, "format").map(|format| TextFormat::from(format.as_str())),
            min_length: count(schema, "minLength"),
            max_length: count(schema, "maxLength"),
        },
        (Some("number"), _) => FieldKind::Number { minimum: minimum(), maximum: maximum() },
        (Some("integer"), _) => FieldKind::Integer { minimum: minimum(), maximum: maximum() },
        (Some("boolean"), _) => FieldKind::Boolean,
        (Some("array"), _) => {
            let items = schema.get("items").and_then(Raw::object);
            items.as_ref().and_then(choices).map_or(NO_CHOICES, |choices| FieldKind::Many {
                choices,
                min_items: count(schema, "minItems"),
                max_items: count(schema, "maxItems"),
            })
        }
        (Some(_), _) => FieldKind::Unsupported { reason: "forms do not allow fields of this type" },
        (None, false) => FieldKind::Unsupported { reason: "the field has no type" },
    }
}

const NO_CHOICES: FieldKind = FieldKind::Unsupported { reason: "the choices are not a list of strings" };

fn has_choices(schema: &Object) -> bool {
    ["enum", "oneOf", "anyOf"].iter().any(|keyword| schema.get(keyword).is_some())
}

/// Reads `enum` (with the `enumNames` of 2025-06-18 if their number matches) or `oneOf`/`anyOf` of
/// titled constants.
fn choices(schema: &Object) -> Option<Vec<Choice>> {
    if let Some(values) = schema.get("enum") {
        let values: Vec<String> = values.decode().ok()?;
        let names: Vec<String> = schema.get("enumNames").and_then(|n| n.decode().ok()).unwrap_or_default();
        let mut names = if names.len() == values.len() { names } else { Vec::new() }.into_iter();
        return Some(values.into_iter().map(|value| Choice { value, title: names.next() }).collect());
    }
    let options: Vec<Raw> = schema.get("oneOf").or(schema.get("anyOf"))?.decode().ok()?;
    let read = |option: &Raw| {
        let option = option.object()?;
        Some(Choice { value: text(&option, "const")?, title: text(&option, "title") })
    };
    options.iter().map(read).collect()
}

fn text(schema: &Object, name: &str) -> Option<String> {
    schema.get(name)?.decode().ok()
}

fn count(schema: &Object, name: &str) -> Option<u64> {
    Number::read(schema.get(name)?)?.as_u64()
}

impl From<&str> for TextFormat {
    fn from(text: &str) -> Self {
        match text {
            "email" => Self::Email,
            "uri" => Self::Uri,
            "date" => Self::Date,
            "date-time" => Self::DateTime,
            _ => Self::Unknown(text.to_owned()),
        }
    }
}
