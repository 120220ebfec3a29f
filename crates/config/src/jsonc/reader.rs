//! `jsonc-parser` reads the text. Strings and numbers are decoded strictly, by `serde_json`;
//! duplicate keys, size and depth are checked here.

use super::{Entry, Node, Place, Value};
use jsonc_parser::{
    CollectOptions, ParseOptions, ast,
    common::{Range, Ranged},
    errors::{ParseError, ParseErrorKind},
    parse_to_ast,
};
use std::collections::HashSet;

/// Maximum size of a text.
pub const MAX_BYTES: usize = 1024 * 1024;
/// Maximum nesting depth of objects and arrays.
pub const MAX_DEPTH: usize = 64;
/// Maximum number of duplicate keys reported.
const MAX_DUPLICATES: usize = 100;
/// Comments and trailing commas are the only extensions to JSON.
pub(crate) const EXTENSIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};
const BOM: &str = "\u{feff}";

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
    let (bom, plain) = split_bom(text);
    let mut reader = Reader { text, offset: bom.len(), source, path: Vec::new(), duplicates: Vec::new() };
    if text.len() > MAX_BYTES {
        let range = Range { start: 0, end: 1 };
        return Err(vec![reader.error(range, format!("the file is larger than {MAX_BYTES} bytes"))]);
    }
    let tree = match parse_to_ast(plain, &CollectOptions::default(), &EXTENSIONS) {
        Ok(tree) => tree.value,
        Err(error) => return Err(vec![reader.error(error.range(), reason(&error))]),
    };
    let end = Range { start: plain.len(), end: plain.len() };
    let node = match tree {
        Some(value) => reader.node(&value, 0),
        None => Err(reader.error(end, "the file ends where a value is expected".to_owned())),
    };
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

/// The byte order mark, if the text begins with one, and the rest.
pub(crate) fn split_bom(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BOM) { BOM.len() } else { 0 })
}

struct Reader<'a> {
    text: &'a str,
    /// Length of the byte order mark, which the parser does not see.
    offset: usize,
    source: u16,
    path: Vec<String>,
    duplicates: Vec<SyntaxError>,
}

impl Reader<'_> {
    fn node(&mut self, value: &ast::Value<'_>, depth: usize) -> Result<Node, SyntaxError> {
        let range = value.range();
        let read = match value {
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::BooleanLit(literal) => Value::Bool(literal.value),
            ast::Value::NumberLit(_) => Value::Number(self.strict(range, "this is not a number")?),
            ast::Value::StringLit(_) => Value::Text(self.string(range)?),
            ast::Value::Array(_) | ast::Value::Object(_) if depth == MAX_DEPTH => {
                return Err(self.error(range, format!("values are nested deeper than {MAX_DEPTH}")));
            }
            ast::Value::Array(array) => {
                let items = array.elements.iter().map(|item| self.node(item, depth + 1));
                Value::List(items.collect::<Result<_, _>>()?)
            }
            ast::Value::Object(object) => self.table(object, depth + 1)?,
        };
        Ok(Node { value: read, place: self.place(range) })
    }

    fn table(&mut self, object: &ast::Object<'_>, depth: usize) -> Result<Value, SyntaxError> {
        let mut seen = HashSet::new();
        let mut entries = Vec::with_capacity(object.properties.len());
        for property in &object.properties {
            let range = property.name.range();
            self.path.push(self.string(range)?);
            let node = self.node(&property.value, depth)?;
            let whole_key = self.path.join(".");
            let key = self.path.pop().unwrap_or_default();
            if !seen.insert(key.clone()) && self.duplicates.len() < MAX_DUPLICATES {
                let error = self.error(range, format!("`{key}` stands twice in this object"));
                self.duplicates.push(SyntaxError { duplicate: Some(whole_key), ..error });
            }
            entries.push(Entry { key, key_place: self.place(range), node });
        }
        Ok(Value::Table(entries))
    }

    fn string(&self, range: Range) -> Result<String, SyntaxError> {
        self.strict(range, "the text holds a wrong escape or a control character")
    }

    fn strict<T: serde::de::DeserializeOwned>(&self, range: Range, or: &str) -> Result<T, SyntaxError> {
        serde_json::from_str(&self.text[self.place(range).range()])
            .map_err(|_| self.error(range, or.to_owned()))
    }

    fn error(&self, range: Range, reason: String) -> SyntaxError {
        SyntaxError { reason, place: self.place(range), duplicate: None }
    }

    fn place(&self, range: Range) -> Place {
        let byte = |at: usize| u32::try_from(at + self.offset).unwrap_or(u32::MAX);
        Place { source: self.source, start: byte(range.start), end: byte(range.end) }
    }
}

/// The parser's error with what to do.
fn reason(error: &ParseError) -> String {
    use ParseErrorKind as Kind;
    match error.kind() {
        Kind::ExpectedComma => "a comma is missing here",
        Kind::ExpectedColonAfterObjectKey => "a `:` is missing after this name",
        Kind::ExpectedObjectValue => "a value is expected after the `:`",
        Kind::ExpectedStringObjectProperty => "names stand in double quotes",
        Kind::SingleQuotedStringsNotAllowed => "texts stand in double quotes",
        Kind::UnexpectedWord => "this word is no value; texts stand in double quotes",
        Kind::UnterminatedArray => "this list is never closed; a `]` is missing",
        Kind::UnterminatedObject => "this object is never closed; a `}` is missing",
        Kind::UnterminatedCommentBlock => "the comment is never closed; a `*/` is missing",
        Kind::MultipleRootJsonValues => "there is more text after the end of the document",
        Kind::NestingDepthExceeded => return format!("values are nested deeper than {MAX_DEPTH}"),
        other => return lower_first(&other.to_string()),
    }
    .to_owned()
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
