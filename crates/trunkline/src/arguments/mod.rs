//! Builds the JSON arguments of a tool from words: `key=value`, `key:=json`, a JSON
//! object, `@file`.
//!
//! Numbers keep the digits that were typed. A value is a string unless the tool's schema says
//! otherwise; see [`kinds`].

mod check;
mod given;
mod kinds;
mod suggest;

use kinds::Kinds;
use trunkline_protocol::{Object, Raw};

pub(crate) use check::check;
pub(crate) use given::{Given, Stdin, pair};
pub(crate) use suggest::suggest;

/// The words are not valid arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadArgument {
    #[error("`{0}` is not an argument; write `name=value`, `name:=json`, a JSON object or `@file`")]
    NoArgument(String),
    #[error("`{name}` is not valid JSON: {reason}")]
    NoJson { name: String, reason: String },
    #[error("`{name}` must be {wanted}, not `{value}`; `{name}:=…` takes any JSON")]
    NotOfKind { name: String, wanted: String, value: String },
    #[error("`{0}` is given twice")]
    Twice(String),
    #[error("`{whole}` would put a member into `{part}`, which is not an object")]
    NoObject { whole: String, part: String },
    #[error("{file} cannot be read: {reason}")]
    NoFile { file: String, reason: String },
    #[error("{0} does not hold a JSON object")]
    FileWithoutObject(String),
}

/// Builds the arguments. Words override files; `schema` decides the types of plain values.
pub(crate) fn build(given: Vec<Given>, schema: Option<&Raw>) -> Result<Object, BadArgument> {
    let kinds = Kinds::new(schema);
    let mut arguments = Object::new();
    let mut lists: Vec<(String, Vec<Raw>)> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for each in given {
        let (name, value) = match each {
            Given::Members(members) => {
                members.iter().for_each(|(name, value)| arguments.set(name.to_owned(), value.clone()));
                continue;
            }
            Given::Json { name, value } => (name, value),
            Given::Text { name, value } => {
                let path = kinds.path(&name);
                if let Some(item) = kinds.list_item(&path, &name, &value)? {
                    let items = list_of(&mut lists, &name);
                    items.push(item);
                    put(&mut arguments, &path, list(items), &name)?;
                    continue;
                }
                let value = kinds.convert(&path, &name, &value)?;
                (name, value)
            }
        };
        if seen.contains(&name) {
            return Err(BadArgument::Twice(name));
        }
        put(&mut arguments, &kinds.path(&name), value, &name)?;
        seen.push(name);
    }
    Ok(arguments)
}

fn list_of<'a>(lists: &'a mut Vec<(String, Vec<Raw>)>, name: &str) -> &'a mut Vec<Raw> {
    let at = lists.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
        lists.push((name.to_owned(), Vec::new()));
        lists.len() - 1
    });
    &mut lists[at].1
}

fn list(items: &[Raw]) -> Raw {
    Raw::encode(items).expect("a list of JSON is JSON")
}

