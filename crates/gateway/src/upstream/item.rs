//! Checks the items of a list one by one: a broken one is quarantined with the reason, the others
//! are served.

use super::{offer::Kind, options::ListOptions};
use serde::Serialize;
use trunkline_protocol::{Object, Raw};

/// Most characters of an item's name or of a server's reason that are shown.
pub(super) const NAME_SHOWN: usize = 80;

/// An item that is not served, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Quarantined {
    pub kind: Kind,
    /// Its index in the server's list.
    pub index: usize,
    /// Its name or URI, as far as it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub reason: String,
}

/// The identity of an item that can be served, or why it cannot.
pub(super) fn examine(kind: Kind, item: &Raw, limits: &ListOptions) -> Result<String, String> {
    let size = item.as_bytes().len();
    if size > limits.item_bytes {
        return Err(format!("it has {size} bytes, more than {}", limits.item_bytes));
    }
    let members = item.object().ok_or("it is not an object")?;
    let identity = identity_of(kind);
    let name: String = match members.get(identity) {
        None => return Err(format!("it has no `{identity}`")),
        Some(name) => name.decode().map_err(|_| format!("its `{identity}` is not a string"))?,
    };
    if name.is_empty() {
        return Err(format!("its `{identity}` is empty"));
    }
    if name.len() > limits.name_bytes {
        return Err(format!("its `{identity}` has {} bytes, more than {}", name.len(), limits.name_bytes));
    }
    describe(&members, limits)?;
    if kind == Kind::Tools {
        schemas(&members)?;
    }
    Ok(name)
}

/// The readable name of an item, broken or not.
pub(super) fn name_of(kind: Kind, item: &Raw) -> Option<String> {
    let name: String = item.member_as(identity_of(kind))?;
    Some(name.chars().take(NAME_SHOWN).collect())
}

fn identity_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Tools | Kind::Prompts => "name",
        Kind::Resources => "uri",
        Kind::Templates => "uriTemplate",
    }
}

fn describe(members: &Object, limits: &ListOptions) -> Result<(), String> {
    let Some(description) = members.get("description").filter(|text| !text.is_null()) else { return Ok(()) };
    if description.as_bytes().first() != Some(&b'"') {
        return Err("its `description` is not a string".to_owned());
    }
    let size = description.as_bytes().len();
    if size > limits.description_bytes {
        return Err(format!("its description has {size} bytes, more than {}", limits.description_bytes));
    }
    Ok(())
}

fn schemas(members: &Object) -> Result<(), String> {
    match members.get("inputSchema") {
        None => return Err("it has no `inputSchema`".to_owned()),
        Some(schema) if !schema.is_object() => return Err("its `inputSchema` is not an object".to_owned()),
        Some(_) => {}
    }
    match members.get("outputSchema") {
        Some(schema) if !schema.is_object() && !schema.is_null() => {
            Err("its `outputSchema` is not an object".to_owned())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(text: &str) -> Result<String, String> {
        let limits =
            ListOptions { description_bytes: 20, name_bytes: 8, item_bytes: 120, ..ListOptions::default() };
        examine(Kind::Tools, &Raw::parse(text.to_owned()).unwrap(), &limits)
    }

    #[test]
    fn u10_a_broken_tool_is_told_by_its_reason() {
        assert_eq!(tool(r#"{"name":"a","inputSchema":{}}"#).unwrap(), "a");
        for (text, reason) in [
            ("7", "it is not an object"),
            ("{}", "it has no `name`"),
            (r#"{"name":3}"#, "its `name` is not a string"),
            (r#"{"name":""}"#, "its `name` is empty"),
            (r#"{"name":"123456789"}"#, "its `name` has 9 bytes, more than 8"),
            (r#"{"name":"a","description":1}"#, "its `description` is not a string"),
            (
                r#"{"name":"a","description":"1234567890123456789"}"#,
                "its description has 21 bytes, more than 20",
            ),
            (r#"{"name":"a"}"#, "it has no `inputSchema`"),
            (r#"{"name":"a","inputSchema":null}"#, "its `inputSchema` is not an object"),
            (r#"{"name":"a","inputSchema":{},"outputSchema":[]}"#, "its `outputSchema` is not an object"),
        ] {
            assert_eq!(tool(text).unwrap_err(), reason, "{text}");
        }
        let large = format!(r#"{{"name":"a","inputSchema":{{}},"_meta":"{}"}}"#, "x".repeat(200));
        assert!(tool(&large).unwrap_err().starts_with("it has 2"));
    }

    #[test]
    fn resources_are_known_by_their_uri() {
        let limits = ListOptions::default();
        let item = Raw::parse(r#"{"uri":"file:///a"}"#).unwrap();
        assert_eq!(examine(Kind::Resources, &item, &limits).unwrap(), "file:///a");
        assert_eq!(examine(Kind::Templates, &item, &limits).unwrap_err(), "it has no `uriTemplate`");
        assert_eq!(name_of(Kind::Resources, &item).as_deref(), Some("file:///a"));
    }
}
