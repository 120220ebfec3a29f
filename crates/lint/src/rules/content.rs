//! Content blocks of tool results and prompts.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

/// An error in a block: a pointer relative to the block, and a clause.
pub(in crate::rules) type Flaw = (&'static str, String);

/// The first error in a block; `None` if it is valid.
pub(in crate::rules) fn flaw(block: &Value) -> Option<Flaw> {
    if !block.is_object() {
        return Some(("", "a block of content is not an object".to_owned()));
    }
    let text = |member: &str| block.get(member).and_then(Value::as_str);
    let lacks = |member: &'static str, kind: &str| {
        Some((member, format!("a block of type `{kind}` needs a string `{}`", &member[1..])))
    };
    let Some(kind) = text("type") else {
        return Some(("/type", "a block of content has no `type`".to_owned()));
    };
    match kind {
        "text" if text("text").is_none() => lacks("/text", kind),
        "image" | "audio" if text("mimeType").is_none() => lacks("/mimeType", kind),
        "image" | "audio" => match text("data") {
            None => lacks("/data", kind),
            Some(data) => STANDARD
                .decode(data)
                .is_err()
                .then(|| ("/data", "`data` is not base64 with padding".to_owned())),
        },
        "resource_link" if text("uri").is_none() => lacks("/uri", kind),
        "resource_link" if text("name").is_none() => lacks("/name", kind),
        "resource" => resource_flaw(block.get("resource")),
        "text" | "resource_link" | "tool_use" | "tool_result" => None,
        other => Some(("/type", format!("`{other}` is not a type of content"))),
    }
}

/// The first error in the contents of a resource; the pointer is relative to them.
pub(in crate::rules) fn contents_flaw(contents: &Value) -> Option<Flaw> {
    let text = |member: &str| contents.get(member).and_then(Value::as_str);
    if text("uri").is_none() {
        return Some(("/uri", "the contents of a resource need a string `uri`".to_owned()));
    }
    match (contents.get("text"), contents.get("blob")) {
        (Some(_), Some(_)) => Some(("/blob", "the contents have both `text` and `blob`".to_owned())),
        (None, None) => Some(("", "the contents have neither `text` nor `blob`".to_owned())),
        (Some(text), None) => (!text.is_string()).then(|| ("/text", "`text` is not a string".to_owned())),
        (None, Some(blob)) => {
            let right = blob.as_str().is_some_and(|blob| STANDARD.decode(blob).is_ok());
            (!right).then(|| ("/blob", "`blob` is not base64 with padding".to_owned()))
        }
    }
}

fn resource_flaw(resource: Option<&Value>) -> Option<Flaw> {
    match resource {
        None => Some(("/resource", "a block of type `resource` needs a `resource`".to_owned())),
        Some(contents) => contents_flaw(contents).map(|(_, message)| ("/resource", message)),
    }
}
