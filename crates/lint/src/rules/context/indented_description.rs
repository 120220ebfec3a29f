//! `indented-description`: descriptions have no indentation of the source code.

use crate::{probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "indented-description",
    group: Group::Context,
    level: Level::Info,
    summary: "descriptions of tools are not indented like the source they come from",
    clause: Clause::practice("client limits", "context cost"),
    why: "Runs of blanks cost tokens with every request and say nothing.",
    fix: "Strip the common indentation (`inspect.cleandoc`, `dedent`) before the text is sent.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Leading spaces of a line that count as source code indentation.
const INDENT: usize = 4;
/// Minimum number of such spaces for a finding.
const LEAST: usize = 60;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let text = tool.text("description").unwrap_or_default();
        let blanks = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let wasted: usize = text.lines().skip(1).map(blanks).filter(|count| *count >= INDENT).sum();
        if wasted >= LEAST {
            findings.push(
                tool.finding(
                    format!("{wasted} characters of the description are indentation"),
                    "/description",
                ),
            );
        }
    }
    Ok(findings)
}
