//! The report: subjects, outcomes and findings, ready to be rendered. Renderers make no decisions.

mod cost;
mod finding;
mod github;
mod inline;
mod junit;
mod markdown;
mod page;
mod sarif;
mod schema;
mod snippet;
mod text;

pub use cost::{CLIENT_LIMITS, ClientLimit, Cost, ToolCost, estimate, estimate_tool};
pub use finding::{FindingReport, FrameReport, Ignored};
pub use github::github;
pub use inline::LINT_IGNORE;
pub use junit::junit;
pub use markdown::markdown;
pub use page::{index, page};
pub use sarif::sarif;
pub use schema::schema;
pub use snippet::Snippet;
pub use text::{Detail, text};

use crate::{
    engine::{ConfigSubject, Unreachable},
    evidence::{Case, Evidence, List},
    outcome::{Level, Outcome},
    rule::Rule,
};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use trunkline_protocol::Era;
use trunkline_secrets::{Caution, Mask, counted};

/// Masks secrets. Every text of a server or file passes through it, because reports are printed,
/// uploaded and stored.
const SECRETS: Mask = Mask::new("***", Caution::Readable);

/// The version of the report's JSON format; raised by every breaking change.
pub const FORMAT: u32 = 1;

/// The result of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub format: u32,
    pub tool: &'static str,
    pub version: &'static str,
    pub summary: Summary,
    pub targets: Vec<TargetReport>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    pub critical: usize,
    pub errors: usize,
    pub warnings: usize,
    pub infos: usize,
    /// Findings that a baseline or an ignore covers; they are not counted as findings.
    pub ignored: usize,
    pub passed: usize,
    pub not_verified: usize,
    pub not_applicable: usize,
    pub unreachable: usize,
}

/// One subject and the outcomes of the rules.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetReport {
    pub target: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    pub eras: Vec<String>,
    /// The reason why there is nothing to judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The current tools, for a lock file.
    #[serde(skip)]
    pub tools: BTreeMap<String, Value>,
    pub rules: Vec<RuleReport>,
}

/// The outcome of one rule.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleReport {
    #[serde(serialize_with = "by_name")]
    pub rule: &'static Rule,
    pub group: &'static str,
    pub outcome: Kind,
    /// The reason why there is no verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingReport>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Passed,
    Finding,
    NotVerified,
    NotApplicable,
}

/// The source of the frames of a finding.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    Evidence(&'a Evidence),
    Config(&'a ConfigSubject),
    Nothing,
}

impl Report {
    pub fn new(targets: Vec<TargetReport>) -> Self {
        let mut report = Self {
            format: FORMAT,
            tool: "trunkline lint",
            version: env!("CARGO_PKG_VERSION"),
            summary: Summary::default(),
            targets,
        };
        report.count();
        report
    }

    /// Every finding, with the target it belongs to.
    pub fn findings(&self) -> impl Iterator<Item = (&TargetReport, &FindingReport)> {
        self.targets.iter().flat_map(|target| {
            target
                .rules
                .iter()
                .flat_map(move |rule| rule.findings.iter().map(move |finding| (target, finding)))
        })
    }

    pub(crate) fn findings_mut(&mut self) -> impl Iterator<Item = (&str, &mut FindingReport)> {
        self.targets.iter_mut().flat_map(|target| {
            let name = target.target.as_str();
            target.rules.iter_mut().flat_map(move |rule| rule.findings.iter_mut().map(move |f| (name, f)))
        })
    }

    /// The highest level of all findings that are not ignored.
    pub fn worst(&self) -> Option<Level> {
        self.targets.iter().filter_map(TargetReport::worst).max()
    }

    /// Recounts after findings were marked as ignored.
    pub(crate) fn count(&mut self) {
        self.summary = Summary::default();
        for target in &self.targets {
            self.summary.count(target);
        }
    }
}

impl Summary {
    /// The counts as text, such as `2 errors, 1 warning`.
    pub fn found(&self) -> String {
        let counts = [
            (self.critical, format!("{} critical", self.critical)),
            (self.errors, counted(self.errors, "error")),
            (self.warnings, counted(self.warnings, "warning")),
            (self.infos, counted(self.infos, "info")),
            (self.ignored, format!("{} ignored", self.ignored)),
            (self.unreachable, format!("{} not reached", self.unreachable)),
        ];
        let told = counts.into_iter().filter(|(count, _)| *count > 0);
        let found: Vec<String> = told.map(|(_, text)| text).collect();
        if found.is_empty() { "no findings".to_owned() } else { found.join(", ") }
    }

