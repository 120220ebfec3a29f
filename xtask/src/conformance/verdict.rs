//! `Verdict`: whether a scenario passed, judged from the suite's output.
//!
//! It is stricter than the suite: a warning is a failure, and so is a nonzero exit status of the
//! client even where the suite tolerates it, and a scenario that passed without testing anything.

use std::fmt;

use serde::Deserialize;

/// Output of one scenario.
#[derive(Debug)]
pub(super) struct Evidence {
    /// Content of the checks file, if there was one.
    pub(super) checks: Option<String>,
    pub(super) suite_succeeded: bool,
    /// The suite's message about the client's exit, if the client failed.
    pub(super) complaint: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Verdict {
    counts: Counts,
    /// Reasons of the failure; empty if the scenario passed.
    reasons: Vec<String>,
    /// Names of the checks that the suite skipped as not applicable.
    skipped: Vec<String>,
}

#[derive(Debug, Default)]
struct Counts {
    succeeded: usize,
    failed: usize,
    warned: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Check {
    id: String,
    #[serde(default)]
    name: String,
    status: Status,
    description: Option<String>,
    error_message: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Status {
    Success,
    Failure,
    Warning,
    Skipped,
    Info,
}

/// The suite adds this check to nearly every scenario, even if the client sent nothing.
const WIRE_SCHEMA: &str = "wire-schema";
const LONGEST_REASON: usize = 220;

pub(super) fn judge(evidence: &Evidence) -> Verdict {
    let mut verdict = Verdict { counts: Counts::default(), reasons: Vec::new(), skipped: Vec::new() };
    let checks: Vec<Check> = match evidence.checks.as_deref().map(serde_json::from_str) {
        Some(Ok(checks)) => checks,
        Some(Err(error)) => {
            verdict.reasons.push(format!("the suite's checks cannot be read: {error}"));
            return verdict;
        }
        None => {
            verdict.reasons.push("the suite wrote no checks (crash or timeout)".to_owned());
            return verdict;
        }
    };
    for check in &checks {
        verdict.count(check);
    }
    let tested =
        checks.iter().any(|check| check.status == Status::Success && !check.id.starts_with(WIRE_SCHEMA));
    if !tested {
        verdict.reasons.push("nothing was tested: no check succeeded".to_owned());
    }
    if let Some(complaint) = &evidence.complaint {
        verdict.reasons.push(complaint.clone());
    }
    if verdict.passed() && !evidence.suite_succeeded {
        verdict.reasons.push("the suite failed without saying why".to_owned());
    }
    verdict
}

impl Verdict {
    pub(crate) fn passed(&self) -> bool {
        self.reasons.is_empty()
    }

    pub(crate) fn reasons(&self) -> &[String] {
        &self.reasons
    }

    pub(super) fn skipped(&self) -> &[String] {
        &self.skipped
    }

    fn count(&mut self, check: &Check) {
        match check.status {
            Status::Success => self.counts.succeeded += 1,
            Status::Skipped => self.skipped.push(check.name.clone()),
            Status::Info => {}
            Status::Failure => {
                self.counts.failed += 1;
                self.reasons.push(check.reason("FAILURE"));
            }
            Status::Warning => {
                self.counts.warned += 1;
                self.reasons.push(check.reason("WARNING"));
            }
        }
    }
}

impl Check {
    fn reason(&self, kind: &str) -> String {
        let text = self.error_message.as_ref().or(self.description.as_ref()).map_or("", String::as_str);
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{} [{kind}] {}", self.id, text.chars().take(LONGEST_REASON).collect::<String>())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { succeeded, failed, warned } = &self.counts;
        write!(f, "{succeeded} ok, {failed} failed, {warned} warned, {} skipped", self.skipped.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTED: &str = r#"[{"id":"a","status":"SUCCESS"},{"id":"wire-schema-valid","status":"SUCCESS"},{"id":"b","name":"B","status":"SKIPPED"},{"id":"c","status":"INFO"}]"#;

    fn evidence(checks: &str) -> Evidence {
        Evidence { checks: Some(checks.to_owned()), suite_succeeded: true, complaint: None }
    }

    fn reasons(evidence: &Evidence) -> Vec<String> {
        judge(evidence).reasons
    }

    #[test]
    fn a_scenario_that_tested_something_and_found_nothing_passes() {
        let verdict = judge(&evidence(TESTED));
        assert!(verdict.passed(), "{verdict:?}");
        assert_eq!(verdict.to_string(), "2 ok, 0 failed, 0 warned, 1 skipped");
        assert_eq!(verdict.skipped(), ["B"]);
    }

    #[test]
    fn a_failure_fails() {
        let checks = r#"[{"id":"a","status":"SUCCESS"},{"id":"b","status":"FAILURE","description":"d","errorMessage":"no\n  good"}]"#;
        assert_eq!(reasons(&evidence(checks)), ["b [FAILURE] no good"]);
    }

    #[test]
    fn a_warning_fails() {
        let checks = r#"[{"id":"a","status":"SUCCESS"},{"id":"b","status":"WARNING","description":"slow"}]"#;
        assert_eq!(reasons(&evidence(checks)), ["b [WARNING] slow"]);
    }

    #[test]
    fn a_scenario_in_which_only_the_wire_was_checked_fails() {
        let checks = r#"[{"id":"wire-schema-valid","status":"SUCCESS"},{"id":"b","status":"SKIPPED"}]"#;
        assert_eq!(reasons(&evidence(checks)), ["nothing was tested: no check succeeded"]);
        assert_eq!(reasons(&evidence("[]")), ["nothing was tested: no check succeeded"]);
    }

    #[test]
    fn a_missing_or_broken_checks_file_fails() {
        let missing = Evidence { checks: None, suite_succeeded: true, complaint: None };
        assert_eq!(reasons(&missing), ["the suite wrote no checks (crash or timeout)"]);
        assert!(reasons(&evidence("[{"))[0].starts_with("the suite's checks cannot be read"));
        assert!(!judge(&evidence(r#"[{"id":"a","status":"MAYBE"}]"#)).passed());
    }

    #[test]
    fn a_client_that_exits_badly_fails_even_where_the_suite_forgives_it() {
        let complaint = Some("Client exited with code 1".to_owned());
        let forgiven = Evidence { complaint, ..evidence(TESTED) };
        assert_eq!(reasons(&forgiven), ["Client exited with code 1"]);
    }

    #[test]
    fn a_suite_that_fails_silently_fails() {
        let silent = Evidence { suite_succeeded: false, ..evidence(TESTED) };
        assert_eq!(reasons(&silent), ["the suite failed without saying why"]);
    }
}
