//! Formats configuration problems: each with its source line and a marker below it.

use super::{BAD, FAINT, safe};
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;
use trunkline_config::{Problem, Severity, Sources};
use trunkline_secrets::counted;
use unicode_width::UnicodeWidthStr;

const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default().bold();
const STRONG: Style = Style::new().bold();

/// Formats all problems, each with its source line.
pub(crate) fn text(problems: &[Problem], sources: &Sources) -> String {
    problems.iter().map(|problem| one(problem, sources.line(problem)) + "\n").collect()
}

/// Counts by severity, such as `2 errors, 1 warning`.
pub(crate) fn counts(problems: &[Problem]) -> String {
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    let some = |number: usize, what: &str| (number > 0).then(|| counted(number, what));
    let all: Vec<String> =
        [some(errors, "error"), some(problems.len() - errors, "warning")].into_iter().flatten().collect();
    if all.is_empty() { "no problems".to_owned() } else { all.join(", ") }
}

fn one(problem: &Problem, line: Option<String>) -> String {
    let style = if problem.severity == Severity::Error { BAD } else { WARNING };
    let label = if problem.severity == Severity::Error { "error" } else { "warning" };
    let mut out = String::new();
    let message = safe::line(&problem.message);
    let file = safe::line(&problem.file);
    let gutter = " ".repeat(problem.line.to_string().len());
    write(
        &mut out,
        format_args!("{style}{label}[{}]{style:#}{STRONG}: {message}{STRONG:#}\n", problem.code.name()),
    );
    let place = if problem.line > 0 { format!("{file}:{}:{}", problem.line, problem.column) } else { file };
    write(&mut out, format_args!("{gutter}{FAINT}-->{FAINT:#} {place}\n"));
    if let Some(line) = line {
        let (shown, column) = placed(&line, problem.column);
        let room = shown.chars().count().saturating_sub(column).max(1);
        let marks = "^".repeat((problem.length as usize).clamp(1, room));
        let blanks = " ".repeat(shown.chars().take(column).collect::<String>().width());
        write(&mut out, format_args!("{gutter} {FAINT}|{FAINT:#}\n"));
        write(&mut out, format_args!("{FAINT}{} |{FAINT:#} {shown}\n", problem.line));
        write(&mut out, format_args!("{gutter} {FAINT}|{FAINT:#} {blanks}{style}{marks}{style:#}\n"));
    }
    if !problem.key.is_empty() {
        write(&mut out, format_args!("{gutter} {FAINT}= key:{FAINT:#} {}\n", safe::line(&problem.key)));
    }
    if let Some(suggestion) = &problem.suggestion {
        write(&mut out, format_args!("{gutter} {HELP}= help:{HELP:#} {}\n", safe::line(suggestion)));
    }
    out
}

/// Maximum width of the excerpt of a line.
const WIDTH: usize = 120;

/// The escaped excerpt of a line around a column, and the zero-based position of the column in it.
fn placed(line: &str, column: u32) -> (String, usize) {
    let at = (column as usize).saturating_sub(1);
    let skip = if line.chars().count() > WIDTH { at.saturating_sub(WIDTH / 2) } else { 0 };
    let cut = if skip > 0 { "…" } else { "" };
    let part: String = line.chars().skip(skip).take(WIDTH).map(|c| if c == '\t' { ' ' } else { c }).collect();
    let before = safe::text(&part.chars().take(at - skip).collect::<String>()).chars().count();
    (format!("{cut}{}", safe::text(&part)), before + cut.chars().count())
}

fn write(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a String takes any text");
}
