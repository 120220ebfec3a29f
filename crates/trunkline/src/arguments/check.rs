//! Validates arguments against the tool's schema before they are sent.

use super::suggest;
use serde_json::Value;
use trunkline_protocol::{Object, Raw};
use trunkline_schema::{Budget, Schema, ValidationError, ValidationErrorKind};

/// Maximum number of faults listed; the rest is only counted.
const MAX_FAULTS: usize = 10;
/// Maximum number of characters shown of a value.
const MAX_SHOWN: usize = 60;

/// Result of the validation.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Reasons not to send the call.
    pub(crate) faults: Vec<String>,
    /// Warnings about a call that is sent anyway.
    pub(crate) warnings: Vec<String>,
}

/// Validates by JSON Schema 2020-12, or by the draft that the schema names. Nothing is fetched.
/// The server validates the arguments anyway, so a check that would be too expensive is skipped
/// with a warning.
pub(crate) fn check(schema: &Raw, arguments: &Object) -> Findings {
    let mut findings = Findings::default();
    let (Ok(schema), Ok(value)) = (schema.decode::<Value>(), arguments.to_raw().decode::<Value>()) else {
        return findings;
    };
    unknown_names(&schema, &value, &mut findings);
    match Schema::of_its_draft(&schema) {
        Ok(compiled) => match compiled.errors(&value, Budget::FULL) {
            Ok(errors) => validity(&errors, &schema, &mut findings.faults),
            Err(expensive) => findings
                .warnings
                .push(format!("the arguments are not checked against the tool's schema: {expensive}")),
        },
        Err(error) if error.is_expensive() => {
            findings.warnings.push(format!("the arguments are not checked: {error}"));
        }
        Err(error) => findings
            .warnings
            .push(format!("the tool's schema is broken, so the arguments are not checked: {error}")),
    }
    findings
}

/// Reports names that the schema does not have. A name similar to a known one is an error (a
/// typo); any other is only a warning.
fn unknown_names(schema: &Value, value: &Value, findings: &mut Findings) {
    let Some(properties) = schema["properties"].as_object() else { return };
    let open = schema.get("patternProperties").is_some()
        || schema.get("additionalProperties").is_some_and(|rule| rule != &Value::Bool(false))
        || ["allOf", "anyOf", "oneOf", "if", "$ref"].iter().any(|keyword| schema.get(keyword).is_some());
    let closed = schema["additionalProperties"] == Value::Bool(false);
    for (name, _) in value.as_object().into_iter().flatten() {
        if properties.contains_key(name) || open {
            continue;
        }
        let free = properties.keys().filter(|known| value.get(known).is_none()).map(String::as_str);
        match suggest(name, free) {
            Some(known) => {
                findings.faults.push(format!("there is no argument `{name}`; did you mean `{known}`?"));
            }
            None if closed => {
                let known: Vec<String> = properties.keys().map(|known| format!("`{known}`")).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                findings.faults.push(format!("there is no argument `{name}`; the tool takes {known}"));
            }
            None => findings.warnings.push(format!("the tool's schema does not know the argument `{name}`")),
        }
    }
}