/// Sets the member at `path`, creating the objects above it.
fn put(object: &mut Object, path: &[String], value: Raw, whole: &str) -> Result<(), BadArgument> {
    let [name, inner @ ..] = path else { return Ok(()) };
    if inner.is_empty() {
        object.set(name.clone(), value);
        return Ok(());
    }
    let mut child = match object.get(name) {
        Some(raw) => raw
            .object()
            .ok_or_else(|| BadArgument::NoObject { whole: whole.to_owned(), part: name.clone() })?,
        None => Object::new(),
    };
    put(&mut child, inner, value, whole)?;
    object.set(name.clone(), child.to_raw());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r##"{"type":"object","properties":{
        "text":{"type":"string"},"count":{"type":"integer"},"ratio":{"type":"number"},"deep":{"type":"boolean"},
        "tags":{"type":"array","items":{"type":"string"}},"ids":{"type":"array","items":{"type":"integer"}},
        "where":{"$ref":"#/$defs/Where"},"gone":{"type":["integer","null"]},"either":{"anyOf":[{"type":"string"},{"type":"integer"}]},
        "map":{"type":"object"},"level":{"enum":[1,2]},"a.b":{"type":"integer"}},
        "$defs":{"Where":{"type":"object","properties":{"line":{"type":"integer"}}}}}"##;

    fn built(words: &[&str]) -> Result<String, BadArgument> {
        let schema = Raw::parse(SCHEMA).unwrap();
        let given =
            words.iter().map(|word| Given::read(word, &mut Stdin::default())).collect::<Result<_, _>>()?;
        build(given, Some(&schema)).map(|object| object.to_raw().to_string())
    }

    #[test]
    fn the_schema_decides_what_a_value_becomes() {
        let words = [
            "text=5",
            "count=123456789012345678901234567890",
            "ratio=1.50",
            "deep=true",
            "gone=null",
            "either=5",
            "level=2",
        ];
        let want = r#"{"text":"5","count":123456789012345678901234567890,"ratio":1.50,"deep":true,"gone":null,"either":"5","level":2}"#;
        assert_eq!(built(&words).unwrap(), want);
    }

    #[test]
    fn lists_grow_by_repetition_or_come_whole() {
        assert_eq!(built(&["tags=a", "tags=b,c"]).unwrap(), r#"{"tags":["a","b,c"]}"#);
        assert_eq!(built(&["tags=[\"x\"]", "ids=7"]).unwrap(), r#"{"tags":["x"],"ids":[7]}"#);
    }

    #[test]
    fn dots_lead_into_objects_unless_the_schema_has_the_very_name() {
        assert_eq!(
            built(&["where.line=3", "where.file=x", "a.b=1"]).unwrap(),
            r#"{"where":{"line":3,"file":"x"},"a.b":1}"#
        );
        let error = built(&["text=x", "text.more=y"]).unwrap_err();
        assert_eq!(error.to_string(), "`text.more` would put a member into `text`, which is not an object");
    }

    #[test]
    fn json_is_taken_as_it_is_and_unknown_names_are_text() {
        assert_eq!(
            built(&["count:=\"x\"", "new:=[1.0]", "other=1"]).unwrap(),
            r#"{"count":"x","new":[1.0],"other":"1"}"#
        );
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let told = |words: &[&str]| built(words).unwrap_err().to_string();
        assert_eq!(told(&["count=abc"]), "`count` must be an integer, not `abc`; `count:=…` takes any JSON");
        assert_eq!(told(&["count=1.5"]), "`count` must be an integer, not `1.5`; `count:=…` takes any JSON");
        assert_eq!(told(&["map=x"]), "`map` must be an object, not `x`; `map:=…` takes any JSON");
        assert_eq!(told(&["gone=x"]), "`gone` must be an integer or null, not `x`; `gone:=…` takes any JSON");
        assert_eq!(told(&["text=a", "text=b"]), "`text` is given twice");
        assert_eq!(
            told(&["hello"]),
            "`hello` is not an argument; write `name=value`, `name:=json`, a JSON object or `@file`"
        );
        assert!(told(&["x:={"]).starts_with("`x` is not valid JSON"));
    }

    #[test]
    fn files_hold_objects_and_words_win_over_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        std::fs::write(&file, r#"{"count": 12345678901234567890123, "text": "from file"}"#).unwrap();
        let word = format!("@{}", file.display());
        let want = r#"{"count":12345678901234567890123,"text":"typed"}"#;
        assert_eq!(built(&[&word, "text=typed"]).unwrap(), want);
        std::fs::write(&file, "[]").unwrap();
        assert!(matches!(built(&[&word]), Err(BadArgument::FileWithoutObject(_))));
        assert!(matches!(built(&["@/nowhere/at-all"]), Err(BadArgument::NoFile { .. })));
    }

    #[test]
    fn without_a_schema_plain_values_are_text() {
        let given = vec![Given::read("a=1", &mut Stdin::default()).unwrap()];
        assert_eq!(build(given, None).unwrap().to_raw().as_str(), r#"{"a":"1"}"#);
    }
}