    fn count(&mut self, target: &TargetReport) {
        self.unreachable += usize::from(target.unreachable.is_some());
        for rule in &target.rules {
            match rule.outcome {
                Kind::Passed => self.passed += 1,
                Kind::NotVerified => self.not_verified += 1,
                Kind::NotApplicable => self.not_applicable += 1,
                Kind::Finding => rule.findings.iter().for_each(|finding| self.add(finding)),
            }
        }
    }

    fn add(&mut self, finding: &FindingReport) {
        let counter = match finding.level {
            _ if finding.ignored.is_some() => &mut self.ignored,
            Level::Critical => &mut self.critical,
            Level::Error => &mut self.errors,
            Level::Warning => &mut self.warnings,
            Level::Info => &mut self.infos,
        };
        *counter += 1;
    }
}

impl TargetReport {
    /// The counts of this subject.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        summary.count(self);
        summary
    }

    /// The highest level of all findings that are not ignored.
    pub fn worst(&self) -> Option<Level> {
        let findings = self.rules.iter().flat_map(|rule| &rule.findings);
        findings.filter(|finding| finding.ignored.is_none()).map(|finding| finding.level).max()
    }

    pub(crate) fn of_server(evidence: &Evidence, rules: Vec<RuleReport>) -> Self {
        let introduced = evidence.cases().last();
        let server = introduced.and_then(|case| {
            let introduction = case.introduction()?;
            let about = introduction
                .get("serverInfo")
                .or_else(|| introduction.get("_meta")?.get("io.modelcontextprotocol/serverInfo"))?;
            let text = |name: &str| about.get(name).and_then(|value| value.as_str()).unwrap_or_default();
            Some(format!("{} {}", text("name"), text("version")).trim().to_owned())
        });
        Self {
            target: evidence.target.clone(),
            server,
            transport: Some(evidence.carrier.to_string()),
            eras: evidence.served.iter().map(ToString::to_string).collect(),
            unreachable: None,
            cost: introduced.and_then(|case| Cost::of(&case)),
            tools: introduced.map(|case| listed(&case)).unwrap_or_default(),
            rules,
        }
    }

    pub(crate) fn of_file(name: &str, rules: Vec<RuleReport>) -> Self {
        Self { rules, ..Self::empty(name) }
    }

    pub(crate) fn unreachable(name: &str, unreachable: &Unreachable) -> Self {
        Self { unreachable: Some(SECRETS.hide(&unreachable.why).into_owned()), ..Self::empty(name) }
    }

    fn empty(name: &str) -> Self {
        Self {
            target: name.to_owned(),
            server: None,
            transport: None,
            eras: Vec::new(),
            unreachable: None,
            cost: None,
            tools: BTreeMap::new(),
            rules: Vec::new(),
        }
    }
}

fn listed(case: &Case<'_>) -> BTreeMap<String, Value> {
    let tools = case.list(List::Tools).unwrap_or_default();
    let named = tools.iter().filter_map(|tool| Some((tool.text("name")?.to_owned(), tool.value.clone())));
    named.collect()
}

impl RuleReport {
    /// Merges the outcomes of all eras: findings win, then "not verified", then "passed".
    pub(crate) fn new(
        rule: &'static Rule,
        outcomes: Vec<(Option<Era>, Outcome)>,
        source: Source<'_>,
    ) -> Self {
        let mut findings: Vec<FindingReport> = Vec::new();
        let (mut unverified, mut inapplicable, mut passed) = (None, None, false);
        for (era, outcome) in outcomes {
            match outcome {
                Outcome::Findings(found) => {
                    for finding in found {
                        finding::merge(&mut findings, FindingReport::new(rule, &finding, era, source));
                    }
                }
                Outcome::NotVerified(why) => unverified = Some(why),
                Outcome::NotApplicable(why) => inapplicable = Some(why),
                Outcome::Passed => passed = true,
            }
        }
        let (outcome, why) = match (findings.is_empty(), unverified, passed, inapplicable) {
            (false, ..) => (Kind::Finding, None),
            (true, Some(why), ..) => (Kind::NotVerified, Some(why)),
            (true, None, true, _) => (Kind::Passed, None),
            (true, None, false, why) => (Kind::NotApplicable, why),
        };
        Self { rule, group: rule.group.as_str(), outcome, why, findings }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn by_name<S: Serializer>(rule: &&'static Rule, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(rule.name)
}