fn validity(errors: &[ValidationError<'_>], schema: &Value, faults: &mut Vec<String>) {
    let mut missing = Vec::new();
    let mut more = 0_usize;
    for error in errors {
        let path = dotted(error.instance_path().as_str());
        match error.kind() {
            ValidationErrorKind::Required { property } if path.is_empty() => {
                missing.push(described(property.as_str().unwrap_or_default(), schema));
            }
            // Already reported, with a suggestion.
            ValidationErrorKind::AdditionalProperties { .. } if path.is_empty() => {}
            _ if faults.len() >= MAX_FAULTS => more += 1,
            _ => faults.push(told(&path, error)),
        }
    }
    if !missing.is_empty() {
        faults.insert(0, format!("missing: {}", missing.join(", ")));
    }
    if more > 0 {
        faults.push(format!("and {more} more"));
    }
}

fn told(path: &str, error: &ValidationError<'_>) -> String {
    let given = shown(&error.instance().to_string());
    let reason = match error.kind() {
        ValidationErrorKind::Enum { options } => {
            let options: Vec<String> =
                options.as_array().into_iter().flatten().map(Value::to_string).collect();
            format!("must be one of {}", options.join(", "))
        }
        // The library's messages start with the value, which may be long.
        _ => error.masked_with("it").to_string(),
    };
    let place = if path.is_empty() { "the arguments".to_owned() } else { format!("`{path}`") };
    format!("{place}: {reason}; given was {given}")
}

/// A missing argument with its type, if the schema gives one.
fn described(name: &str, schema: &Value) -> String {
    match schema["properties"][name]["type"].as_str() {
        Some(kind) => format!("`{name}` ({kind})"),
        None => format!("`{name}`"),
    }
}

/// Turns `/a/0/b` into `a.0.b`.
fn dotted(pointer: &str) -> String {
    pointer.trim_start_matches('/').replace('/', ".").replace("~1", "/").replace("~0", "~")
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type":"object","required":["path","mode"],"properties":{
        "path":{"type":"string","minLength":1},"mode":{"enum":["r","w"]},"count":{"type":"integer","maximum":9},
        "list":{"type":"array","items":{"type":"object","required":["id"]}}}}"#;

    fn checked(schema: &str, arguments: &str) -> Findings {
        let arguments = Raw::parse(arguments.to_owned()).unwrap().object().unwrap();
        check(&Raw::parse(schema.to_owned()).unwrap(), &arguments)
    }

    #[test]
    fn good_arguments_pass_in_silence() {
        assert_eq!(checked(SCHEMA, r#"{"path":"a","mode":"r","count":3}"#), Findings::default());
    }

    #[test]
    fn field_reason_and_value_are_told() {
        let found = checked(SCHEMA, r#"{"path":"","mode":"x","count":10,"list":[{}]}"#);
        insta::assert_snapshot!(found.faults.join("\n"), @r#"
        `path`: it is shorter than 1 character; given was ""
        `mode`: must be one of "r", "w"; given was "x"
        `count`: it is greater than the maximum of 9; given was 10
        `list.0`: "id" is a required property; given was {}
        "#);
    }

    #[test]
    fn slips_are_suggested_and_missing_ones_listed() {
        let found = checked(SCHEMA, r#"{"pth":"a","zebra":1}"#);
        insta::assert_snapshot!(found.faults.join("\n"), @r"
        missing: `path` (string), `mode`
        there is no argument `pth`; did you mean `path`?
        ");
        assert_eq!(found.warnings, ["the tool's schema does not know the argument `zebra`"]);
    }

    #[test]
    fn a_closed_schema_refuses_unknown_names() {
        let closed = r#"{"properties":{"a":{}},"additionalProperties":false}"#;
        let found = checked(closed, r#"{"zebra":1}"#);
        assert_eq!(found.faults, ["there is no argument `zebra`; the tool takes `a`"]);
        assert_eq!(
            checked(r#"{"properties":{"a":{}},"additionalProperties":true}"#, r#"{"aa":1}"#),
            Findings::default()
        );
    }

    #[test]
    fn j13_a_schema_or_a_value_that_unfolds_is_a_warning() {
        let next = |level: usize| format!(r##"{{"$ref":"#/$defs/d{level}"}}"##);
        let union = |level: usize| format!(r#""d{level}":{{"anyOf":[{0},{0},{0},{0}]}}"#, next(level + 1));
        let definitions: Vec<String> = (0..12).map(union).collect();
        let schema = format!(
            r#"{{"properties":{{"a":{}}},"$defs":{{{},"d12":{{"type":"string"}}}}}}"#,
            next(0),
            definitions.join(",")
        );
        let found = checked(&schema, r#"{"a":1}"#);
        assert!(found.faults.is_empty(), "{found:?}");
        assert!(found.warnings[0].contains("too expensive"), "{found:?}");
        let twice = r##"{"properties":{"a":{"$ref":"#"}},"required":["b"]}"##;
        let value = format!("{}1{}", r#"{"a":"#.repeat(60), "}".repeat(60));
        let found = checked(&format!(r#"{{"anyOf":[{twice},{twice}]}}"#), &value);
        assert!(found.faults.is_empty() && found.warnings[0].contains("too many steps"), "{found:?}");
    }

    #[test]
    fn a_broken_schema_is_a_warning_and_nothing_is_fetched() {
        for schema in
            [r#"{"type":7}"#, r#"{"$ref":"http://127.0.0.1:9/x.json"}"#, r#"{"$ref":"file:///etc/passwd"}"#]
        {
            let found = checked(schema, r#"{"a":1}"#);
            assert!(found.faults.is_empty(), "{found:?}");
            assert!(found.warnings[0].starts_with("the tool's schema is broken"), "{found:?}");
        }
    }
}
