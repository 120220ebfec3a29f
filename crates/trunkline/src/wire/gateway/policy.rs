//! Builds the rules of the policy from the configuration.

use trunkline_auth::Principal;
use trunkline_config::{ArgumentCondition, Policy, PolicyConsent, PolicyEffect, PolicyRule, TimeWindow};
use trunkline_gateway::policy::{ArgumentSpec, Consent, Effect, RuleSet, RuleSpec, WindowSpec};

pub(super) fn rules(policy: &Policy) -> RuleSet {
    RuleSet { default: effect(policy.default), rules: policy.rules.iter().map(rule).collect() }
}

fn rule(rule: &PolicyRule) -> RuleSpec {
    RuleSpec {
        effect: effect(rule.effect),
        name: rule.name.clone(),
        reason: rule.reason.clone(),
        place: rule.origin.as_ref().map(place).unwrap_or_default(),
        callers: rule.callers.iter().map(|text| caller(text)).collect(),
        roles: rule.roles.clone(),
        scopes: rule.scopes.clone(),
        claims: rule.claims.clone(),
        clients: rule.clients.clone(),
        servers: rule.servers.clone(),
        tools: rule.tools.clone(),
        tags: rule.tags.clone(),
        annotations: rule.annotations.clone(),
        arguments: rule.arguments.iter().map(argument).collect(),
        window: rule.when.as_ref().map(window),
        consent: match rule.consent {
            PolicyConsent::Client => Consent::Client,
            PolicyConsent::Operator => Consent::Operator,
        },
    }
}

fn effect(effect: PolicyEffect) -> Effect {
    match effect {
        PolicyEffect::Allow => Effect::Allow,
        PolicyEffect::Deny => Effect::Deny,
        PolicyEffect::Ask => Effect::Ask,
    }
}

/// `<file>:<line>`, or the name of a variable or flag.
pub(crate) fn place(origin: &trunkline_config::Origin) -> String {
    match &origin.position {
        Some(position) => format!("{}:{}", origin.file, position.line),
        None => origin.file.clone(),
    }
}

/// A plain name is the id of an API key, as in roles; anything with a colon or a pattern is
/// compared with the whole id.
fn caller(text: &str) -> String {
    if text.contains(['*', '?', '[', '{', ':']) {
        return text.to_owned();
    }
    Principal::from_rule(text).to_string()
}

fn argument(condition: &ArgumentCondition) -> ArgumentSpec {
    ArgumentSpec {
        at: condition.at.clone(),
        equals: condition.equals.clone(),
        one_of: condition.one_of.clone(),
        glob: condition.glob.clone(),
        min: condition.min.clone(),
        max: condition.max.clone(),
        within: condition.within.clone(),
        exists: condition.exists,
    }
}

fn window(window: &TimeWindow) -> WindowSpec {
    WindowSpec {
        days: window.days.clone(),
        from: window.from.clone(),
        until: window.until.clone(),
        after: window.after.clone(),
        before: window.before.clone(),
        zone: window.zone.clone(),
    }
}
