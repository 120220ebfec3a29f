//! The file of expectations.

use crate::{failure::Failure, wire::gateway::explain::Wanted};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, path::Path};
use trunkline_config::read_regular_text;

/// Maximum size of a file.
const MAX_FILE: u64 = 16 * 1024 * 1024;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    expect: Vec<Expectation>,
}

/// One row of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectation {
    #[serde(default)]
    pub(super) name: Option<String>,
    pub(super) tool: String,
    pub(super) decision: Expected,
    /// The name of the rule that must decide.
    #[serde(default)]
    pub(super) rule: Option<String>,
    #[serde(default)]
    view: Option<String>,
    #[serde(default)]
    caller: Option<String>,
    #[serde(default)]
    roles: Vec<String>,
    #[serde(default)]
    scopes: Vec<String>,
    #[serde(default)]
    claims: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    client: Option<String>,
    #[serde(default)]
    arguments: Map<String, Value>,
    /// The time of the call, RFC 3339; now if it is missing.
    #[serde(default)]
    pub(super) at: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Expected {
    Allow,
    Ask,
    Deny,
    Hidden,
}

impl Expected {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Hidden => "hidden",
        }
    }
}

impl Expectation {
    pub(super) fn wanted(&self) -> Wanted {
        Wanted {
            tool: self.tool.clone(),
            view: self.view.clone(),
            caller: self.caller.clone(),
            roles: self.roles.clone(),
            scopes: self.scopes.clone(),
            claims: self.claims.clone(),
            client: self.client.clone(),
            arguments: self.arguments.clone(),
        }
    }
}

pub(super) fn read(path: &Path) -> Result<Vec<Expectation>, Failure> {
    let unusable = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", path.display()));
    let text = read_regular_text(path, MAX_FILE).map_err(|error| unusable(&error))?;
    let file: File = serde_json::from_str(&text).map_err(|error| {
        unusable(&error)
            .hint("expected {\"expect\": [{\"tool\": …, \"decision\": \"allow\"}]}; see docs/policy.md")
    })?;
    if file.expect.is_empty() {
        return Err(unusable(&"it expects nothing"));
    }
    Ok(file.expect)
}
