//! The environment layer: a variable `TRUNKLINE_…` for each setting outside of servers, views and
//! roles.

use crate::{
    jsonc::{Entry, Node, Place, Value},
    keys::{check::choices, nearest, schema},
    problem::{Code, Problem},
    source::{Layer, Sources},
};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Prefix of our variables.
pub(crate) const PREFIX: &str = "TRUNKLINE_";

/// Variables with our prefix that are not settings.
pub const OTHERS: &[&str] = &["TRUNKLINE_LOG", "TRUNKLINE_CONFIG", "TRUNKLINE_KEYCHAIN"];

/// Variables without our prefix that set a key, by the names that other clients use. The variable
/// with our prefix takes precedence: the layer is read in alphabetical order.
const ALIASES: &[(&str, &str)] = &[("MCP_TOOL_CACHE_TTL", "defaults.lists.ttl")];

/// A variable, and the key that it sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    /// The key, such as `limits.bodyBytes`.
    pub key: String,
}

/// All variables that set a key.
pub fn variables() -> Vec<Variable> {
    let mut found = Vec::new();
    gather(&schema(), &mut Vec::new(), &mut found);
    found
}

/// The settings in the environment, one tree per variable.
pub(crate) fn layer(
    environment: &BTreeMap<String, String>,
    sources: &mut Sources,
) -> (Vec<Node>, Vec<Problem>) {
    let mut known = variables();
    known.extend(ALIASES.iter().map(|(name, key)| Variable { name: (*name).into(), key: (*key).into() }));
    let (mut trees, mut problems) = (Vec::new(), Vec::new());
    let is_alias = |name: &str| ALIASES.iter().any(|(alias, _)| *alias == name);
    let ours = environment.iter().filter(|(name, value)| {
        let is_ours = name.starts_with(PREFIX) && !OTHERS.contains(&name.as_str());
        is_ours || is_alias(name) && !value.is_empty()
    });
    for (name, value) in ours {
        let number = sources.named(Layer::Environment, name, value);
        let place = Place { source: number, start: 0, end: 0 };
        if let Some(variable) = known.iter().find(|variable| variable.name == *name) {
            trees.push(tree(&variable.key, value, place));
            continue;
        }
        let mut problem = sources.problem(Code::UnknownVariable, place, "", format!("`{name}` sets nothing"));
        let near = nearest(name, known.iter().map(|variable| variable.name.as_str()));
        problem.suggestion = near.map(|near| format!("did you mean `{near}`?"));
        problems.push(problem);
    }
    (trees, problems)
}

/// A tree with a single value.
pub(crate) fn single(key: &str, node: Node) -> Node {
    let place = node.place;
    key.rsplit('.').fold(node, |node, part| Node {
        value: Value::Table(vec![Entry { key: part.to_owned(), key_place: place, node }]),
        place,
    })
}

fn tree(key: &str, text: &str, place: Place) -> Node {
    let whole = schema();
    let schema = key.split('.').fold(&*whole, |schema, part| &schema["properties"][part]);
    single(key, Node::from_json(value(text, schema), place))
}

/// Converts a variable's text to the kind of value that the key expects. A text that does not
/// match stays a string, so that the check reports it.
fn value(text: &str, schema: &Json) -> Json {
    let takes = |name: &str| match &schema["type"] {
        Json::String(only) => only == name,
        Json::Array(several) => several.iter().any(|one| one == name),
        _ => false,
    };
    if text == "null" && takes("null") {
        return Json::Null;
    }
    if takes("array") {
        return text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Json::from).collect();
    }
    let plain = takes("integer") || takes("number") || takes("boolean");
    match serde_json::from_str::<Json>(text.trim()) {
        Ok(read @ (Json::Number(_) | Json::Bool(_))) if plain => read,
        _ => text.into(),
    }
}

fn gather(schema: &Json, path: &mut Vec<String>, found: &mut Vec<Variable>) {
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        if key.starts_with('$') {
            continue;
        }
        path.push(key.clone());
        let is_single = schema["type"] != "object"
            && schema["type"]
                .as_array()
                .is_none_or(|types| types.iter().any(|kind| kind != "object" && kind != "null"));
        if is_single || !choices(schema).is_empty() {
            let parts: Vec<String> = path.iter().map(|part| upper_snake(part)).collect();
            found.push(Variable { name: format!("{PREFIX}{}", parts.join("_")), key: path.join(".") });
        }
        gather(schema, path, found);
        path.pop();
    }
}

fn upper_snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_uppercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_single_setting_has_one_variable_of_its_own() {
        let all = variables();
        let mut names: Vec<&str> = all.iter().map(|variable| variable.name.as_str()).collect();
        for (name, key) in [
            ("TRUNKLINE_LISTEN", "listen"),
            ("TRUNKLINE_LIMITS_BODY_BYTES", "limits.bodyBytes"),
            ("TRUNKLINE_AUTH_JWT_ROLES_CLAIM", "auth.jwt.rolesClaim"),
            ("TRUNKLINE_DEFAULTS_TIMEOUT", "defaults.timeout"),
            ("TRUNKLINE_DEFAULTS_TIMEOUT_REQUEST", "defaults.timeout.request"),
            ("TRUNKLINE_DEFAULTS_SESSIONS", "defaults.sessions"),
        ] {
            assert!(all.contains(&Variable { name: name.to_owned(), key: key.to_owned() }), "{name}");
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(
            !names.iter().any(|name| name.contains("SERVERS") || name.contains("VIEWS")),
            "servers come from files only"
        );
    }
}
