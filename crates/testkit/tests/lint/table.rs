//! The table of rules itself.

use super::fixture::Fixture;
use std::collections::BTreeSet;
use trunkline_lint::{Group, Mode, rules};

#[test]
fn names_are_unique_and_kebab_case() {
    let mut names = BTreeSet::new();
    for rule in rules::all() {
        let kebab = rule.name.split('-').all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        });
        assert!(kebab, "{}", rule.name);
        assert!(names.insert(rule.name), "{} stands twice", rule.name);
    }
}

#[test]
fn every_rule_says_what_why_and_how() {
    for rule in rules::all() {
        assert!(rule.summary.len() > 20 && !rule.summary.ends_with('.'), "{}: summary", rule.name);
        assert!(rule.why.len() > 30 && rule.why.ends_with('.'), "{}: why", rule.name);
        assert!(rule.fix.len() > 15 && rule.fix.ends_with('.'), "{}: fix", rule.name);
        assert!(!rule.clause.page.is_empty(), "{}: clause", rule.name);
    }
}

/// `specification.json` lists the pages and headings that exist; a clause that names another one
/// was not looked up.
#[test]
fn every_clause_is_a_section_of_the_specification() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../lint/fixtures/specification.json");
    let text = std::fs::read_to_string(path).expect("the table of sections is there");
    let known: serde_json::Value = serde_json::from_str(&text).expect("the table is JSON");
    for rule in rules::all() {
        let Some(revision) = rule.clause.revision else { continue };
        let page = known[revision].get(rule.clause.page).and_then(serde_json::Value::as_array);
        let page =
            page.unwrap_or_else(|| panic!("{}: {revision} has no page {}", rule.name, rule.clause.page));
        let section = rule.clause.section;
        assert!(section.is_empty() || page.iter().any(|it| it == section), "{}: {}", rule.name, rule.clause);
    }
}

#[test]
fn a_rule_is_no_less_risky_than_its_least_risky_probe() {
    for rule in rules::all() {
        let least = rule.needs.iter().map(|probe| probe.mode).min().unwrap_or(Mode::Passive);
        assert!(rule.mode >= least, "{} says {:?}, its probes need {least:?}", rule.name, rule.mode);
    }
}

#[test]
fn fixtures_belong_to_rules() {
    for group in Group::ALL {
        let known: BTreeSet<_> = rules::all().filter(|rule| rule.group == group).map(Fixture::path).collect();
        let Some(folder) = known.first().and_then(|path| path.parent()) else { continue };
        for entry in std::fs::read_dir(folder).expect("a group with rules has fixtures") {
            let path = entry.expect("a folder can be read").path();
            assert!(known.contains(&path), "{} belongs to no rule", path.display());
        }
    }
}
