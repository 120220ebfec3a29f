//! Edits one member of a JSON file without changing anything else: comments, order and layout
//! stay.

use crate::jsonc::{self, EXTENSIONS, Node, SyntaxError, split_bom};
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

/// The file with the member at `path` set to `value`. Missing objects on the way are created;
/// `text` is the current content, if the file exists.
pub fn set_member(text: Option<&str>, path: &[&str], value: &Value) -> Result<String, Vec<SyntaxError>> {
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
    let file = File::parse(text)?;
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut object = file.root.object_value_or_create();
    for name in above {
        object = object.and_then(|object| object.object_value_or_create(name));
    }
    let object = object.ok_or_else(|| vec![file.no_object(path)])?;
    match object.get(last) {
        Some(member) => member.set_value(input(value)),
        None => {
            object.append(last, input(value));
        }
    }
    file.finish()
}

/// The file without the member at `path`; `None` if it has none.
pub fn remove_member(text: &str, path: &[&str]) -> Result<Option<String>, Vec<SyntaxError>> {
    let file = File::parse(text)?;
    let Some((last, above)) = path.split_last() else { return Ok(None) };
    let mut object: Option<CstObject> = file.root.object_value();
    for name in above {
        object = object.and_then(|object| object.object_value(name));
    }
    let Some(member) = object.and_then(|object| object.get(last)) else { return Ok(None) };
    member.remove();
    file.finish().map(Some)
}

/// True if the file has a member at `path`.
pub fn has_member(text: &str, path: &[&str]) -> Result<bool, Vec<SyntaxError>> {
    Ok(jsonc::parse(text, 0)?.at(path).is_some())
}

pub(crate) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

/// A file that is being edited.
pub(crate) struct File {
    bom: String,
    tree: Node,
    pub(crate) root: CstRootNode,
}

impl File {
    pub(crate) fn parse(text: &str) -> Result<Self, Vec<SyntaxError>> {
        let tree = jsonc::parse(text, 0)?;
        let (bom, plain) = split_bom(text);
        let root = CstRootNode::parse(plain, &EXTENSIONS).expect("the same parser has just read it");
        Ok(Self { bom: bom.to_owned(), tree, root })
    }

    /// The edited text, parsed again before it is returned.
    pub(crate) fn finish(self) -> Result<String, Vec<SyntaxError>> {
        let written = format!("{}{}", self.bom, self.root);
        jsonc::parse(&written, 0).map(|_| written)
    }

    /// The error for a file in which another kind of value stands in the place of an object.
    pub(crate) fn no_object(&self, path: &[&str]) -> SyntaxError {
        let found = (0..path.len()).rev().find_map(|depth| self.tree.at(&path[..depth]));
        let deepest = found.unwrap_or(&self.tree);
        let reason = format!("servers can only be added to an object; here stands {}", deepest.kind());
        SyntaxError { reason, place: deepest.place, duplicate: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const FILE: &str = "// mine\n{\n  \"mcp\": {\n    \"servers\": {\n      // first\n      \"a\": { \"command\": [\"a\"] }, // one\n      \"b\": { \"url\": \"http://b\", }\n    }\n  }\n}\n";

    #[test]
    fn members_are_set_and_comments_stay() {
        let path = ["mcp", "servers", "b", "enabled"];
        let off = set_member(Some(FILE), &path, &json!(false)).unwrap();
        assert!(off.contains("// mine") && off.contains("// first") && off.contains("// one"), "{off}");
        assert_eq!(jsonc::parse(&off, 0).unwrap().at(&path).and_then(Node::bool), Some(false));
        let on = set_member(Some(&off), &path, &json!(true)).unwrap();
        assert_eq!(jsonc::parse(&on, 0).unwrap().at(&path).and_then(Node::bool), Some(true));
        let fresh = set_member(None, &["mcp", "servers", "x"], &json!({"url": "http://x"})).unwrap();
        assert!(has_member(&fresh, &["mcp", "servers", "x", "url"]).unwrap(), "{fresh}");
    }

    #[test]
    fn members_are_removed_and_their_neighbours_stay() {
        let left = remove_member(FILE, &["mcp", "servers", "a"]).unwrap().unwrap();
        assert!(!has_member(&left, &["mcp", "servers", "a"]).unwrap(), "{left}");
        assert!(
            has_member(&left, &["mcp", "servers", "b", "url"]).unwrap() && left.contains("// mine"),
            "{left}"
        );
        assert_eq!(remove_member(FILE, &["mcp", "servers", "c"]).unwrap(), None);
        assert_eq!(remove_member("{}", &["mcp", "servers", "c"]).unwrap(), None);
    }

    #[test]
    fn another_value_in_the_place_of_an_object_is_an_error() {
        for text in ["[]", "{\"mcp\": 3}", "{\"mcp\": {\"servers\": [1]}}"] {
            let errors = set_member(Some(text), &["mcp", "servers", "x"], &json!({})).unwrap_err();
            assert!(errors[0].reason.starts_with("servers can only be added"), "{errors:?}");
        }
    }
}
