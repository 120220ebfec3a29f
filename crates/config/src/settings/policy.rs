//! Settings of the policy: rules that allow, deny or ask.

use crate::{keys::kind, source::Origin};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rules that decide which calls are allowed, denied, or put to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// The effect where no rule matches: `allow`, `deny` or `ask`.
    pub default: PolicyEffect,
    /// Rules, read from top to bottom: the first that matches decides. A rule matches if all of
    /// its conditions hold; a condition that is not set always holds. Roles are checked before
    /// the rules: what they do not allow, no rule can allow.
    #[schemars(length(max = 1000))]
    pub rules: Vec<PolicyRule>,
}

/// The effect of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PolicyEffect {
    /// The call is made.
    Allow,
    /// The call is refused. Tools that a caller can never use are hidden from it.
    Deny,
    /// The call waits until a person agrees.
    Ask,
}

/// One rule of the policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyRule {
    /// `allow`, `deny` or `ask`. Required.
    pub effect: PolicyEffect,
    /// Name of the rule, for logs and explanations.
    #[serde(default)]
    #[schemars(length(min = 1, max = 128))]
    pub name: Option<String>,
    /// Shown to the caller that is refused, and to the person who is asked.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    pub reason: Option<String>,
    /// Callers, by id or pattern: `local`, `key:<id>`, `jwt:<issuer>#<subject>`.
    #[serde(default)]
    #[schemars(schema_with = "kind::some_globs")]
    pub callers: Vec<String>,
    /// Roles, named by a key or token, or given by `roles`; the caller must have one of them.
    #[serde(default)]
    #[schemars(schema_with = "kind::some_names")]
    pub roles: Vec<String>,
    /// Token scopes; the caller must have one of them.
    #[serde(default)]
    #[schemars(schema_with = "kind::some_names")]
    pub scopes: Vec<String>,
    /// Claims of the caller's token, and patterns of which one must match; dots reach into
    /// objects.
    #[serde(default)]
    #[schemars(schema_with = "claims")]
    pub claims: BTreeMap<String, Vec<String>>,
    /// Names of clients, or patterns. A client can give itself any name, so this alone protects
    /// nothing.
    #[serde(default)]
    #[schemars(schema_with = "kind::some_globs")]
    pub clients: Vec<String>,
    /// Servers, by name or pattern.
    #[serde(default)]
    #[schemars(schema_with = "kind::some_globs")]
    pub servers: Vec<String>,
    /// Tools and prompts by public name (`<server>_<tool>`), resources as `<server>_<uri>`, or
    /// patterns. Beside `servers`, also the server's own names.
    #[serde(default)]
    #[schemars(schema_with = "kind::some_globs")]
    pub tools: Vec<String>,
    /// Tags, of which the tool has one: those set by `mcp.servers.<name>.tools`, and those of the
    /// built-in tools.
    #[serde(default)]
    #[schemars(schema_with = "kind::some_names")]
    pub tags: Vec<String>,
    /// Annotations of the tool, as set by `mcp.servers.<name>.tools` or by the built-in tools.
    /// Hints of other servers are not believed: without a setting, a tool counts as one that
    /// destroys (`readOnlyHint: false`, `destructiveHint: true`).
    #[serde(default)]
    pub annotations: serde_json::Map<String, serde_json::Value>,
    /// Conditions on arguments, all of which must hold.
    #[serde(default)]
    #[schemars(length(min = 1, max = 32))]
    pub arguments: Vec<ArgumentCondition>,
    /// The time in which the rule applies.
    #[serde(default)]
    pub when: Option<TimeWindow>,
    /// The person to ask: `client`, the person at the client, or an operator if that client
    /// cannot ask; `operator`, always an operator. Default: `client`.
    #[serde(default)]
    pub consent: PolicyConsent,
    /// The place of the rule in its file.
    #[serde(skip)]
    pub origin: Option<Origin>,
}

/// The person who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PolicyConsent {
    #[default]
    Client,
    Operator,
}

/// A condition on one argument. A list holds if each of its values does. A value that cannot be
/// judged, such as a text where a number is compared, counts against the caller: rules that deny
/// or ask apply, rules that allow do not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArgumentCondition {
    /// JSON Pointer to the argument, such as `/path` or `/items/0/name`.
    #[schemars(schema_with = "kind::pointer")]
    pub at: String,
    /// The value that it must equal.
    #[serde(default)]
    pub equals: Option<serde_json::Value>,
    /// Values, of which it must equal one.
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000))]
    pub one_of: Vec<serde_json::Value>,
    /// Pattern that its text must match.
    #[serde(default)]
    #[schemars(schema_with = "kind::glob")]
    pub glob: Option<String>,
    /// Least number.
    #[serde(default)]
    #[schemars(schema_with = "kind::number")]
    pub min: Option<serde_json::Number>,
    /// Greatest number.
    #[serde(default)]
    #[schemars(schema_with = "kind::number")]
    pub max: Option<serde_json::Number>,
    /// Directory that its path must lie in. Paths are judged by their text: one with `..`, `~` or
    /// `\`, or a relative one where the directory is absolute, cannot be judged.
    #[serde(default)]
    #[schemars(length(min = 1, max = 4096))]
    pub within: Option<String>,
    /// True if it must be there; null counts as missing.
    #[serde(default)]
    pub exists: Option<bool>,
}

/// A time window; all parts that are set must hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimeWindow {
    /// Days of the week: `mon`, `tue`, … Default: all.
    #[serde(default)]
    #[schemars(schema_with = "kind::some_names")]
    pub days: Vec<String>,
    /// Start of the time of day, such as `08:00`. Default: `00:00`.
    #[serde(default)]
    pub from: Option<String>,
    /// End of the time of day, such as `18:00`. If it is not after `from`, the window goes on past
    /// midnight. Default: `24:00`.
    #[serde(default)]
    pub until: Option<String>,
    /// First moment, such as `2027-01-31T12:00:00Z`.
    #[serde(default)]
    pub after: Option<String>,
    /// End, as a date and time.
    #[serde(default)]
    pub before: Option<String>,
    /// Time zone of `days`, `from` and `until`, such as `Europe/Berlin`. Default: `UTC`.
    #[serde(default)]
    pub zone: Option<String>,
}

fn claims(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": "object",
        "additionalProperties": {
            "type": "array", "minItems": 1, "maxItems": 1000,
            "items": {"type": "string", "x-kind": "glob", "minLength": 1, "maxLength": 256},
        },
        "maxProperties": 32,
    })
}
