//! `x-mcp-header`: tool arguments that 2026-07-28 mirrors into HTTP headers.
//!
//! The keyword is valid only on a property that can be reached from the root through `properties`
//! alone. Anywhere else it makes the tool invalid for HTTP, and a client must drop the tool from
//! the list.

use crate::{Number, Raw};
use std::collections::BTreeSet;

const KEYWORD: &str = "x-mcp-header";

/// One argument and the header that carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderParam {
    /// The name as written in the schema; it is sent as `Mcp-Param-{header}`.
    pub header: String,
    /// The property names from the root to the argument.
    pub path: Vec<String>,
    pub kind: HeaderKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderKind {
    Text,
    Integer,
    Boolean,
}

/// The reason for which a tool's headers are invalid. `at` is a JSON pointer into the schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHeaderParam {
    #[error("`x-mcp-header` at `{at}` is not a string")]
    NotText { at: String },
    #[error("`x-mcp-header` at `{at}` is empty")]
    Empty { at: String },
    #[error("`x-mcp-header` at `{at}` is not a header name: {header:?}")]
    NotToken { at: String, header: String },
    #[error("`x-mcp-header` at `{at}` repeats the header `{header}`")]
    Duplicate { at: String, header: String },
    #[error("`x-mcp-header` at `{at}` is not on a string, an integer or a boolean")]
    WrongType { at: String },
    #[error("`x-mcp-header` at `{at}` cannot be reached through `properties` alone")]
    Unreachable { at: String },
}

/// False only if no schema in this text asks for headers, as is usual; true if one may.
pub fn may_want_headers(text: &Raw) -> bool {
    text.may_name(KEYWORD)
}

/// Reads the headers that an input schema asks for; the first invalid one is the error.
pub fn header_params(input_schema: &Raw) -> Result<Vec<HeaderParam>, BadHeaderParam> {
    let mut walk = Walk::default();
    if may_want_headers(input_schema) {
        walk.schema(input_schema, Reach::Root)?;
    }
    Ok(walk.found)
}

/// The headers for these arguments, each as its full name and unencoded value; the transport
/// encodes characters that HTTP headers do not allow.
///
/// An absent or `null` argument has no header. A value of another type than the schema's is
/// mirrored nevertheless, because the server validates the body; objects and arrays have no header
/// form.
pub fn header_values(params: &[HeaderParam], arguments: &Raw) -> Vec<(String, String)> {
    let value_of = |param: &HeaderParam| {
        let value = param.path.iter().try_fold(arguments.clone(), |value, name| value.member(name))?;
        Some((format!("Mcp-Param-{}", param.header), plain_value(&value)?))
    };
    params.iter().filter_map(value_of).collect()
}

fn plain_value(value: &Raw) -> Option<String> {
    match value.as_bytes().first()? {
        b'"' => value.decode().ok(),
        b't' | b'f' => Some(value.to_string()),
        b'n' | b'{' | b'[' => None,
        _ => {
            let number = Number::read(value)?;
            Some(number.as_i64().map_or_else(|| number.to_string(), |integer| integer.to_string()))
        }
    }
}

/// The kind of path that leads from the root to a subschema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Root,
    /// Through `properties` only.
    Property,
    Other,
}

#[derive(Default)]
struct Walk {
    found: Vec<HeaderParam>,
    /// In lower case.
    headers: BTreeSet<String>,
    /// The keywords and names from the root, for messages.
    pointer: Vec<String>,
    /// The property names from the root.
    path: Vec<String>,
}

impl Walk {
    /// Recursion is bounded by the depth that a [`Raw`] may have.
    fn schema(&mut self, schema: &Raw, reach: Reach) -> Result<(), BadHeaderParam> {
        let Some(members) = schema.object() else { return Ok(()) };
        if let Some(header) = members.get(KEYWORD) {
            let kind = members.get("type").and_then(|kind| kind.decode::<String>().ok());
            self.annotation(header, kind.as_deref(), reach)?;
        }
        for (keyword, value) in members.iter() {
            self.pointer.push(keyword.to_owned());
            match keyword {
                "properties" if reach != Reach::Other => self.schemas_by_name(value, Reach::Property)?,
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
                | "dependencies" => self.schemas_by_name(value, Reach::Other)?,
                "items"
                | "additionalItems"
                | "contains"
                | "additionalProperties"
                | "unevaluatedItems"
                | "unevaluatedProperties"
                | "propertyNames"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contentSchema"
                | "allOf"
                | "anyOf"
                | "oneOf"
                | "prefixItems" => self.one_or_many(value)?,
                _ => {}
            }
            self.pointer.pop();
        }
        Ok(())
    }

    fn schemas_by_name(&mut self, schemas: &Raw, reach: Reach) -> Result<(), BadHeaderParam> {
        for (name, schema) in schemas.object().unwrap_or_default().iter() {
            self.pointer.push(name.to_owned());
            self.path.push(name.to_owned());
            self.schema(schema, reach)?;
            self.path.pop();
            self.pointer.pop();
        }
        Ok(())
    }

    fn one_or_many(&mut self, value: &Raw) -> Result<(), BadHeaderParam> {
        match value.decode::<Vec<Raw>>() {
            Err(_) => self.schema(value, Reach::Other),
            Ok(schemas) => {
                for (index, schema) in schemas.iter().enumerate() {
                    self.pointer.push(index.to_string());
                    self.schema(schema, Reach::Other)?;
                    self.pointer.pop();
                }
                Ok(())
            }
        }
    }

    fn annotation(&mut self, header: &Raw, kind: Option<&str>, reach: Reach) -> Result<(), BadHeaderParam> {
        let at = self.at();
        let Ok(header) = header.decode::<String>() else { return Err(BadHeaderParam::NotText { at }) };
        if header.is_empty() {
            return Err(BadHeaderParam::Empty { at });
        }
        if !header.bytes().all(is_token_byte) {
            return Err(BadHeaderParam::NotToken { at, header });
        }
        if reach != Reach::Property {
            return Err(BadHeaderParam::Unreachable { at });
        }
        let kind = match kind {
            Some("string") => HeaderKind::Text,
            Some("integer") => HeaderKind::Integer,
            Some("boolean") => HeaderKind::Boolean,
            _ => return Err(BadHeaderParam::WrongType { at }),
        };
        if !self.headers.insert(header.to_ascii_lowercase()) {
            return Err(BadHeaderParam::Duplicate { at, header });
        }
        self.found.push(HeaderParam { header, path: self.path.clone(), kind });
        Ok(())
    }

    fn at(&self) -> String {
        let parts = self.pointer.iter().map(|part| part.replace('~', "~0").replace('/', "~1"));
        parts.flat_map(|part| ["/".to_owned(), part]).collect()
    }
}

/// RFC 9110 `tchar`.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests;
