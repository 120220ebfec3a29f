//! Explanations: the decisions of the policy with the role and the rule that made them.

use super::{Access, Asker, Denial, Policy, RoleVerdict, rule::Target, verdict::described};
use crate::catalog::Route;
use std::{collections::BTreeSet, time::SystemTime};
use trunkline_protocol::{Call, Raw};

/// A decision with its reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Explained {
    pub(crate) access: Access,
    pub(crate) roles: RoleVerdict,
    /// The rule, or the default; `None` if the roles decided.
    pub(crate) rule: Option<String>,
}

/// Everything that is known of a recorded call.
#[derive(Debug, Clone)]
pub struct RecordedCall {
    pub call: Call,
    pub at: SystemTime,
    /// True if roles, scopes and claims of the caller are known.
    pub is_caller_whole: bool,
    pub arguments: RecordedArguments,
}

/// The arguments of a recorded call: their names, without values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedArguments {
    pub names: BTreeSet<String>,
    /// False if there were more arguments than the record names.
    pub is_whole: bool,
}

impl RecordedArguments {
    /// True if the call had no such argument.
    pub(super) fn lack(&self, name: &str) -> bool {
        self.is_whole && !self.names.contains(name)
    }
}

impl Policy {
    /// Decides like [`Policy::access`], at this time if it is given, and tells why.
    pub(crate) fn explain(
        &self,
        call: &Call,
        at: Option<SystemTime>,
        (target, route): (&Target<'_>, Option<&Route>),
    ) -> Explained {
        let asker = Asker { at, ..self.asker(call) };
        let arguments = || call.params.as_ref().and_then(|params: &Raw| params.member("arguments"));
        let (access, rule) = self.decide(&asker, (target, route), arguments);
        let roles = self.roles.judge(&call.caller, target.subject, &[target.own, target.former]);
        let by_rules = matches!(roles, RoleVerdict::Open | RoleVerdict::Allowed(_)) && !self.table.is_open();
        Explained { access, roles, rule: by_rules.then(|| self.described(rule)) }
    }

    /// All decisions that are possible about a recorded call, each with its rule.
    pub(crate) fn possible(&self, recorded: &RecordedCall, target: &Target<'_>) -> Vec<(Access, String)> {
        let RecordedCall { call, at, is_caller_whole: is_whole, arguments } = recorded;
        let asker = Asker { at: Some(*at), client: None, is_whole: *is_whole, ..self.asker(call) };
        let mut possible = Vec::new();
        if !self.roles.is_open() {
            let admitted = self.roles.admit(&call.caller, target.subject, &[target.own, target.former]);
            if !admitted || !*is_whole {
                possible.push((Access::Denied(Denial::Hidden), "the roles".to_owned()));
            }
            if !admitted && *is_whole {
                return possible;
            }
        }
        let rules = self.table.applicable(target);
        let rulings = self.table.possible(&rules, target, &asker, arguments);
        possible.extend(
            rulings
                .into_iter()
                .map(|ruling| (self.access_by(ruling, &rules, target, &asker), self.described(ruling.rule))),
        );
        possible
    }

    fn described(&self, rule: Option<usize>) -> String {
        described(rule.and_then(|number| Some((number, self.table.rule(number)?))))
    }
}
