//! One rule, compiled.

use super::{
    Asker, RecordedArguments,
    condition::Condition,
    filter::BadGlob,
    pattern::Patterns,
    rules::{Consent, Effect, RuleSpec},
    truth::Truth,
    window::Window,
};
use serde_json::{Map, Value};
use std::time::SystemTime;
use trunkline_protocol::Raw;

/// A compiled [`RuleSpec`].
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) effect: Effect,
    pub(crate) name: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) place: String,
    pub(crate) consent: Consent,
    servers: Patterns,
    tools: Patterns,
    tags: Vec<String>,
    annotations: Map<String, Value>,
    callers: Patterns,
    pub(super) roles: Vec<String>,
    scopes: Vec<String>,
    claims: Vec<(String, Patterns)>,
    clients: Patterns,
    window: Option<Window>,
    pub(crate) arguments: Vec<Condition>,
}

/// An item of a server, as far as rules can match it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) server: &'a str,
    /// The name that rules match: `<server>_<what>`.
    pub(crate) subject: &'a str,
    /// The server's own name or URI.
    pub(crate) own: &'a str,
    /// The subject before it was cut or renamed.
    pub(crate) former: &'a str,
    pub(crate) traits: Traits<'a>,
}

/// Facts about a tool besides its name.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Traits<'a> {
    Tool(&'a ToolTraits),
    /// It is a prompt, a resource or a method.
    NotATool,
    /// It may be a tool.
    Unknown,
}

/// Tags and annotations of a tool, as far as the operator vouches for them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ToolTraits {
    pub(crate) tags: Vec<String>,
    pub(crate) annotations: Map<String, Value>,
}

/// A rule cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("policy rule {number}{place}: {reason}")]
pub struct BadRule {
    /// Counted from 1.
    pub number: usize,
    /// ` (file:line)`, if it is known.
    pub place: String,
    pub reason: String,
}

impl Rule {
    pub(super) fn new(number: usize, spec: &RuleSpec) -> Result<Self, BadRule> {
        Self::compile(spec).map_err(|reason| BadRule {
            number: number + 1,
            place: if spec.place.is_empty() { String::new() } else { format!(" ({})", spec.place) },
            reason,
        })
    }

    fn compile(spec: &RuleSpec) -> Result<Self, String> {
        let patterns = |globs: &[String]| Patterns::new(globs).map_err(|bad: BadGlob| bad.to_string());
        let claim = |(name, globs): (&String, &Vec<String>)| Ok((name.clone(), patterns(globs)?));
        Ok(Self {
            effect: spec.effect,
            name: spec.name.clone(),
            reason: spec.reason.clone(),
            place: spec.place.clone(),
            consent: spec.consent,
            servers: patterns(&spec.servers)?,
            tools: patterns(&spec.tools)?,
            tags: spec.tags.clone(),
            annotations: spec.annotations.clone(),
            callers: patterns(&spec.callers)?,
            roles: spec.roles.clone(),
            scopes: spec.scopes.clone(),
            claims: spec.claims.iter().map(claim).collect::<Result<_, String>>()?,
            clients: patterns(&spec.clients)?,
            window: spec.window.as_ref().map(Window::new).transpose()?,
            arguments: spec.arguments.iter().map(Condition::new).collect::<Result<_, _>>()?,
        })
    }

    /// True if the rule concerns this item.
    pub(super) fn targets(&self, target: &Target<'_>) -> Truth {
        if !self.servers.admit(target.server) || !self.names(target) {
            return Truth::No;
        }
        if self.tags.is_empty() && self.annotations.is_empty() {
            return Truth::Yes;
        }
        match target.traits {
            Traits::Tool(traits) => traits.have(&self.tags, &self.annotations).into(),
            Traits::NotATool => Truth::No,
            Traits::Unknown => Truth::Unknown,
        }
    }

    /// As [`Self::targets`], for an item that the rule concerns by its names. Its traits may still
    /// be unknown.
    pub(super) fn targets_certainly(&self, target: &Target<'_>) -> Truth {
        let needs_traits = !self.tags.is_empty() || !self.annotations.is_empty();
        if needs_traits && matches!(target.traits, Traits::Unknown) { Truth::Unknown } else { Truth::Yes }
    }

