//! The reader: one pass, no backtracking, bounded in size and depth.

use super::{Entry, Node, Place, Value};
use std::collections::HashSet;

/// Maximum size of a text.
pub const MAX_BYTES: usize = 1024 * 1024;
/// Maximum nesting depth of objects and arrays.
pub const MAX_DEPTH: usize = 64;
/// Maximum number of duplicate keys reported.
const MAX_DUPLICATES: usize = 100;

/// A syntax error and its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct SyntaxError {
    pub reason: String,
    pub place: Place,
    /// The duplicate key, if that is the error; the rest of the text may be valid.
    pub duplicate: Option<String>,
}

/// Parses a whole text. All duplicate keys are reported together; any other error ends parsing.
pub fn parse(text: &str, source: u16) -> Result<Node, Vec<SyntaxError>> {
    let mut reader = Reader { text, at: 0, source, depth: 0, path: Vec::new(), duplicates: Vec::new() };
    if text.len() > MAX_BYTES {
        return Err(vec![reader.error(0, 1, format!("the file is larger than {MAX_BYTES} bytes"))]);
    }
    let node = reader.document();
    let mut errors = reader.duplicates;
    match node {
        Ok(node) if errors.is_empty() => Ok(node),
        Ok(_) => Err(errors),
        Err(error) => {
            errors.push(error);
            Err(errors)
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    source: u16,
    depth: usize,
    path: Vec<String>,
    duplicates: Vec<SyntaxError>,
}

type Read<T> = Result<T, SyntaxError>;

impl<'a> Reader<'a> {
    fn document(&mut self) -> Read<Node> {
        if self.rest().starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
        self.blanks()?;
        let node = self.node()?;
        self.blanks()?;
        match self.peek() {
            None => Ok(node),
            Some(_) => Err(self.here("there is more text after the end of the document")),
        }
    }

    fn node(&mut self) -> Read<Node> {
        let start = self.at;
        let value = match self.peek() {
            Some('{') => self.nested(Self::table)?,
            Some('[') => self.nested(Self::list)?,
            Some('"') => Value::Text(self.string()?),
            Some('-' | '0'..='9') => self.number()?,
            Some(c) if c.is_ascii_alphabetic() => self.word()?,
            Some('\'') => return Err(self.here("texts stand in double quotes")),
            Some(_) => return Err(self.here("a value is expected here")),
            None => return Err(self.here("the file ends where a value is expected")),
        };
        Ok(Node { value, place: self.place(start, self.at) })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Read<Value>) -> Read<Value> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.here(&format!("values are nested deeper than {MAX_DEPTH}")));
        }
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn table(&mut self) -> Read<Value> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen = HashSet::new();
        loop {
            self.blanks()?;
            match self.peek() {
                Some('}') => break,
                Some('"') => {}
                Some(c) if c.is_ascii_alphabetic() => return Err(self.here("names stand in double quotes")),
                Some(_) => return Err(self.here("a name in double quotes or `}` is expected here")),
                None => return Err(self.here("the file ends inside an object; a `}` is missing")),
            }
            let entry = self.entry()?;
            if !seen.insert(entry.key.clone()) && self.duplicates.len() < MAX_DUPLICATES {
                self.duplicates.push(SyntaxError {
                    reason: format!("`{}` stands twice in this object", entry.key),
                    place: entry.key_place,
                    duplicate: Some(
                        self.path.iter().chain([&entry.key]).cloned().collect::<Vec<_>>().join("."),
                    ),
                });
            }
            entries.push(entry);
            if !self.separated('}', "an object")? {
                break;
            }
        }
        self.at += 1;
        Ok(Value::Table(entries))
    }

    fn entry(&mut self) -> Read<Entry> {
        let start = self.at;
        let key = self.string()?;
        let key_place = self.place(start, self.at);
        self.blanks()?;
        if self.peek() != Some(':') {
            return Err(self.here(&format!("a `:` is missing after `{key}`")));
        }
        self.at += 1;
        self.blanks()?;
        self.path.push(key.clone());
        let node = self.node()?;
        self.path.pop();
        Ok(Entry { key, key_place, node })
    }

    fn list(&mut self) -> Read<Value> {
        let mut items = Vec::new();
        loop {
            self.blanks()?;
            match self.peek() {
                Some(']') => break,
                None => return Err(self.here("the file ends inside a list; a `]` is missing")),
                Some(_) => items.push(self.node()?),
            }
            if !self.separated(']', "a list")? {
                break;
            }
        }
        self.at += 1;
        Ok(Value::List(items))
    }

    /// After an item: true if a comma follows, false if the end does; anything else is an error.
    fn separated(&mut self, end: char, what: &str) -> Read<bool> {
        let after = self.at;
        self.blanks()?;
        match self.peek() {
            Some(',') => {
                self.at += 1;
                Ok(true)
            }
            Some(c) if c == end => Ok(false),
            None => Err(self.here(&format!("the file ends inside {what}; a `{end}` is missing"))),
            Some(_) => Err(self.error(after, after, "a comma is missing here".to_owned())),
        }
    }

    fn string(&mut self) -> Read<String> {
        let start = self.at;
        let mut escaped = false;
        for (offset, c) in self.text[start + 1..].char_indices() {
            let at = start + 1 + offset;
            match c {
                '"' if !escaped => {
                    self.at = at + 1;
                    return serde_json::from_str(&self.text[start..=at])
                        .map_err(|_| self.error(start, at + 1, "the text holds a wrong escape".to_owned()));
                }
                '\u{0}'..='\u{1f}' => {
                    let reason =
                        "the text is not closed before the end of its line, or holds a control character";
                    return Err(self.error(at, at, reason.to_owned()));
                }
                _ => escaped = c == '\\' && !escaped,
            }
        }
        Err(self.error(start, self.text.len(), "the text is never closed; a `\"` is missing".to_owned()))
    }

    fn number(&mut self) -> Read<Value> {
        let start = self.at;
        let end = self.run(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
        serde_json::from_str(&self.text[start..end])
            .map(Value::Number)
            .map_err(|_| self.error(start, end, format!("`{}` is not a number", &self.text[start..end])))
    }

    fn word(&mut self) -> Read<Value> {
        let start = self.at;
        let end = self.run(|c| c.is_ascii_alphanumeric() || c == '_');
        match &self.text[start..end] {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "null" => Ok(Value::Null),
            word => {
                Err(self.error(start, end, format!("`{word}` is no value; texts stand in double quotes")))
            }
        }
    }

    fn run(&mut self, belongs: fn(char) -> bool) -> usize {
        let rest = self.rest();
        self.at += rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at
    }

    /// Skips whitespace and comments.
    fn blanks(&mut self) -> Read<()> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            self.at += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if let Some(comment) = trimmed.strip_prefix("/*") {
                let Some(end) = comment.find("*/") else {
                    return Err(self.here("the comment is never closed; a `*/` is missing"));
                };
                self.at += end + 4;
            } else {
                return Ok(());
            }
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn here(&self, reason: &str) -> SyntaxError {
        self.error(self.at, self.at, reason.to_owned())
    }

    fn error(&self, start: usize, end: usize, reason: String) -> SyntaxError {
        SyntaxError { reason, place: self.place(start, end), duplicate: None }
    }

    fn place(&self, start: usize, end: usize) -> Place {
        let byte = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Place { source: self.source, start: byte(start), end: byte(end) }
    }
}
