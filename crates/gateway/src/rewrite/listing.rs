//! Changes to the items of lists. All members that are not named here are kept byte for byte.

use trunkline_protocol::{Object, Raw};

/// Key in `_meta` of an item whose server is not connected.
const STALE: &str = "trunkline/stale";

/// The item under another name.
pub(crate) fn renamed(listing: &Raw, member: &str, name: &str) -> Raw {
    changed(listing, member, &Raw::string(name))
}

/// The item with the description and annotations that the rules give it.
pub(crate) fn describe(listing: &Raw, description: Option<&str>, annotations: &Object) -> Raw {
    let mut listing = listing.clone();
    if let Some(description) = description {
        listing = changed(&listing, "description", &Raw::string(description));
    }
    if !annotations.is_empty() {
        let own = listing.member("annotations").filter(Raw::is_object).unwrap_or_else(Raw::empty_object);
        let all = annotations.iter().fold(own, |all, (name, value)| changed(&all, name, value));
        listing = changed(&listing, "annotations", &all);
    }
    listing
}

/// A tool of this name with a schema that allows any arguments. `tools/list` gives it in place of
/// the whole definition.
pub(crate) fn outline(name: &str, description: &str, annotations: Option<&Raw>) -> Raw {
    let mut outline = Object::new();
    outline.set("name", Raw::string(name));
    outline.set("description", Raw::string(description));
    outline.set("inputSchema", serde_json::json!({"type": "object"}).into());
    if let Some(annotations) = annotations {
        outline.set("annotations", annotations.clone());
    }
    outline.to_raw()
}

/// The item, marked as stale: its server is not connected, and it may have changed.
pub(crate) fn mark_stale(listing: &Raw) -> Raw {
    let meta = listing.member("_meta").filter(Raw::is_object).unwrap_or_else(Raw::empty_object);
    changed(listing, "_meta", &changed(&meta, STALE, &serde_json::Value::from(true).into()))
}

/// The schema without any `x-mcp-header`. Recursion is bounded by the depth that a [`Raw`] may
/// have.
pub(crate) fn without_headers(schema: &Raw) -> Raw {
    if let Some(mut members) = schema.object() {
        members.remove("x-mcp-header");
        let cleaned = members.iter().map(|(name, value)| (name.to_owned(), without_headers(value)));
        return cleaned.collect::<Object>().to_raw();
    }
    match schema.decode::<Vec<Raw>>() {
        Ok(items) => Raw::array(&items.iter().map(without_headers).collect::<Vec<_>>()),
        Err(_) => schema.clone(),
    }
}

fn changed(object: &Raw, member: &str, value: &Raw) -> Raw {
    object.with(member, value).unwrap_or_else(|| object.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn only_what_the_rules_name_changes() {
        let tool =
            raw(r#"{ "name":"a", "x":[1.50, {"y" : 2}], "annotations":{"z":1e2,"readOnlyHint":false}}"#);
        let more: Object =
            [("readOnlyHint".to_owned(), raw("true")), ("new".to_owned(), raw("1"))].into_iter().collect();
        let described = describe(&renamed(&tool, "name", "s_a"), Some("d"), &more);
        let want = r#"{ "name":"s_a", "x":[1.50, {"y" : 2}], "annotations":{"z":1e2,"readOnlyHint":true,"new":1},"description":"d"}"#;
        assert_eq!(described.as_str(), want);
        let stale = mark_stale(&raw(r#"{"name":"a","_meta":{"ui":1.0}}"#));
        assert_eq!(stale.as_str(), r#"{"name":"a","_meta":{"ui":1.0,"trunkline/stale":true}}"#);
    }

    #[test]
    fn header_keywords_go_and_numbers_stay() {
        let schema =
            raw(r#"{"properties":{"a":{"x-mcp-header":"","maximum":1.50}},"anyOf":[{"x-mcp-header":1},3]}"#);
        let want = r#"{"properties":{"a":{"maximum":1.50}},"anyOf":[{},3]}"#;
        assert_eq!(without_headers(&schema).as_str(), want);
    }
}
