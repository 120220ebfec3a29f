//! `JUnit` XML: a suite per target, a case per rule.

use super::{Kind, Report, RuleReport, TargetReport};
use crate::outcome::Level;
use std::fmt::Write as _;
use trunkline_secrets::visible;

/// Findings of level `fail_on` or above are failures; others are output of a passed case.
pub fn junit(report: &Report, fail_on: Option<Level>) -> String {
    let mut out =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"trunkline lint\">\n");
    for target in &report.targets {
        suite(&mut out, target, fail_on);
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite(out: &mut String, target: &TargetReport, fail_on: Option<Level>) {
    let failures = target.rules.iter().filter(|rule| fails(rule, fail_on)).count();
    let skipped = target.rules.iter().filter(|rule| is_skipped(rule.outcome)).count();
    let errors = usize::from(target.unreachable.is_some());
    let tests = target.rules.len() + errors;
    put(
        out,
        &format!(
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">",
            escape(&target.target)
        ),
    );
    if let Some(why) = &target.unreachable {
        put(
            out,
            &format!(
                "    <testcase classname=\"connection\" name=\"reachable\"><error message=\"{}\"/></testcase>",
                escape(why)
            ),
        );
    }
    for rule in &target.rules {
        case(out, rule, fail_on);
    }
    put(out, "  </testsuite>");
}

fn case(out: &mut String, rule: &RuleReport, fail_on: Option<Level>) {
    let head = format!("    <testcase classname=\"{}\" name=\"{}\"", rule.group, rule.rule.name);
    match rule.outcome {
        Kind::Passed => put(out, &format!("{head}/>")),
        Kind::NotVerified | Kind::NotApplicable => {
            let kind = if rule.outcome == Kind::NotVerified { "not verified" } else { "not applicable" };
            let why = rule.why.as_deref().unwrap_or_default();
            put(
                out,
                &format!("{head}><skipped message=\"{}\"/></testcase>", escape(&format!("{kind}: {why}"))),
            );
        }
        Kind::Finding => {
            put(out, &format!("{head}>"));
            for finding in &rule.findings {
                let text = format!("{}\nfix: {}\n{}", finding.message, finding.fix, finding.clause);
                let about = finding.about.as_ref().map(|about| format!("{about}: ")).unwrap_or_default();
                let message = escape(&format!("{about}{}", finding.message));
                let failed = finding.ignored.is_none() && fail_on.is_some_and(|level| finding.level >= level);
                put(
                    out,
                    &if failed {
                        format!(
                            "      <failure type=\"{}\" message=\"{message}\">{}</failure>",
                            finding.level,
                            escape(&text)
                        )
                    } else {
                        format!("      <system-out>{}: {message}</system-out>", finding.level)
                    },
                );
            }
            put(out, "    </testcase>");
        }
    }
}

fn fails(rule: &RuleReport, fail_on: Option<Level>) -> bool {
    rule.findings
        .iter()
        .any(|finding| finding.ignored.is_none() && fail_on.is_some_and(|level| finding.level >= level))
}

fn is_skipped(kind: Kind) -> bool {
    matches!(kind, Kind::NotVerified | Kind::NotApplicable)
}

/// Escapes text. Control characters are shown in a visible form, because XML 1.0 forbids them even
/// when escaped.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible::text(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn put(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("a string takes everything");
}
