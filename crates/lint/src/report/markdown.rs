//! The report as Markdown, for pull requests and wikis.

use super::{CLIENT_LIMITS, Cost, FindingReport, Kind, Report, TargetReport};
use std::fmt::Write as _;
use trunkline_secrets::{counted, visible};

/// Width of the longest bar in characters.
const BAR: usize = 24;

/// Maximum number of frames shown per finding.
const FRAMES: usize = 4;

pub fn markdown(report: &Report) -> String {
    let mut out = String::from("# trunkline lint\n\n");
    let s = &report.summary;
    put(
        &mut out,
        "| critical | errors | warnings | infos | ignored | passed | not verified | not applicable |",
    );
    put(&mut out, "|---|---|---|---|---|---|---|---|");
    put(
        &mut out,
        &format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            s.critical, s.errors, s.warnings, s.infos, s.ignored, s.passed, s.not_verified, s.not_applicable
        ),
    );
    for target in &report.targets {
        target_text(&mut out, target);
    }
    out
}

fn target_text(out: &mut String, target: &TargetReport) {
    put(out, &format!("## {}\n", code(&target.target)));
    let about: Vec<String> =
        [target.server.clone(), target.transport.clone(), Some(target.eras.join(" and "))]
            .into_iter()
            .flatten()
            .filter(|text| !text.is_empty())
            .map(|text| plain(&text))
            .collect();
    put(out, &format!("{}\n", about.join(" · ")));
    if let Some(why) = &target.unreachable {
        put(out, &format!("**Cannot be reached:** {}\n", plain(why)));
    }
    let mut findings: Vec<&FindingReport> = target.rules.iter().flat_map(|rule| &rule.findings).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    for finding in findings {
        finding_text(out, finding);
    }
    let open: Vec<_> = target.rules.iter().filter(|rule| rule.outcome == Kind::NotVerified).collect();
    if !open.is_empty() {
        put(out, "### Not verified\n");
        for rule in open {
            put(out, &format!("- `{}`: {}", rule.rule.name, plain(rule.why.as_deref().unwrap_or_default())));
        }
        out.push('\n');
    }
    if let Some(cost) = &target.cost {
        cost_text(out, cost);
    }
}

fn finding_text(out: &mut String, finding: &FindingReport) {
    let about = finding.about.as_ref().map(|about| format!(" – {}", plain(about))).unwrap_or_default();
    put(out, &format!("### {} `{}`{about}\n", finding.level, finding.rule));
    put(out, &format!("{}\n", plain(&finding.message)));
    if let Some(ignored) = &finding.ignored {
        put(out, &format!("*Ignored ({}): {}*\n", ignored.by, plain(&ignored.reason)));
    }
    if let Some(pointer) = finding.pointer.as_deref().filter(|pointer| !pointer.is_empty()) {
        put(out, &format!("At {}:\n", code(pointer)));
    }
    if let Some(snippet) = &finding.snippet {
        fence(out, "json", &snippet.lines.join("\n"));
    }
    if finding.snippet.is_none() && !finding.frames.is_empty() {
        let frames: Vec<&str> = finding.frames.iter().take(FRAMES).map(|frame| frame.text.as_str()).collect();
        fence(out, "text", &frames.join("\n"));
    }
    for note in &finding.notes {
        put(out, &format!("> {}\n", plain(&note.replace('\n', " "))));
    }
    put(out, &format!("**Fix:** {}  \n*{}*\n", finding.fix, finding.clause));
}

fn cost_text(out: &mut String, cost: &Cost) {
    if cost.tools.is_empty() {
        return;
    }
    put(out, &format!("### Context cost: {} tokens in {}\n", cost.total, counted(cost.tools.len(), "tool")));
    let most = cost.tools[0].tokens.max(1);
    let width = cost.tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or(0);
    let bars: Vec<String> = cost
        .tools
        .iter()
        .map(|tool| {
            let bar = "█".repeat((tool.tokens * BAR).div_ceil(most));
            format!("{:width$} {:>6} {bar}", tool.name, tool.tokens)
        })
        .collect();
    fence(out, "text", &bars.join("\n"));
    let allowed: Vec<String> =
        CLIENT_LIMITS.iter().map(|limit| format!("{} {}", limit.client, limit.tools)).collect();
    put(out, &format!("Tools that clients take, of all servers together: {}.\n", allowed.join(", ")));
}

/// Writes a code block whose fence is longer than any run of backticks in the text.
fn fence(out: &mut String, language: &str, text: &str) {
    let ticks = "`".repeat(longest_run(text).max(2) + 1);
    put(out, &format!("{ticks}{language}\n{}\n{ticks}\n", visible::text(text)));
}

fn code(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    format!("{ticks}{}{ticks}", visible::line(text))
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Escapes Markdown and HTML in a server's text.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible::line(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '[' | ']' | '*' | '_' | '#' | '|' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn put(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("a string takes everything");
}
