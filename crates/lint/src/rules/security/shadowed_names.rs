//! `shadowed-names`: no two servers offer the same tool.

use crate::{engine::Fleet, evidence::Evidence, probes::LISTS, rules::prelude::*};

pub(super) static RULE: Rule = Rule {
    name: "shadowed-names",
    group: Group::Security,
    level: Level::Error,
    summary: "no tool of one server has the name of another server's tool, or one that looks like it",
    clause: Clause::of("2026-07-28", "server/tools", "Tool Names"),
    why: "A call meant for one server reaches the other: by accident, or because somebody chose the name on purpose.",
    fix: "Rename the tool, or put the servers behind a gateway that prefixes names.",
    needs: &[&LISTS],
    check: Check::Fleet(check),
    ..Rule::USUAL
};

fn check(fleet: &Fleet<'_>) -> Verdict {
    let mut findings = Vec::new();
    for (index, one) in fleet.servers.iter().enumerate() {
        for other in &fleet.servers[index + 1..] {
            for mine in names(one) {
                let Some(twin) = names(other).into_iter().find(|name| alike(&mine, name)) else { continue };
                let how = if mine == twin { "has the same name as" } else { "looks like" };
                let message = format!("`{twin}` of {} {how} `{mine}` of {}", other.target, one.target);
                findings.push(Finding::new(message).about(format!("tool {twin}")));
            }
        }
    }
    Ok(findings)
}

fn names(evidence: &Evidence) -> Vec<String> {
    let case = evidence.cases().last();
    let tools = case.and_then(|case| case.list(List::Tools).ok()).unwrap_or_default();
    tools.iter().filter_map(|tool| tool.text("name")).map(str::to_owned).collect()
}

/// True if two names look the same: case, separators and look-alike characters are ignored.
fn alike(one: &str, other: &str) -> bool {
    let plain = |name: &str| {
        let name = name.to_lowercase().replace(['_', '-', '.'], "");
        let name: String = name.chars().map(plain_letter).collect();
        name.replace('0', "o").replace(['1', 'l'], "i").replace('5', "s")
    };
    let (one, other) = (plain(one), plain(other));
    one == other
        || (one.chars().count() >= LONG
            && strsim::damerau_levenshtein(&one, &other) == 1
            && !is_plural(&one, &other))
}

/// Shorter names may differ in one letter by chance.
const LONG: usize = 8;

/// True if one name is the plural of the other, which is no imitation.
fn is_plural(one: &str, other: &str) -> bool {
    one.strip_suffix('s') == Some(other) || other.strip_suffix('s') == Some(one)
}

/// The Latin letter that a letter of another script looks like.
fn plain_letter(letter: char) -> char {
    match letter {
        'а' | 'α' => 'a',
        'е' | 'ε' => 'e',
        'і' | 'ι' => 'i',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'у' | 'υ' => 'y',
        'х' | 'χ' => 'x',
        'ѕ' => 's',
        other => other,
    }
}
