//! The report as text for terminals. It contains ANSI styles, which the writer strips where
//! needed.

use super::{CLIENT_LIMITS, Cost, FindingReport, Kind, Report, Snippet, TargetReport, finding::shorten};
use crate::{evidence::Direction, outcome::Level, rule::Group};
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;
use trunkline_secrets::{
    counted,
    visible::{line as visible, text as shown},
};
use unicode_width::UnicodeWidthStr as _;

/// The level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Findings, and the number of other outcomes.
    Findings,
    /// Also rules that passed, were not verified or do not apply.
    Everything,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const CARET: Style = AnsiColor::Red.on_default().bold();
const FIX: Style = AnsiColor::Cyan.on_default().bold();

/// Maximum length of a line of a frame.
const FRAME_WIDTH: usize = 200;

/// Width of the longest bar in characters.
const BAR: usize = 32;

/// Number of tools with their own bar.
const BARS: usize = 15;

pub fn text(report: &Report, detail: Detail) -> String {
    let mut out = String::new();
    for target in &report.targets {
        target_text(&mut out, target, detail);
    }
    if report.targets.len() > 1 {
        overview(&mut out, report);
    }
    let summary = &report.summary;
    let style = level_style(report.worst().unwrap_or(Level::Info));
    line(
        &mut out,
        &format!(
            "{style}{}{style:#}; {} passed, {} not verified, {} not applicable",
            summary.found(),
            summary.passed,
            summary.not_verified,
            summary.not_applicable
        ),
    );
    out
}

/// A summary line per subject, at the end.
fn overview(out: &mut String, report: &Report) {
    line(out, &format!("{BOLD}summary{BOLD:#}"));
    let widest = report
        .targets
        .iter()
        .map(|target| visible(&target.target).width().min(FRAME_WIDTH))
        .max()
        .unwrap_or(0);
    for target in &report.targets {
        let style = level_style(target.worst().unwrap_or(Level::Info));
        let name = shorten(&visible(&target.target), FRAME_WIDTH);
        let pad = " ".repeat(widest.saturating_sub(name.width()));
        line(out, &format!("  {name}{pad}  {style}{}{style:#}", target.summary().found()));
    }
    out.push('\n');
}

fn target_text(out: &mut String, target: &TargetReport, detail: Detail) {
    let about: Vec<&str> = [target.server.as_deref(), target.transport.as_deref()]
        .into_iter()
        .flatten()
        .filter(|text| !text.is_empty())
        .collect();
    let eras =
        if target.eras.is_empty() { String::new() } else { format!(" · {}", target.eras.join(" and ")) };
    let (name, about) = (visible(&target.target), visible(&about.join(" · ")));
    line(out, &format!("{BOLD}{name}{BOLD:#}  {DIM}{about}{eras}{DIM:#}\n"));
    if let Some(why) = &target.unreachable {
        line(out, &format!("{CARET}cannot be reached{CARET:#}: {}\n", visible(why)));
    }
    for group in Group::ALL {
        let rules: Vec<_> = target.rules.iter().filter(|rule| rule.rule.group == group).collect();
        let findings: Vec<_> = rules
            .iter()
            .flat_map(|rule| &rule.findings)
            .filter(|finding| finding.ignored.is_none())
            .collect();
        let others = detail == Detail::Everything && rules.iter().any(|rule| rule.outcome != Kind::Finding);
        if findings.is_empty() && !others {
            continue;
        }
        line(out, &format!("{BOLD}{group}{BOLD:#}"));
        let mut last: Option<&FindingReport> = None;
        for finding in findings {
            if last.is_some_and(|last| last.rule != finding.rule || last.fix != finding.fix) {
                advice(out, last);
            }
            finding_text(out, finding, last);
            last = Some(finding);
        }
        advice(out, last);
        if detail == Detail::Everything {
            for rule in rules.iter().filter(|rule| rule.outcome != Kind::Finding) {
                let (sign, why) = (sign(rule.outcome), visible(rule.why.as_deref().unwrap_or_default()));
                line(out, &format!("  {DIM}{sign} {} {why}{DIM:#}", rule.rule.name));
            }
        }
        out.push('\n');
    }
    let wanted = target.rules.iter().any(|rule| rule.rule.group == Group::Context);
    if let Some(cost) = target.cost.as_ref().filter(|_| wanted) {
        cost_text(out, cost);
    }
}

/// The fix of a rule, once for all of its findings.
fn advice(out: &mut String, finding: Option<&FindingReport>) {
    let Some(finding) = finding else { return };
    line(out, &format!("    {FIX}fix{FIX:#} {}", finding.fix));
    line(out, &format!("    {DIM}{}{DIM:#}", finding.clause));
}

