//! Formats structured content: an array of objects as a table, an object as names and values,
//! everything else as JSON.

use super::{NAME, indent, json, safe, table};
use serde_json::Value;
use std::fmt::Write as _;
use trunkline_protocol::{Object, Raw};
use unicode_width::UnicodeWidthStr;

/// Maximum number of columns of a readable table; beyond it, JSON is used.
const MAX_COLUMNS: usize = 12;

/// Formats structured content as text.
pub(super) fn render(raw: &Raw) -> String {
    as_table(raw).or_else(|| as_blocks(raw)).or_else(|| as_members(raw)).unwrap_or_else(|| {
        let mut text = safe::json(&json::pretty(raw)).into_owned();
        text.push('\n');
        text
    })
}

/// True if both texts are the same JSON value, whatever their whitespace.
pub(super) fn same_json(text: &str, raw: &Raw) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    read(text).is_some_and(|value| Some(value) == read(raw.as_str()))
}

/// True if a text block already contains most values of the structured content.
pub(super) fn is_told_by(text: &str, raw: &Raw) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(raw.as_str()) else { return false };
    let mut count = Count::default();
    count.add(&value, text);
    count.values > 0 && count.found * 4 >= count.values * 3
}

/// Maximum number of values searched for in a text; the first ones are taken as a sample.
const LOOKED_FOR: usize = 500;

/// Number of values, and of those found in a text. Booleans and null do not count.
#[derive(Default)]
struct Count {
    values: usize,
    found: usize,
}

impl Count {
    /// Recursion is bounded by the depth that a message may have.
    fn add(&mut self, value: &Value, text: &str) {
        let written = match value {
            Value::Object(members) => return members.values().for_each(|value| self.add(value, text)),
            Value::Array(items) => return items.iter().for_each(|value| self.add(value, text)),
            Value::Null | Value::Bool(_) => return,
            _ if self.values == LOOKED_FOR => return,
            Value::String(written) => written.trim().to_owned(),
            Value::Number(number) => number.to_string(),
        };
        if !written.is_empty() {
            self.values += 1;
            self.found += usize::from(text.contains(&written));
        }
    }
}

fn objects(raw: &Raw) -> Option<Vec<Object>> {
    let items: Vec<Raw> = raw.decode().ok()?;
    items.iter().map(Raw::object).collect()
}

/// Formats an array of objects whose values do not fit table cells: one after the other,
/// untruncated.
fn as_blocks(raw: &Raw) -> Option<String> {
    let items: Vec<Raw> = raw.decode().ok()?;
    let blocks: Vec<String> = items.iter().map(as_members).collect::<Option<_>>()?;
    (!blocks.is_empty()).then(|| blocks.join("\n"))
}

fn as_table(raw: &Raw) -> Option<String> {
    let rows = objects(raw)?;
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(Object::iter) {
        if !names.contains(&name) {
            names.push(name);
        }
        if names.len() > MAX_COLUMNS {
            return None;
        }
    }
    if names.is_empty() {
        return None;
    }
    if rows.iter().flat_map(Object::iter).any(|(_, value)| !fits_a_cell(value)) {
        return None;
    }
    let cell = |row: &Object, name: &str| row.get(name).map(in_line).unwrap_or_default();
    let cells: Vec<Vec<String>> =
        rows.iter().map(|row| names.iter().map(|name| cell(row, name)).collect()).collect();
    let headings: Vec<String> = names.iter().map(|name| safe::line(name)).collect();
    Some(table::columns(&headings, &cells))
}

fn as_members(raw: &Raw) -> Option<String> {
    let members = raw.object().filter(|members| !members.is_empty())?;
    let names: Vec<String> = members.iter().map(|(name, _)| safe::line(name)).collect();
    let width = names.iter().map(|name| name.width()).max().unwrap_or_default();
    let mut out = String::new();
    for (name, (_, value)) in names.iter().zip(members.iter()) {
        let label = format!("{NAME}{name}{NAME:#}:");
        let written = match below(value) {
            Some(block) => {
                out.push_str(&label);
                out.push('\n');
                indent(&mut out, &block, 2);
                Ok(())
            }
            None => writeln!(out, "{label}{} {}", " ".repeat(width - name.width()), in_line(value)),
        };
        written.expect("a String takes any text");
    }
    Some(out)
}

