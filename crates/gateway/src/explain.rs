//! Explanations: the chain of decisions that a call would meet now.

use serde::Serialize;
use trunkline_protocol::Fault;

/// A part of the way from the caller to the server, in the order in which a call passes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Configuration,
    Identity,
    Limits,
    Hooks,
    View,
    /// The filters of the server and the view.
    Filter,
    Roles,
    Policy,
    /// The comparison with the lock file.
    Lock,
    /// The check of the arguments.
    Arguments,
    Consent,
    Breaker,
    /// Rate, slots and connection of the server.
    Upstream,
}

/// The decision of a stage about the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    Passes,
    Stops,
    /// A person must agree first.
    Asks,
    /// It is decided only when the call is made.
    Unknown,
    /// An earlier stage leaves nothing to decide.
    Unreached,
}

/// One stage, its decision and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    pub stage: Stage,
    pub decision: Decision,
    pub text: String,
    /// The rule that decided, with its file and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The key of the setting that decided, such as `roles.admin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
    /// The code of the error that the caller gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The decision of all stages together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    pub decision: Decision,
    /// The first stage that does not let the call pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl Link {
    pub fn new(stage: Stage, decision: Decision, text: impl Into<String>) -> Self {
        Self { stage, decision, text: text.into(), rule: None, setting: None, code: None }
    }

    pub fn passes(stage: Stage, text: impl Into<String>) -> Self {
        Self::new(stage, Decision::Passes, text)
    }

    /// The stage refuses the call with this fault.
    pub fn stops(stage: Stage, fault: &Fault) -> Self {
        Self::new(stage, Decision::Stops, fault.message()).with_code(fault.entry().code)
    }

    pub fn unreached(stage: Stage) -> Self {
        Self::new(stage, Decision::Unreached, "not reached")
    }

    #[must_use]
    pub fn with_code(self, code: impl Into<String>) -> Self {
        Self { code: Some(code.into()), ..self }
    }

    #[must_use]
    pub fn by_rule(self, rule: impl Into<String>) -> Self {
        Self { rule: Some(rule.into()), ..self }
    }

    #[must_use]
    pub fn by_setting(self, setting: impl Into<String>) -> Self {
        Self { setting: Some(setting.into()), ..self }
    }
}

impl Verdict {
    /// The verdict of a chain: the first stage that stops or asks decides.
    pub fn of(links: &[Link]) -> Self {
        let decides = |link: &&Link| matches!(link.decision, Decision::Stops | Decision::Asks);
        let unsure = |link: &&Link| link.decision == Decision::Unknown;
        match links.iter().find(decides).or_else(|| links.iter().find(unsure)) {
            Some(link) => Self { decision: link.decision, stage: Some(link.stage), code: link.code.clone() },
            None => Self { decision: Decision::Passes, stage: None, code: None },
        }
    }
}
