//! The client capabilities that a server's revision knows.

use serde_json::{Value, json};
use trunkline_protocol::{Raw, Revision, method};

/// The client capabilities to declare to a server of this revision. Unknown ones stay, because
/// they may be private extensions.
pub(crate) fn declarable(capabilities: &Raw, revision: Revision) -> Raw {
    let mut declared = capabilities.object().unwrap_or_default();
    // We do not relay tasks that a server starts on the client, so they are not declared.
    declared.remove("tasks");
    if !revision.has_elicitation() {
        declared.remove("elicitation");
    }
    if !revision.has_url_elicitation() {
        if let Some(elicitation) = declared.get("elicitation") {
            let only_url = elicitation.member("url").is_some() && elicitation.member("form").is_none();
            if only_url {
                declared.remove("elicitation");
            } else {
                declared.set("elicitation", Raw::empty_object());
            }
        }
        let sampling = declared.get("sampling").and_then(|sampling| sampling.without(&["tools", "context"]));
        if let Some(sampling) = sampling {
            declared.set("sampling", sampling);
        }
    }
    declared.to_raw()
}

/// The capability that a question needs.
pub(crate) fn needed_for(question: &str, params: Option<&Raw>) -> Option<Value> {
    let capability = method::capability_for(question)?;
    let mode = params.and_then(|params| params.text_of("mode"));
    let by_url = question == method::ELICIT && mode.as_deref() == Some("url");
    let inner = if by_url { json!({"url": {}}) } else { json!({}) };
    Some(json!({capability: inner}))
}

/// True if these capabilities include those that a question needs.
pub(crate) fn covers(capabilities: &Value, needed: &Value) -> bool {
    match (capabilities, needed) {
        (Value::Object(have), Value::Object(need)) => {
            need.iter().all(|(name, inner)| have.get(name).is_some_and(|own| covers(own, inner)))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_server_hears_only_of_what_it_knows() {
        let declared = |all: &Raw, revision| declarable(all, revision).decode::<Value>().unwrap();
        let all: Raw = json!({
            "roots": {"listChanged": true}, "sampling": {"tools": {}}, "tasks": {}, "x": 1,
            "elicitation": {"form": {}, "url": {}}
        })
        .into();
        assert_eq!(
            declared(&all, Revision::V2025_06_18),
            json!({"roots": {"listChanged": true}, "sampling": {}, "elicitation": {}, "x": 1})
        );
        assert!(declared(&all, Revision::V2025_03_26).get("elicitation").is_none());
        assert_eq!(declared(&all, Revision::V2025_11_25)["elicitation"], json!({"form": {}, "url": {}}));
        let url = json!({"elicitation": {"url": {}}}).into();
        assert_eq!(declared(&url, Revision::V2025_06_18), json!({}));
    }

    #[test]
    fn u06_a_question_needs_its_capability() {
        let url = Raw::from(json!({"mode": "url"}));
        let have = json!({"elicitation": {}});
        assert!(covers(&have, &needed_for(method::ELICIT, None).unwrap()));
        assert!(!covers(&have, &needed_for(method::ELICIT, Some(&url)).unwrap()));
        assert!(!covers(&have, &needed_for(method::CREATE_MESSAGE, None).unwrap()));
    }
}