fn finding_text(out: &mut String, finding: &FindingReport, last: Option<&FindingReport>) {
    let same = |last: &FindingReport| {
        last.rule == finding.rule && last.level == finding.level && last.eras == finding.eras
    };
    if !last.is_some_and(same) {
        let style = level_style(finding.level);
        let eras = if finding.eras.len() == 1 { format!(" ({})", finding.eras[0]) } else { String::new() };
        let (level, rule) = (finding.level, finding.rule);
        line(out, &format!("  {style}{level}{style:#} {BOLD}{rule}{BOLD:#}{DIM}{eras}{DIM:#}"));
    }
    let about = finding.about.as_ref().map(|about| format!("{about}: ")).unwrap_or_default();
    line(out, &format!("    {}", visible(&format!("{about}{}", finding.message))));
    if let Some(snippet) = &finding.snippet {
        snippet_text(out, snippet, finding.pointer.as_deref().unwrap_or_default());
    }
    for frame in &finding.frames {
        let arrow = match frame.direction {
            Direction::Sent => "→",
            Direction::Received => "←",
            Direction::Noise => "!",
        };
        if finding.snippet.is_none() || frame.direction == Direction::Sent {
            let text = shorten(&shown(&frame.text).replace('\n', "␊"), FRAME_WIDTH);
            line(out, &format!("    {DIM}{arrow} {:>5} ms  {text}{DIM:#}", frame.at_ms));
        }
    }
    finding.notes.iter().for_each(|note| line(out, &format!("    {DIM}{}{DIM:#}", visible(note))));
}

fn snippet_text(out: &mut String, snippet: &Snippet, pointer: &str) {
    line(
        out,
        &format!(
            "    {DIM}at {}{DIM:#}",
            visible(if pointer.is_empty() { "the whole message" } else { pointer })
        ),
    );
    for (index, text) in snippet.lines.iter().enumerate() {
        line(out, &format!("    {DIM}│{DIM:#} {}", shown(text)));
        if index == snippet.line {
            let (before, carets) = (" ".repeat(snippet.column), "^".repeat(snippet.width));
            line(out, &format!("    {DIM}│{DIM:#} {before}{CARET}{carets}{CARET:#}"));
        }
    }
}

fn cost_text(out: &mut String, cost: &Cost) {
    if cost.tools.is_empty() {
        return;
    }
    line(
        out,
        &format!(
            "{BOLD}context cost{BOLD:#}  {DIM}estimated tokens of what the model reads of each tool: name, description, input schema{DIM:#}"
        ),
    );
    let widest =
        cost.tools.iter().take(BARS).map(|tool| visible(&tool.name).width().min(40)).max().unwrap_or(0);
    let most = cost.tools[0].tokens.max(1);
    for tool in cost.tools.iter().take(BARS) {
        let cells = (tool.tokens * BAR).div_ceil(most);
        let name = shorten(&visible(&tool.name), 40);
        let pad = " ".repeat(widest.saturating_sub(name.width()));
        line(out, &format!("  {name}{pad} {:>6} {}", tool.tokens, "█".repeat(cells)));
    }
    if let Some(rest) = cost.tools.get(BARS..).filter(|rest| !rest.is_empty()) {
        let tokens: usize = rest.iter().map(|tool| tool.tokens).sum();
        line(out, &format!("  {DIM}{}: {tokens}{DIM:#}", counted(rest.len(), "more tool")));
    }
    let instructions = match cost.instructions {
        0 => String::new(),
        tokens => format!(", instructions {tokens}"),
    };
    line(out, &format!("  total {} in {}{instructions}", cost.total, counted(cost.tools.len(), "tool")));
    for limit in CLIENT_LIMITS {
        let (client, allowed) = (limit.client, limit.tools);
        let part = cost.tools.len() * 100 / allowed;
        line(out, &format!("  {DIM}{client}: {part} % of the {allowed} tools it takes{DIM:#}"));
    }
    out.push('\n');
}

fn sign(kind: Kind) -> &'static str {
    match kind {
        Kind::Passed => "passed        ",
        Kind::Finding => "finding       ",
        Kind::NotVerified => "not verified  ",
        Kind::NotApplicable => "not applicable",
    }
}

fn level_style(level: Level) -> Style {
    match level {
        Level::Critical => AnsiColor::Magenta.on_default().bold(),
        Level::Error => AnsiColor::Red.on_default().bold(),
        Level::Warning => AnsiColor::Yellow.on_default().bold(),
        Level::Info => AnsiColor::Blue.on_default().bold(),
    }
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("a string takes everything");
}
