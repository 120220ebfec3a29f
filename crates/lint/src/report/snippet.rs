//! Snippet: a few lines of JSON around a value, with the position of the caret.

use super::{SECRETS, finding::shorten};
use crate::pointer;
use serde::Serialize;
use serde_json::Value;

/// Number of lines shown above and below the value.
const AROUND: usize = 2;

/// Maximum number of lines of the value itself.
const VALUE_LINES: usize = 3;

/// Maximum length of a line.
const WIDTH: usize = 160;

/// Lines of a frame that are formatted; the rest is cut.
const MAX_LINES: usize = 200_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snippet {
    pub lines: Vec<String>,
    /// Index of the line above the caret.
    pub line: usize,
    pub column: usize,
    pub width: usize,
}

struct Printer<'a> {
    lines: Vec<String>,
    wanted: &'a str,
    found: Option<(usize, usize, usize)>,
}

impl Snippet {
    /// The snippet around the value at `pointer`, or around its nearest existing ancestor.
    pub fn of(root: &Value, pointer: &str) -> Option<Self> {
        let mut pointer = pointer;
        while root.pointer(pointer).is_none() {
            pointer = &pointer[..pointer.rfind('/')?];
        }
        let mut printer = Printer { lines: vec![String::new()], wanted: pointer, found: None };
        printer.value(root, &mut String::new(), 0);
        let (line, column, width) = printer.found?;
        let last_of_value = printer.lines.len().saturating_sub(1).min(line + VALUE_LINES);
        let first = line.saturating_sub(AROUND);
        let last = (last_of_value + AROUND).min(printer.lines.len() - 1).min(line + AROUND);
        let indent = printer.lines[first..=last]
            .iter()
            .map(|text| text.len() - text.trim_start().len())
            .min()
            .unwrap_or(0);
        let masked = masked(&printer.lines[first..=last]);
        // Masking changes the length of the line, so the caret's width must be adjusted.
        let length = |text: &str| text.chars().count();
        let (before, after) = (length(&printer.lines[line]), length(&masked[line - first]));
        let width = (width + after).saturating_sub(before);
        let lines: Vec<String> = masked.iter().map(|text| shorten(&text[indent..], WIDTH)).collect();
        let width = width.min(WIDTH.saturating_sub(column - indent)).max(1);
        Some(Self { lines, line: line - first, column: column - indent, width })
    }
}

/// Masks secrets in the lines. They are masked together, because a flag and its value may be on
/// two lines.
fn masked(lines: &[String]) -> Vec<String> {
    let whole = lines.join("\n");
    let masked: Vec<String> = SECRETS.hide(&whole).split('\n').map(str::to_owned).collect();
    if masked.len() == lines.len() {
        return masked;
    }
    // Masking an unterminated key block merges the lines after it; then each line is masked alone.
    lines.iter().map(|line| SECRETS.hide(line).into_owned()).collect()
}

impl Printer<'_> {
    fn value(&mut self, value: &Value, at: &mut String, depth: usize) {
        let mine = at == self.wanted && self.found.is_none();
        let (line, column) = (self.lines.len() - 1, self.width());
        if mine {
            self.found = Some((line, column, 1));
        }
        if self.lines.len() > MAX_LINES {
            return self.push("…");
        }
        match value {
            Value::Object(members) if !members.is_empty() => {
                self.push("{");
                for (index, (name, value)) in members.iter().enumerate() {
                    self.line(depth + 1);
                    self.push(&format!("{}: ", Value::from(name.as_str())));
                    let end = at.len();
                    at.push('/');
                    at.push_str(&pointer::escape(name));
                    self.value(value, at, depth + 1);
                    at.truncate(end);
                    self.push(if index + 1 < members.len() { "," } else { "" });
                }
                self.line(depth);
                self.push("}");
            }
            Value::Array(items) if !items.is_empty() => {
                self.push("[");
                for (index, value) in items.iter().enumerate() {
                    self.line(depth + 1);
                    let end = at.len();
                    at.push('/');
                    at.push_str(&index.to_string());
                    self.value(value, at, depth + 1);
                    at.truncate(end);
                    self.push(if index + 1 < items.len() { "," } else { "" });
                }
                self.line(depth);
                self.push("]");
            }
            scalar => self.push(&scalar.to_string()),
        }
        if mine && self.lines.len() - 1 == line {
            self.found = Some((line, column, self.width() - column));
        }
    }

    fn push(&mut self, text: &str) {
        self.lines.last_mut().expect("there is always a line").push_str(text);
    }

    fn line(&mut self, depth: usize) {
        self.lines.push("  ".repeat(depth));
    }

    fn width(&self) -> usize {
        self.lines.last().map_or(0, |line| line.chars().count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_caret_stands_under_the_value() {
        let root = json!({"result": {"tools": [{"name": "a b", "inputSchema": {"type": "object"}}]}});
        let snippet = Snippet::of(&root, "/result/tools/0/name").unwrap();
        let line = &snippet.lines[snippet.line];
        assert_eq!(&line[snippet.column..snippet.column + snippet.width], "\"a b\"");
    }

    #[test]
    fn secrets_are_hidden_and_the_caret_still_covers_the_value() {
        let token = "ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6";
        let root = json!({"env": {"X": format!("uses {token}, ok"), "args": ["--token", "two words"]}});
        let snippet = Snippet::of(&root, "/env/X").unwrap();
        let line = &snippet.lines[snippet.line];
        assert_eq!(&line[snippet.column..snippet.column + snippet.width], "\"uses ***, ok\"");
        let snippet = Snippet::of(&root, "/env/args/0").unwrap();
        assert!(snippet.lines.iter().any(|line| line.trim() == "\"***\""), "{snippet:?}");
    }

    #[test]
    fn a_missing_value_points_at_what_should_hold_it() {
        let root = json!({"result": {"tools": []}});
        let snippet = Snippet::of(&root, "/result/capabilities").unwrap();
        assert!(snippet.lines[snippet.line].trim_start().starts_with("\"result\": {"), "{snippet:?}");
    }
}
