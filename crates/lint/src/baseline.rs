//! Accepted findings: the baseline file, and ignores with a reason.

use crate::report::{Ignored, Report};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The version of the file format.
const FORMAT: u32 = 1;

/// The findings at the time the baseline was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Baseline {
    pub format: u32,
    pub findings: Vec<Known>,
}

/// One accepted finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Known {
    pub target: String,
    pub rule: String,
    pub fingerprint: String,
    /// The subject of the finding; informative only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// `RULE` or `RULE:SUBJECT`, then `=REASON`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ignore {
    pub rule: String,
    /// The subject of the finding, such as `echo` for the tool of that name.
    pub about: Option<String>,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadIgnore {
    #[error("`{0}` gives no reason; write `RULE=REASON` or `RULE:SUBJECT=REASON`")]
    NoReason(String),
    #[error("there is no rule `{0}`")]
    NoRule(String),
}

impl Baseline {
    /// A baseline of all findings of the report that are not ignored yet.
    pub fn of(report: &Report) -> Self {
        let known = report
            .findings()
            .filter(|(_, finding)| finding.ignored.as_ref().is_none_or(|ignored| ignored.by == BASELINE));
        let findings = known
            .map(|(target, finding)| Known {
                target: target.target.clone(),
                rule: finding.rule.to_owned(),
                fingerprint: finding.fingerprint.clone(),
                about: finding.about.clone(),
                reason: String::new(),
            })
            .collect();
        Self { format: FORMAT, findings }
    }

    /// Marks findings in the baseline as ignored. Returns the entries that match no finding any
    /// more.
    pub fn apply(&self, report: &mut Report) -> Vec<Known> {
        let mut gone = self.findings.clone();
        for (target, finding) in report.findings_mut() {
            let same = |known: &Known| {
                known.target == target
                    && known.rule == finding.rule
                    && known.fingerprint == finding.fingerprint
            };
            if let Some(known) = self.findings.iter().find(|known| same(known)) {
                let reason = if known.reason.is_empty() {
                    "known when the baseline was written"
                } else {
                    &known.reason
                };
                finding.ignored = Some(Ignored { by: BASELINE.to_owned(), reason: reason.to_owned() });
                gone.retain(|known| !same(known));
            }
        }
        report.count();
        gone
    }
}

const BASELINE: &str = "baseline";

/// Marks the findings that the ignores cover.
pub fn ignore(report: &mut Report, ignores: &[Ignore]) {
    for (_, finding) in report.findings_mut() {
        let covers = |ignore: &&Ignore| {
            ignore.rule == finding.rule
                && ignore.about.as_ref().is_none_or(|wanted| {
                    finding.about.as_ref().is_some_and(|about| {
                        about == wanted || about.rsplit(' ').next() == Some(wanted.as_str())
                    })
                })
        };
        if let Some(ignore) = ignores.iter().find(covers) {
            finding.ignored = Some(Ignored { by: "ignore".to_owned(), reason: ignore.reason.clone() });
        }
    }
    report.count();
}

impl FromStr for Ignore {
    type Err = BadIgnore;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (what, reason) = text.split_once('=').ok_or_else(|| BadIgnore::NoReason(text.to_owned()))?;
        if reason.trim().is_empty() {
            return Err(BadIgnore::NoReason(text.to_owned()));
        }
        let (rule, about) = match what.split_once(':') {
            Some((rule, about)) => (rule, Some(about.to_owned())),
            None => (what, None),
        };
        if crate::rules::find(rule).is_none() {
            return Err(BadIgnore::NoRule(rule.to_owned()));
        }
        Ok(Self { rule: rule.to_owned(), about, reason: reason.trim().to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignore_needs_a_rule_and_a_reason() {
        let whole: Ignore = "ping-result=the proxy answers".parse().unwrap();
        assert_eq!(
            (whole.rule.as_str(), whole.about, whole.reason.as_str()),
            ("ping-result", None, "the proxy answers")
        );
        let part: Ignore = "tool-description:echo=demo".parse().unwrap();
        assert_eq!(part.about.as_deref(), Some("echo"));
        assert_eq!("ping-result=".parse::<Ignore>(), Err(BadIgnore::NoReason("ping-result=".to_owned())));
        assert_eq!("ping-result".parse::<Ignore>(), Err(BadIgnore::NoReason("ping-result".to_owned())));
        assert_eq!("no-rule=x".parse::<Ignore>(), Err(BadIgnore::NoRule("no-rule".to_owned())));
    }
}
