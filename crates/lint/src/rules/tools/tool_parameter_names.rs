//! `tool-parameter-names`: parameter names are accepted by model providers.

use crate::{pointer, probes::LISTS, rules::prelude::*, rules::schema};

pub(super) static RULE: Rule = Rule {
    name: "tool-parameter-names",
    group: Group::Tools,
    level: Level::Warning,
    summary: "names of parameters have 1 to 64 characters of `A-Z a-z 0-9 _ - .`",
    clause: Clause::practice("client limits", "parameter names"),
    why: "Model providers refuse a request whose tools have other names: one parameter breaks the whole conversation.",
    fix: "Rename the parameter; `$` and blanks are the usual culprits.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const LONGEST: usize = 64;

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(root) = tool.value.get("inputSchema") else { continue };
        for (name, _) in schema::properties(root) {
            let right = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            if name.is_empty() || name.chars().count() > LONGEST || !name.chars().all(right) {
                let message = format!("the name of the parameter `{name}` is refused by model providers");
                findings.push(
                    tool.finding(message, &format!("/inputSchema/properties/{}", pointer::escape(name))),
                );
            }
        }
    }
    Ok(findings)
}
