//! Reads `docs/real-servers.md`: a section per server, with a table of its findings.

use crate::subject::Mode;
use std::{collections::BTreeSet, fs, path::Path};

/// The rule that finds something only if the server has its own network namespace.
const NEEDS_OWN_NETWORK: &str = "listens-everywhere";

#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) sections: Vec<Section>,
}

#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) title: String,
    pub(crate) version: String,
    pub(crate) rows: Vec<Row>,
}

#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) rule: String,
    level: String,
    mode: Mode,
    clause: String,
}

/// A finding: the rule, its level, and the clause of the specification.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deviation {
    pub(crate) rule: String,
    pub(crate) level: String,
    pub(crate) clause: String,
}

impl Page {
    pub(crate) fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/real-servers.md");
        let mut page = Self::default();
        for line in fs::read_to_string(path).unwrap().lines() {
            if let Some(heading) = line.strip_prefix("### ") {
                let (title, version) = heading.split_once(" — ").expect("a heading tells the version");
                page.sections.push(Section {
                    title: title.to_owned(),
                    version: version.to_owned(),
                    rows: Vec::new(),
                });
            } else if let (Some(row), Some(section)) = (Row::read(line), page.sections.last_mut()) {
                section.rows.push(row);
            }
        }
        page
    }

    pub(crate) fn section(&self, title: &str) -> &Section {
        let found = self.sections.iter().find(|section| section.title == title);
        found.unwrap_or_else(|| panic!("docs/real-servers.md has no section `{title}`"))
    }
}

impl Row {
    /// `| [rule](rules/rule.md) | level | run | what it does | clause |`
    fn read(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.strip_prefix("| [")?.split(" | ").map(str::trim).collect();
        let [rule, level, run, what, clause] = cells.as_slice() else {
            panic!("a row has five cells: {line}")
        };
        assert!(what.len() > 20, "a row says what the server does: {line}");
        let mode = match *run {
            "usual" => Mode::Default,
            "active" => Mode::Active,
            other => panic!("a run is `usual` or `active`, not `{other}`"),
        };
        let rule = rule.split(']').next()?.to_owned();
        let clause = clause.trim_end_matches(" |").to_owned();
        Some(Self { rule, level: (*level).to_owned(), mode, clause })
    }
}

impl Section {
    /// The expected findings of a run in this mode. An active run finds everything that a usual
    /// one does.
    pub(crate) fn expected(&self, mode: Mode, own_network: bool) -> BTreeSet<Deviation> {
        let rows = self.rows.iter().filter(|row| row.mode <= mode);
        rows.filter(|row| own_network || row.rule != NEEDS_OWN_NETWORK)
            .map(|row| Deviation {
                rule: row.rule.clone(),
                level: row.level.clone(),
                clause: row.clause.clone(),
            })
            .collect()
    }
}
