//! `confusable-tools`: names and descriptions distinguish the tools.

use crate::{evidence::Item, probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "confusable-tools",
    group: Group::Docs,
    level: Level::Info,
    summary: "no two tools have nearly the same name or description",
    clause: Clause::practice("practice", "tool quality"),
    why: "A model that cannot tell two tools apart picks one at random.",
    fix: "Say in each description when to use this tool and not the other, or merge them.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

/// Minimum similarity of two descriptions that count as the same.
const SAME_TEXT: f64 = 0.95;

/// Maximum number of tools compared; other rules report larger lists.
const MOST: usize = 200;

fn check(case: &Case<'_>) -> Verdict {
    let tools = case.list(List::Tools)?;
    let tools = &tools[..tools.len().min(MOST)];
    let mut findings = Vec::new();
    for (index, other) in tools.iter().enumerate() {
        // Reports one similar tool only, to avoid a finding for every pair.
        for one in &tools[..index] {
            let (Some(a), Some(b)) = (one.text("name"), other.text("name")) else { continue };
            let bare = |name: &str| name.to_lowercase().replace(['_', '-', '.'], "");
            let text = |item: &Item<'_>| item.text("description").unwrap_or_default().to_lowercase();
            let (left, right) = (text(one), text(other));
            if a != b && bare(a) == bare(b) {
                findings.push(
                    other.finding(format!("its name differs from `{a}` only in how it is written"), "/name"),
                );
                break;
            } else if left.len() > 20 && strsim::normalized_levenshtein(&left, &right) > SAME_TEXT {
                findings
                    .push(other.finding(format!("its description is nearly that of `{a}`"), "/description"));
                break;
            }
        }
    }
    Ok(findings)
}
