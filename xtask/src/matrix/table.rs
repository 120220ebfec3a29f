//! The table: scenarios that passed, failed, or cannot pass.

use std::fmt::Write as _;

use crate::conformance::Verdict;

/// Text before the tables.
const HEAD: &str = include_str!("head.md");
/// Text after the tables, on cases that our own server does not show.
const NOTES: &str = include_str!("notes.md");

#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(super) rows: Vec<Row>,
}

/// One cell's scenarios.
#[derive(Debug)]
pub(super) struct Row {
    name: &'static str,
    client: &'static str,
    server: &'static str,
    transport: &'static str,
    outcomes: Vec<(String, Outcome)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    Passed,
    Failed(Vec<String>),
    /// It failed and cannot pass, for this reason.
    Impossible(&'static str),
}

impl Outcome {
    pub(super) fn of(verdict: &Verdict, reason: Option<&'static str>) -> Self {
        match (verdict.passed(), reason) {
            (true, _) => Self::Passed,
            (false, Some(reason)) => Self::Impossible(reason),
            (false, None) => Self::Failed(verdict.reasons().to_vec()),
        }
    }
}

impl Row {
    pub(super) fn new(
        name: &'static str,
        client: &'static str,
        server: &'static str,
        transport: &'static str,
    ) -> Self {
        Self { name, client, server, transport, outcomes: Vec::new() }
    }

    pub(super) fn add(&mut self, scenario: &str, outcome: Outcome) {
        match &outcome {
            Outcome::Passed => println!("  ok    {scenario}"),
            Outcome::Impossible(reason) => println!("  --    {scenario}: {reason}"),
            Outcome::Failed(reasons) => {
                println!("  FAIL  {scenario}");
                for reason in reasons {
                    println!("          {reason}");
                }
            }
        }
        self.outcomes.push((scenario.to_owned(), outcome));
    }

    fn count(&self, is: impl Fn(&Outcome) -> bool) -> usize {
        self.outcomes.iter().filter(|(_, outcome)| is(outcome)).count()
    }

    fn passed(&self) -> usize {
        self.count(|outcome| *outcome == Outcome::Passed)
    }

    fn impossible(&self) -> usize {
        self.count(|outcome| matches!(outcome, Outcome::Impossible(_)))
    }

    fn failed(&self) -> usize {
        self.outcomes.len() - self.passed() - self.impossible()
    }
}

impl Table {
    pub(crate) fn passed(&self) -> usize {
        self.rows.iter().map(Row::passed).sum()
    }

    pub(crate) fn failed(&self) -> usize {
        self.rows.iter().map(Row::failed).sum()
    }

    /// Returns the counts, for the terminal and the page.
    pub(crate) fn summary(&self) -> String {
        let mut text = String::from(
            "| client speaks | server speaks | between bridge and server | passed | cannot be | failed |\n|---|---|---|---|---|---|\n",
        );
        for row in &self.rows {
            let Row { client, server, transport, outcomes, .. } = row;
            writeln!(
                text,
                "| {client} | {server} | {transport} | {} of {} | {} | {} |",
                row.passed(),
                outcomes.len(),
                row.impossible(),
                row.failed()
            )
            .expect("writing to a String does not fail");
        }
        text
    }

    /// Returns the whole page in Markdown.
    pub(crate) fn page(&self) -> String {
        let mut text = HEAD.to_owned();
        text.push_str(&self.summary());
        text.push_str(
            "\n## What cannot be, and why\n\n| client | server | scenario | clause |\n|---|---|---|---|\n",
        );
        let mut seen = Vec::new();
        for row in &self.rows {
            for (scenario, outcome) in &row.outcomes {
                let Outcome::Impossible(reason) = outcome else { continue };
                let line = format!("| {} | {} | {scenario} | {reason} |\n", row.client, row.server);
                if !seen.contains(&line) {
                    text.push_str(&line);
                    seen.push(line);
                }
            }
        }
        text.push_str(NOTES);
        for row in self.rows.iter().filter(|row| row.failed() > 0) {
            writeln!(text, "\n## Failed: {}\n", row.name).expect("writing to a String does not fail");
            for (scenario, outcome) in &row.outcomes {
                if let Outcome::Failed(reasons) = outcome {
                    writeln!(text, "- {scenario}: {}", reasons.join("; "))
                        .expect("writing to a String does not fail");
                }
            }
        }
        text
    }
}
