//! The table: a row per server.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::server::Server;
use super::trial::{Compared, Outcome};

/// The heading of the page's part that is written by the task.
const HEADING: &str = "## Servers\n";
const HEAD: &str = "| server | version | revision | tools | direct | bridge | gateway | note |\n|---|---|---|---|---|---|---|---|\n";

#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<(Server, Outcome)>,
}

impl Table {
    pub(super) fn new(rows: Vec<(Server, Outcome)>) -> Self {
        Self { rows }
    }

    /// Returns the servers that differ or could not be tried.
    pub(crate) fn failed(&self) -> Vec<String> {
        let failed = self
            .rows
            .iter()
            .filter(|(_, outcome)| !matches!(outcome, Outcome::Compared(compared) if compared.is_same()));
        failed.map(|(server, _)| server.to_string()).collect()
    }

    /// Returns the totals in one sentence, for the terminal and the page.
    pub(crate) fn summary(&self) -> String {
        let count = |is: fn(&Compared) -> bool| {
            let compared = self.rows.iter().filter_map(|(_, outcome)| match outcome {
                Outcome::Compared(compared) => Some(compared),
                Outcome::NotTried(_) => None,
            });
            compared.filter(|compared| is(compared)).count()
        };
        format!(
            "{} servers: {} list directly, {} of these are the same through the bridge and {} through the \
             gateway; {} fail, {} of these alike.",
            self.rows.len(),
            count(|one| one.direct.error().is_none()),
            count(|one| one.direct.error().is_none() && one.bridge.is_empty()),
            count(|one| one.direct.error().is_none() && one.gateway.is_empty()),
            count(|one| one.direct.error().is_some()),
            count(|one| one.direct.error().is_some() && one.is_same()),
        )
    }

    /// Returns the page with its part about servers replaced.
    pub(crate) fn write_into(&self, page: &str) -> Result<String> {
        let start = page.find(HEADING).context("the page has no heading \"Servers\"")? + HEADING.len();
        let rest = page[start..].find("\n## ").map_or("", |end| &page[start + end..]);
        let mut text = format!("{}\n{}\n\n{HEAD}", &page[..start], wrapped(&self.summary()));
        for (server, outcome) in &self.rows {
            writeln!(text, "| {server} | {} | {} |", server.version, cells(outcome).join(" | "))
                .expect("writing to a String does not fail");
        }
        Ok(text + rest)
    }
}

/// Revision, tools, direct, bridge, gateway, note.
fn cells(outcome: &Outcome) -> [String; 6] {
    let compared = match outcome {
        Outcome::NotTried(_) => return ["–", "–", "not tried", "–", "–", ""].map(str::to_owned),
        Outcome::Compared(compared) => compared,
    };
    let Compared { direct, bridge, gateway, varying } = &**compared;
    let same = |pointers: &[String]| if pointers.is_empty() { "same" } else { "differs" }.to_owned();
    let mut notes = Vec::new();
    for (who, pointers) in [("bridge: ", bridge), ("gateway: ", gateway), ("varies: ", varying)] {
        if let Some(first) = pointers.first() {
            let more =
                if pointers.len() > 1 { format!(" and {} more", pointers.len() - 1) } else { String::new() };
            notes.push(format!("{who}`{first}`{more}"));
        }
    }
    notes.extend(direct.error());
    notes.extend(direct.failing_lists());
    [
        direct.revision().to_owned(),
        direct.tools().map_or_else(|| "–".to_owned(), |count| count.to_string()),
        if direct.error().is_some() { "fails" } else { "lists" }.to_owned(),
        same(bridge),
        same(gateway),
        notes.join("; "),
    ]
}

/// Breaks a sentence into lines of at most 100 columns.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.len() + 1 + word.len() <= 100 {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_part_about_servers_is_replaced() {
        let page = "# Title\n\n## Servers\n\nold\n\n| old |\n\n## After\n\nkept\n";
        let written = Table::new(Vec::new()).write_into(page).unwrap();
        assert!(written.starts_with("# Title\n\n## Servers\n\n0 servers"), "{written}");
        assert!(written.ends_with("|---|\n\n## After\n\nkept\n"), "{written}");
        assert!(!written.contains("old"), "{written}");
        assert_eq!(Table::new(Vec::new()).write_into(&written).unwrap(), written);
    }

    #[test]
    fn a_page_without_the_heading_is_an_error() {
        assert!(Table::new(Vec::new()).write_into("# Title\n").is_err());
    }
}
