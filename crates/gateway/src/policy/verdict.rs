//! Verdict: the decision about one call.

use super::{
    Applicable, Asker, Permit, Policy,
    rule::{Rule, Target, Traits},
    rule_table::Ruling,
    rules::{Consent, Effect},
    subject,
};
use crate::catalog::{Route, Server};
use trunkline_protocol::{Call, Fault, FaultKind, Raw, ServerName};

/// The decision about one call that would be sent to a server.
#[derive(Debug)]
pub(crate) enum Verdict<'a> {
    Allowed(Permit<'a>),
    /// A person must agree first.
    Ask(Asked),
    Denied(Denial),
}

/// The decision about one call, without permission to make it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    Allowed,
    Ask(Asked),
    Denied(Denial),
}

/// A call that a person has to agree to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    pub server: String,
    /// The name that rules match: `<server>_<what>`.
    pub subject: String,
    /// The rule that asks, for people.
    pub rule: String,
    pub reason: Option<String>,
    pub consent: Consent,
}

/// The reason why a call is denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Denial {
    /// No call of the item could be allowed: it looks as if it did not exist.
    Hidden,
    /// This call is denied, others of the same item may be allowed.
    Call { reason: Option<String>, detail: String },
}

impl Denial {
    /// The fault for the caller; `unknown` is that of an item that does not exist.
    pub fn fault(self, unknown: impl FnOnce() -> Fault) -> Fault {
        match self {
            Self::Hidden => unknown(),
            Self::Call { reason, detail } => {
                let text = match reason {
                    Some(reason) => format!("the policy does not allow this call: {reason}"),
                    None => "the policy does not allow this call with these arguments".to_owned(),
                };
                Fault::new(FaultKind::DeniedByPolicy, text).with_detail(detail)
            }
        }
    }
}

impl Policy {
    /// Decides about the use of a listed item.
    pub(crate) fn judge<'a>(&self, call: &Call, route: &'a Route) -> Verdict<'a> {
        if self.is_open() {
            return Verdict::Allowed(Permit::new(route.server()));
        }
        let arguments = || call.params.as_ref().and_then(|params| params.member("arguments"));
        self.access(call, (&route.target(), Some(route)), arguments).for_server(route.server())
    }

    /// Decides about the use of a resource, listed or not.
    pub(crate) fn judge_resource<'a>(&self, call: &Call, server: &'a Server, uri: &str) -> Verdict<'a> {
        if self.is_open() {
            return Verdict::Allowed(Permit::new(server));
        }
        let subject = subject(server.name().as_ref(), uri);
        let target = Target::unlisted(server.name(), uri, &subject);
        self.access(call, (&target, None), || None).for_server(server)
    }

    /// Decides about the use of an item; `route` keeps the rules that concern it.
    pub(crate) fn access(
        &self,
        call: &Call,
        item: (&Target<'_>, Option<&Route>),
        arguments: impl FnOnce() -> Option<Raw>,
    ) -> Access {
        self.decide(&self.asker(call), item, arguments).0
    }

    /// The decision, and the number of the rule that made it, if one did.
    pub(super) fn decide(
        &self,
        asker: &Asker<'_>,
        (target, route): (&Target<'_>, Option<&Route>),
        arguments: impl FnOnce() -> Option<Raw>,
    ) -> (Access, Option<usize>) {
        if !self.roles.admit(asker.caller, target.subject, &[target.own, target.former]) {
            return (Access::Denied(Denial::Hidden), None);
        }
        if self.table.is_open() {
            return (Access::Allowed, None);
        }
        self.with_rules(target, route, |rules| {
            let arguments = if self.table.reads_arguments(rules) { arguments() } else { None };
            let ruling = self.table.decide(rules, target, asker, arguments.as_ref());
            (self.access_by(ruling, rules, target, asker), ruling.rule)
        })
    }

    pub(super) fn access_by(
        &self,
        ruling: Ruling,
        rules: &Applicable,
        target: &Target<'_>,
        asker: &Asker<'_>,
    ) -> Access {
        let rule = ruling.rule.and_then(|number| Some((number, self.table.rule(number)?)));
        match ruling.effect {
            Effect::Allow => Access::Allowed,
            Effect::Ask => Access::Ask(Asked::new(target, rule)),
            Effect::Deny if !self.table.could_allow(rules, target, asker) => Access::Denied(Denial::Hidden),
            Effect::Deny => Access::Denied(Denial::Call {
                reason: rule.and_then(|(_, rule)| rule.reason.clone()),
                detail: described(rule),
            }),
        }
    }
}

impl Access {
    fn for_server(self, server: &Server) -> Verdict<'_> {
        match self {
            Self::Allowed => Verdict::Allowed(Permit::new(server)),
            Self::Ask(asked) => Verdict::Ask(asked),
            Self::Denied(denial) => Verdict::Denied(denial),
        }
    }
}

impl Asked {
    fn new(target: &Target<'_>, rule: Option<(usize, &Rule)>) -> Self {
        Self {
            server: target.server.to_owned(),
            subject: target.subject.to_owned(),
            rule: described(rule),
            reason: rule.and_then(|(_, rule)| rule.reason.clone()),
            consent: rule.map(|(_, rule)| rule.consent).unwrap_or_default(),
        }
    }
}

/// A rule with its place, for logs and operators.
pub(super) fn described(rule: Option<(usize, &Rule)>) -> String {
    match rule {
        None => "`policy.default`".to_owned(),
        Some((number, rule)) if rule.place.is_empty() => rule.label(number),
        Some((number, rule)) => format!("{} ({})", rule.label(number), rule.place),
    }
}

impl<'a> Target<'a> {
    /// Something of a server that is not listed: a resource or a method.
    pub(crate) fn unlisted(server: &'a ServerName, what: &'a str, subject: &'a str) -> Self {
        Self { server: server.as_ref(), subject, own: what, former: what, traits: Traits::NotATool }
    }
}
