//! All rules, compiled once per configuration.
//!
//! The rules that concern an item do not depend on the call, so a route keeps their numbers: a
//! call looks only at those.

use super::{
    Asker, RecordedArguments,
    rule::{BadRule, Rule, Target},
    rules::{Effect, RuleSet},
    truth::Truth,
};
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};
use trunkline_protocol::Raw;

/// A compiled [`RuleSet`].
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleTable {
    rules: Vec<Rule>,
    default: Effect,
    /// Differs for each table, so that numbers kept for one are never used with another.
    table_id: u64,
    pub(super) reads_client: bool,
    has_windows: bool,
}

/// The numbers of the rules that concern an item, in order, for one table.
#[derive(Debug)]
pub(crate) struct Applicable {
    table_id: u64,
    rules: Box<[u32]>,
}

/// The decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ruling {
    pub(crate) effect: Effect,
    /// The number of the rule; `None` if no rule matched.
    pub(crate) rule: Option<usize>,
}

static TABLE_IDS: AtomicU64 = AtomicU64::new(1);

impl RuleTable {
    pub(super) fn new(set: &RuleSet) -> Result<Self, BadRule> {
        let rules: Vec<Rule> =
            set.rules.iter().enumerate().map(|(n, spec)| Rule::new(n, spec)).collect::<Result<_, _>>()?;
        Ok(Self {
            default: set.default,
            table_id: TABLE_IDS.fetch_add(1, Ordering::Relaxed),
            reads_client: rules.iter().any(Rule::reads_client),
            has_windows: rules.iter().any(Rule::has_window),
            rules,
        })
    }

    /// True if every call is allowed.
    pub(super) fn is_open(&self) -> bool {
        self.rules.is_empty() && self.default == Effect::Allow
    }

    pub(crate) fn rule(&self, number: usize) -> Option<&Rule> {
        self.rules.get(number)
    }

    /// The rules for an item.
    pub(super) fn applicable(&self, target: &Target<'_>) -> Applicable {
        let concerns = |(_, rule): &(u32, &Rule)| rule.targets(target) != Truth::No;
        let rules = (0..).zip(&self.rules).filter(concerns).map(|(number, _)| number).collect();
        Applicable { table_id: self.table_id, rules }
    }

    /// True if the applicable is of this table.
    pub(super) fn has(&self, applicable: &Applicable) -> bool {
        applicable.table_id == self.table_id
    }

    /// Decides about a call. `applicable` must be that of `target`.
    pub(super) fn decide(
        &self,
        applicable: &Applicable,
        target: &Target<'_>,
        asker: &Asker<'_>,
        arguments: Option<&Raw>,
    ) -> Ruling {
        let now = self.time(asker);
        for (number, rule) in self.read(applicable) {
            let matches = rule.targets_certainly(target).and(rule.concerns(asker, now));
            let truth = if matches == Truth::No { matches } else { matches.and(rule.meets(arguments)) };
            // A condition that cannot be judged counts against the caller.
            if truth == Truth::Yes || (truth == Truth::Unknown && rule.effect != Effect::Allow) {
                return Ruling { effect: rule.effect, rule: Some(number) };
            }
        }
        Ruling { effect: self.default, rule: None }
    }

    /// All decisions that are possible about a recorded call, of which not everything is known.
    pub(super) fn possible(
        &self,
        applicable: &Applicable,
        target: &Target<'_>,
        asker: &Asker<'_>,
        arguments: &RecordedArguments,
    ) -> Vec<Ruling> {
        let (now, mut possible) = (self.time(asker), Vec::new());
        for (number, rule) in self.read(applicable) {
            let matches = rule.targets_certainly(target).and(rule.concerns(asker, now));
            let truth =
                if matches == Truth::No { matches } else { matches.and(rule.meets_recorded(arguments)) };
            if truth != Truth::No {
                possible.push(Ruling { effect: rule.effect, rule: Some(number) });
            }
            if truth == Truth::Yes {
                return possible;
            }
        }
        possible.push(Ruling { effect: self.default, rule: None });
        possible
    }

    /// True if one of these rules has a condition on arguments.
    pub(super) fn reads_arguments(&self, applicable: &Applicable) -> bool {
        self.read(applicable).any(|(_, rule)| !rule.arguments.is_empty())
    }

    /// True if some call of this item could be allowed, perhaps after a question.
    pub(super) fn could_allow(
        &self,
        applicable: &Applicable,
        target: &Target<'_>,
        asker: &Asker<'_>,
    ) -> bool {
        let now = self.time(asker);
        for (_, rule) in self.read(applicable) {
            let arguments = if rule.arguments.is_empty() { Truth::Yes } else { Truth::Unknown };
            match rule.targets_certainly(target).and(rule.concerns(asker, now)).and(arguments) {
                Truth::Yes => return rule.effect != Effect::Deny,
                Truth::Unknown if rule.effect != Effect::Deny => return true,
                Truth::Unknown | Truth::No => {}
            }
        }
        self.default != Effect::Deny
    }

    /// True if something of a server whose items are unknown could be allowed.
    pub(super) fn could_reach(&self, server: &str, asker: &Asker<'_>) -> bool {
        let (now, prefix) = (self.time(asker), super::subject(server, ""));
        for rule in self.rules.iter().filter(|rule| rule.may_target(server, &prefix)) {
            let concerns = rule.concerns(asker, now);
            if concerns == Truth::No {
                continue;
            }
            if rule.effect != Effect::Deny {
                return true;
            }
            if concerns == Truth::Yes && rule.arguments.is_empty() && rule.targets_all(server) {
                return false;
            }
        }
        self.default != Effect::Deny
    }

    /// The rules that concern a caller now, as bits.
    pub(super) fn standing(&self, asker: &Asker<'_>) -> Vec<u8> {
        let now = self.time(asker);
        let mut bits = vec![0; self.rules.len().div_ceil(4)];
        for (number, rule) in self.rules.iter().enumerate() {
            bits[number / 4] |= (rule.concerns(asker, now) as u8) << (number % 4 * 2);
        }
        bits
    }

    fn read<'a>(&'a self, applicable: &'a Applicable) -> impl Iterator<Item = (usize, &'a Rule)> {
        let numbers = applicable.rules.iter().map(|number| *number as usize);
        numbers.filter_map(|number| Some((number, self.rules.get(number)?)))
    }

    /// The time of a call, if any rule depends on it.
    fn time(&self, asker: &Asker<'_>) -> SystemTime {
        let now = || if self.has_windows { SystemTime::now() } else { SystemTime::UNIX_EPOCH };
        asker.at.unwrap_or_else(now)
    }
}
