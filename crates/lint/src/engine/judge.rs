//! Runs the checks of rules on the evidence.

use super::{ConfigSubject, Fleet, LockSubject, Options, plan};
use crate::{
    evidence::Evidence,
    outcome::{Outcome, Skip, Verdict},
    report::{RuleReport, Source, TargetReport},
    rule::{Check, Mode, Rule},
};
use trunkline_protocol::Era;

/// Runs one rule on one server, once per era to which it applies.
pub fn judge(rule: &'static Rule, evidence: &Evidence, mode: Mode) -> Vec<(Option<Era>, Outcome)> {
    if !rule.carriers.include(evidence.carrier) {
        let why = format!("the server is reached over {}", evidence.carrier);
        return vec![(None, Outcome::NotApplicable(why))];
    }
    if rule.mode > mode {
        let why = format!("it needs the {} mode", rule.mode.as_str());
        return vec![(None, Outcome::NotVerified(why))];
    }
    match rule.check {
        Check::Target(check) => vec![(None, check(evidence).into())],
        Check::Server(check) => {
            let eras: Vec<_> = evidence
                .cases()
                .filter(|case| rule.eras.include(case.era()))
                .map(|case| (Some(case.era()), check(&case).into()))
                .collect();
            if eras.is_empty() { vec![(None, no_era(evidence).into())] } else { eras }
        }
        Check::Fleet(_) | Check::Config(_) | Check::Lock(_) => Vec::new(),
    }
}

pub(super) fn server(evidence: &Evidence, lock: Option<&LockSubject>, options: &Options) -> TargetReport {
    let mut rules = Vec::new();
    for rule in plan::rules(options) {
        let outcomes = match rule.check {
            Check::Lock(check) => locked(check, evidence, lock),
            _ => judge(rule, evidence, options.mode),
        };
        if !outcomes.is_empty() {
            rules.push(RuleReport::new(rule, outcomes, Source::Evidence(evidence)));
        }
    }
    TargetReport::of_server(evidence, rules)
}

pub(super) fn config(config: &ConfigSubject, options: &Options) -> TargetReport {
    let mut rules = Vec::new();
    for rule in plan::rules(options) {
        if let Check::Config(check) = rule.check {
            let outcomes = vec![(None, check(config).into())];
            rules.push(RuleReport::new(rule, outcomes, Source::Config(config)));
        }
    }
    TargetReport::of_file(&config.path, rules)
}

pub(super) fn fleet(fleet: &Fleet<'_>, options: &Options) -> Option<TargetReport> {
    let mut rules = Vec::new();
    for rule in plan::rules(options) {
        if let Check::Fleet(check) = rule.check {
            let outcomes = vec![(None, check(fleet).into())];
            rules.push(RuleReport::new(rule, outcomes, Source::Nothing));
        }
    }
    (!rules.is_empty()).then(|| TargetReport::of_file("all servers together", rules))
}

fn locked(
    check: fn(&crate::evidence::Case<'_>, &LockSubject) -> Verdict,
    evidence: &Evidence,
    lock: Option<&LockSubject>,
) -> Vec<(Option<Era>, Outcome)> {
    let Some(lock) = lock else {
        return vec![(None, Outcome::NotApplicable("no lock file pins this server".to_owned()))];
    };
    match evidence.cases().last() {
        Some(case) => vec![(Some(case.era()), check(&case, lock).into())],
        None => vec![(None, no_era(evidence).into())],
    }
}

fn no_era(evidence: &Evidence) -> Verdict {
    Err(match evidence.served.as_slice() {
        [] => Skip::not_verified("the server answered neither `server/discover` nor `initialize`"),
        [only] => Skip::not_applicable(format!("the server speaks the {only} era only")),
        _ => Skip::not_applicable("the server does not speak the era that the rule is about"),
    })
}