/// Formats a value that needs separate lines: arrays of objects, objects, multi-line strings.
fn below(value: &Raw) -> Option<String> {
    if let Ok(text) = value.decode::<String>() {
        return text.contains('\n').then(|| safe::text(&text).into_owned());
    }
    let is_filled_object = value.object().is_some_and(|members| !members.is_empty());
    as_table(value)
        .or_else(|| as_blocks(value))
        .or_else(|| is_filled_object.then(|| safe::json(&json::pretty(value)).into_owned()))
}

/// True if a value fits a table cell without truncation.
fn fits_a_cell(value: &Raw) -> bool {
    let one_line = value.text().is_none_or(|text| !text.contains('\n'));
    one_line && in_line(value).width() <= table::MAX_CELL
}

/// Formats a value on one line: strings without quotes, the rest as JSON.
fn in_line(value: &Raw) -> String {
    match value.decode::<String>() {
        Ok(text) => safe::line(&text),
        Err(_) => safe::line(&safe::json(value.as_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> String {
        anstream::adapter::strip_str(&render(&Raw::parse(text.to_owned()).unwrap())).to_string()
    }

    #[test]
    fn a_list_of_objects_is_a_table() {
        let text =
            r#"[{"id":12345678901234567890123,"name":"a\u001b[1m"},{"id":2,"ok":true,"tags":["x","y"]}]"#;
        insta::assert_snapshot!(rendered(text), @r#"
        id                       name   ok    tags
        ───────────────────────  ─────  ────  ─────────
        12345678901234567890123  a␛[1m
        2                               true  ["x","y"]
        "#);
    }

    #[test]
    fn an_object_is_names_and_values() {
        let text = r#"{"city":"Bern","temperature":-1.50,"rows":[{"a":1}],"more":{"b":[2]},"none":[],"text":"x\ny"}"#;
        insta::assert_snapshot!(rendered(text), @r#"
        city:        Bern
        temperature: -1.50
        rows:
          a
          ─
          1
        more:
          {
            "b": [
              2
            ]
          }
        none:        []
        text:
          x
          y
        "#);
    }

    #[test]
    fn what_is_too_long_for_a_cell_is_shown_whole_and_not_cut() {
        let long = "x".repeat(100);
        let text =
            format!(r#"{{"files":[{{"path":"a","content":"one\ntwo"}},{{"path":"b","content":"{long}"}}]}}"#);
        let shown = rendered(&text);
        assert!(shown.contains(&long) && !shown.contains('…'), "{shown}");
        assert!(shown.contains("  content:\n    one\n    two\n"), "{shown}");
    }

    #[test]
    fn a_text_tells_structured_content_when_it_has_most_of_its_values() {
        let raw = Raw::parse(r#"{"branch":"main","clean":true,"files":["a.rs","b.rs"],"ahead":2}"#).unwrap();
        assert!(is_told_by("On branch main, 2 ahead\n  a.rs\n  b.rs", &raw));
        assert!(!is_told_by("two files", &raw));
        assert!(!is_told_by("yes", &Raw::parse(r#"{"ok":true}"#).unwrap()));
    }

    #[test]
    fn the_rest_is_json() {
        assert_eq!(rendered("[1,2]"), "[\n  1,\n  2\n]\n");
        assert_eq!(rendered("{}"), "{}\n");
        assert_eq!(rendered("null"), "null\n");
    }

    #[test]
    fn layout_does_not_make_json_another() {
        let raw = Raw::parse(r#"{"a":[1,2]}"#).unwrap();
        assert!(same_json("{\n \"a\": [1, 2] }", &raw));
        assert!(!same_json("a: 1, 2", &raw));
    }
}