    /// A rule that denies or asks also matches the further names of an item, so that neither a
    /// long name nor a rename can bypass it. With `servers`, the server's own names are meant, too.
    fn names(&self, target: &Target<'_>) -> bool {
        let further = self.effect != Effect::Allow;
        self.tools.admit(target.subject)
            || (further || !self.servers.is_empty()) && self.tools.match_any(target.own)
            || further && self.tools.match_any(target.former)
    }

    /// True if the rule could concern an item of a server whose items are unknown.
    pub(super) fn may_target(&self, server: &str, prefix: &str) -> bool {
        self.servers.admit(server)
            && (self.tools.is_empty() || !self.servers.is_empty() || self.tools.may_match(prefix))
    }

    /// True if the rule concerns all items of a server.
    pub(super) fn targets_all(&self, server: &str) -> bool {
        self.servers.admit(server)
            && (self.tools.is_empty() || self.tools.match_any(""))
            && self.tags.is_empty()
            && self.annotations.is_empty()
    }

    /// True if the rule concerns this caller now.
    pub(super) fn concerns(&self, asker: &Asker<'_>, now: SystemTime) -> Truth {
        let caller = asker.caller;
        if !self.callers.admit(&caller.id) || !self.window.as_ref().is_none_or(|window| window.contains(now))
        {
            return Truth::No;
        }
        let has_all = (self.roles.is_empty() || self.roles.iter().any(|role| asker.has_role(role)))
            && (self.scopes.is_empty() || self.scopes.iter().any(|scope| caller.scopes.contains(scope)))
            && self.claims.iter().all(|(name, patterns)| {
                caller.claims.get(name).is_some_and(|values| values.iter().any(|value| patterns.admit(value)))
            });
        if !has_all {
            return if asker.is_whole { Truth::No } else { Truth::Unknown };
        }
        if self.clients.is_empty() {
            return Truth::Yes;
        }
        asker.client.as_deref().map_or(Truth::Unknown, |client| self.clients.match_any(client).into())
    }

    /// True if the arguments of a call meet all conditions.
    pub(super) fn meets(&self, arguments: Option<&Raw>) -> Truth {
        self.arguments.iter().fold(Truth::Yes, |so_far, condition| {
            if so_far == Truth::No { so_far } else { so_far.and(condition.judge(arguments)) }
        })
    }

    /// True if the arguments of a recorded call meet all conditions; unknown if that depends on
    /// values that were not recorded.
    pub(super) fn meets_recorded(&self, names: &RecordedArguments) -> Truth {
        self.arguments.iter().fold(Truth::Yes, |so_far, condition| {
            let known = condition.argument().is_some_and(|argument| names.lack(argument));
            so_far.and(if known { condition.judge(None) } else { Truth::Unknown })
        })
    }

    pub(super) fn reads_client(&self) -> bool {
        !self.clients.is_empty()
    }

    pub(super) fn has_window(&self) -> bool {
        self.window.is_some()
    }

    /// The name for people: its own name, or its number.
    pub(crate) fn label(&self, number: usize) -> String {
        self.name.as_ref().map_or_else(|| format!("rule {}", number + 1), |name| format!("rule `{name}`"))
    }
}

impl ToolTraits {
    /// True if the tool has one of the tags and all of the annotations.
    fn have(&self, tags: &[String], annotations: &Map<String, Value>) -> bool {
        (tags.is_empty() || tags.iter().any(|tag| self.tags.contains(tag)))
            && annotations.iter().all(|(name, value)| self.annotation(name) == *value)
    }

    /// The value of an annotation. Where the operator says nothing, the worst case of the
    /// specification holds; the server's own hints are not trusted.
    fn annotation(&self, name: &str) -> Value {
        if let Some(value) = self.annotations.get(name) {
            return value.clone();
        }
        let reads_only = || self.annotations.get("readOnlyHint") == Some(&Value::Bool(true));
        match name {
            "readOnlyHint" => Value::Bool(false),
            "destructiveHint" => Value::Bool(!reads_only()),
            "idempotentHint" => Value::Bool(reads_only()),
            "openWorldHint" => Value::Bool(true),
            _ => Value::Null,
        }
    }
}
