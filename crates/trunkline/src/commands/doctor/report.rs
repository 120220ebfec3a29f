//! Formats a diagnosis as text.

use crate::render::{BAD, FAINT, HEADING, NAME, indent, safe};
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;
use trunkline_doctor::{Checkup, Diagnosis, EvidenceKind, Outcome, Problem, Step, Verdict, Works};
use unicode_width::UnicodeWidthStr;

const DOUBT: Style = AnsiColor::Yellow.on_default().bold();
/// Column in which details begin.
const COLUMN: usize = 46;
/// Maximum number of lines shown per piece of evidence.
const MOST_LINES: usize = 14;

/// Formats a finished step.
pub(super) fn step(step: &Step) -> String {
    let (style, mark) = match step.outcome {
        Outcome::Passed => (NAME, "✓"),
        Outcome::Failed => (BAD, "✗"),
        Outcome::Doubtful => (DOUBT, "!"),
        Outcome::NotVerified => (FAINT, "·"),
    };
    let blank = " ".repeat(COLUMN.saturating_sub(step.title.width()));
    let detail = step.detail.as_deref().map(safe::line).unwrap_or_default();
    let detail = match step.outcome {
        Outcome::NotVerified if detail.is_empty() => "not verified".to_owned(),
        Outcome::NotVerified => format!("not verified: {detail}"),
        _ => detail,
    };
    let time = step
        .millis
        .filter(|millis| *millis >= 0.1)
        .map(|millis| format!(" ({})", time(millis)))
        .unwrap_or_default();
    format!("{style}{mark}{style:#} {}{blank}{FAINT}{detail}{time}{FAINT:#}\n", step.title)
}

/// Formats the result after the last step.
pub(super) fn conclusion(diagnosis: &Diagnosis) -> String {
    let mut out = String::new();
    if let Some(found) = &diagnosis.problem {
        problem(&mut out, BAD, "problem", found);
    }
    tried(&mut out, diagnosis);
    for warning in &diagnosis.warnings {
        problem(&mut out, DOUBT, "warning", warning);
    }
    if diagnosis.problem.is_none() {
        write!(out, "\n{NAME}Fine{NAME:#}: every step that could be verified passed.\n")
            .expect("a String takes any text");
    }
    out
}

/// Formats the check of this machine's setup.
pub(super) fn checkup(checkup: &Checkup) -> String {
    let mut out = String::new();
    for section in &checkup.sections {
        writeln!(out, "{HEADING}{}{HEADING:#}", section.title).expect("a String takes any text");
        for check in &section.checks {
            let (style, mark) = match check.verdict {
                Verdict::Fine => (NAME, "✓"),
                Verdict::NotVerified => (FAINT, "·"),
                Verdict::Warning => (DOUBT, "!"),
                Verdict::Broken => (BAD, "✗"),
            };
            let detail =
                check.detail.as_deref().map(|text| format!(": {}", safe::line(text))).unwrap_or_default();
            writeln!(out, "{style}{mark}{style:#} {}{FAINT}{detail}{FAINT:#}", safe::line(&check.what))
                .expect("a String takes any text");
            for problem in &check.problems {
                short(&mut out, problem);
            }
        }
        out.push('\n');
    }
    out
}

/// Formats a problem in short form, for lists of problems.
fn short(out: &mut String, problem: &Problem) {
    let id = problem.cause.id();
    writeln!(out, "    {DOUBT}{id}{DOUBT:#} {}", safe::line(&problem.summary))
        .expect("a String takes any text");
    for piece in &problem.evidence {
        indent(out, &format!("{FAINT}{}{FAINT:#}", safe::text(&piece.text)), 8);
    }
    for line in &problem.fix {
        indent(out, &format!("→ {}", safe::line(line)), 6);
    }
}

fn problem(out: &mut String, style: Style, label: &str, problem: &Problem) {
    let entry = problem.cause.entry();
    writeln!(out, "\n{style}{label}[{}]{style:#}: {}", entry.id, entry.title)
        .expect("a String takes any text");
    indent(out, &safe::text(&problem.summary), 2);
    indent(out, &format!("{FAINT}{}{FAINT:#}", entry.explanation), 2);
    if !problem.evidence.is_empty() {
        writeln!(out, "{HEADING}Evidence{HEADING:#}").expect("a String takes any text");
        for piece in &problem.evidence {
            evidence(out, piece.kind, &piece.text);
        }
    }
    writeln!(out, "{HEADING}Fix{HEADING:#}").expect("a String takes any text");
    for line in problem.fix.iter().map(String::as_str).chain(problem.fix.is_empty().then_some(entry.fix)) {
        indent(out, &safe::text(line), 2);
    }
}

fn evidence(out: &mut String, kind: EvidenceKind, text: &str) {
    let label = match kind {
        EvidenceKind::Sent => "→",
        EvidenceKind::Received => "←",
        EvidenceKind::Output => "stdout │",
        EvidenceKind::Stderr => "stderr │",
        EvidenceKind::Head => "http   │",
        EvidenceKind::Body => "body   │",
        EvidenceKind::Fact => "·",
    };
    for line in safe::text(text).lines().take(MOST_LINES) {
        writeln!(out, "  {FAINT}{label}{FAINT:#} {line}").expect("a String takes any text");
    }
}

fn tried(out: &mut String, diagnosis: &Diagnosis) {
    if diagnosis.alternatives.is_empty() {
        return;
    }
    writeln!(out, "{HEADING}Tried instead{HEADING:#}").expect("a String takes any text");
    for tried in &diagnosis.alternatives {
        let (style, mark) = if tried.works == Works::Yes { (NAME, "✓") } else { (FAINT, "✗") };
        let (what, detail) = (safe::line(&tried.what), safe::line(&tried.detail));
        writeln!(out, "  {style}{mark}{style:#} {what}: {detail}").expect("a String takes any text");
        if tried.works == Works::Yes {
            indent(out, &safe::text(&tried.command), 4);
        }
    }
}

fn time(millis: f64) -> String {
    if millis >= 1000.0 { format!("{:.1} s", millis / 1000.0) } else { format!("{millis} ms") }
}
