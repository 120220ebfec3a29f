//! The rules of a policy, as plain data.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;

/// Rules, read from top to bottom: the first that matches decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSet {
    /// The effect if no rule matches.
    pub default: Effect,
    pub rules: Vec<RuleSpec>,
}

/// The effect of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Effect {
    #[default]
    Allow,
    Deny,
    /// A person must agree to the call.
    Ask,
}

/// One rule. An empty list or object matches everything; all other conditions must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSpec {
    pub effect: Effect,
    /// The name of the rule, for people.
    pub name: Option<String>,
    /// Shown to the caller that is refused, and to the person who is asked.
    pub reason: Option<String>,
    /// The file and line of the rule, for people.
    pub place: String,
    pub callers: Vec<String>,
    pub roles: Vec<String>,
    pub scopes: Vec<String>,
    /// Claims of the caller's token, and patterns of which one must match.
    pub claims: BTreeMap<String, Vec<String>>,
    pub clients: Vec<String>,
    pub servers: Vec<String>,
    pub tools: Vec<String>,
    pub tags: Vec<String>,
    pub annotations: Map<String, Value>,
    pub arguments: Vec<ArgumentSpec>,
    pub window: Option<WindowSpec>,
    /// The person to ask, if the effect is to ask.
    pub consent: Consent,
}

/// The person who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Consent {
    /// The person at the client, or an operator if the client cannot ask.
    #[default]
    Client,
    /// An operator, never the client.
    Operator,
}

/// A condition on one argument. All tests that are set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArgumentSpec {
    /// JSON Pointer (RFC 6901) into the arguments.
    pub at: String,
    pub equals: Option<Value>,
    pub one_of: Vec<Value>,
    pub glob: Option<String>,
    pub min: Option<Number>,
    pub max: Option<Number>,
    /// The argument is a path in this directory.
    pub within: Option<String>,
    pub exists: Option<bool>,
}

/// A time window. All parts that are set must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowSpec {
    /// Days of the week in English, at least three letters; empty: every day.
    pub days: Vec<String>,
    /// Time of day, `HH:MM`. A window whose end is not after its start goes on past midnight.
    pub from: Option<String>,
    pub until: Option<String>,
    /// First moment and end, RFC 3339.
    pub after: Option<String>,
    pub before: Option<String>,
    /// IANA name of the time zone; `None`: UTC.
    pub zone: Option<String>,
}

impl Effect {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }
}
