//! Ignores that a server's author puts into the `_meta` of a tool, resource or prompt.

use super::finding::Ignored;
use crate::rule::{Group, Rule};
use serde_json::Value;

/// The `_meta` key; its value is an object that maps rule names to reasons.
pub const LINT_IGNORE: &str = "dev.trunkline/lint-ignore";

/// The reason in the nearest enclosing `_meta`, if the rule can be ignored this way. A server
/// cannot ignore security rules about itself.
pub(super) fn find(rule: &Rule, root: &Value, pointer: &str) -> Option<Ignored> {
    if matches!(rule.group, Group::Security | Group::Auth | Group::Config) {
        return None;
    }
    let mut at = pointer;
    loop {
        let reason =
            root.pointer(at).and_then(|value| value.get("_meta")?.get(LINT_IGNORE)?.get(rule.name)?.as_str());
        if let Some(reason) = reason.filter(|reason| !reason.trim().is_empty()) {
            return Some(Ignored { by: "inline".to_owned(), reason: reason.to_owned() });
        }
        at = &at[..at.rfind('/')?];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;
    use serde_json::json;

    #[test]
    fn the_nearest_reason_counts_and_an_empty_one_does_not() {
        let rule = rules::find("tool-description").unwrap();
        let reason =
            |text: &str| json!({"result": {"tools": [{"_meta": {LINT_IGNORE: {"tool-description": text}}}]}});
        let found = find(rule, &reason("hidden on purpose"), "/result/tools/0/description").unwrap();
        assert_eq!((found.by.as_str(), found.reason.as_str()), ("inline", "hidden on purpose"));
        assert_eq!(find(rule, &reason(" "), "/result/tools/0/description"), None);
        assert_eq!(find(rules::find("id-echo").unwrap(), &reason("x"), "/result/tools/0"), None);
    }
}
