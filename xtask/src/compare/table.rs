//! The table: a row per fault, a column per linter.

use std::fmt::Write as _;

use super::fault::{Fault, Over};
use super::linter::Linter;
use super::verdict::Verdict;

const COUNT: usize = Linter::ALL.len();

#[derive(Debug)]
pub(crate) struct Table {
    versions: Vec<(Linter, String)>,
    rows: Vec<Row>,
    clean: Vec<(String, [usize; COUNT])>,
    /// Number of faults that our linter names when judged by the words, as the others are.
    by_words: usize,
}

#[derive(Debug)]
struct Row {
    name: String,
    mistake: String,
    over: &'static str,
    active: bool,
    verdicts: [Verdict; COUNT],
}

impl Table {
    pub(super) fn new(versions: Vec<(Linter, String)>) -> Self {
        Self { versions, rows: Vec::new(), clean: Vec::new(), by_words: 0 }
    }

    pub(super) fn add(&mut self, fault: &Fault, verdicts: [Verdict; COUNT]) {
        let over = if fault.over() == Over::Stdio { "stdio" } else { "HTTP" };
        let (name, mistake) = (fault.name.clone(), fault.mistake.clone());
        self.rows.push(Row { name, mistake, over, active: fault.active, verdicts });
    }

    pub(super) fn add_clean(&mut self, right: &Fault, complaints: [usize; COUNT]) {
        self.clean.push((right.name.clone(), complaints));
    }

    pub(super) fn count_by_words(&mut self) {
        self.by_words += 1;
    }

    /// Returns the faults that our linter does not name.
    pub(crate) fn unnamed(&self) -> Vec<&str> {
        let rows = self.rows.iter().filter(|row| !matches!(row.verdicts[0], Verdict::Named(_)));
        rows.map(|row| row.name.as_str()).collect()
    }

    /// Returns the totals, for the terminal and the page.
    pub(crate) fn summary(&self) -> String {
        let mut text = String::from(
            "| linter | version | named | noticed, but something else | missed | complaints about right servers |\n|---|---|---|---|---|---|\n",
        );
        for (index, (linter, version)) in self.versions.iter().enumerate() {
            let count =
                |is: fn(&Verdict) -> bool| self.rows.iter().filter(|row| is(&row.verdicts[index])).count();
            let named = count(|verdict| matches!(verdict, Verdict::Named(_)));
            let noticed = count(|verdict| matches!(verdict, Verdict::Noticed(_)));
            let always: usize = self.clean.iter().map(|(_, complaints)| complaints[index]).sum();
            writeln!(
                text,
                "| {} | {version} | {named} of {} ({} %) | {noticed} | {} | {always} in {} runs |",
                linter.name(),
                self.rows.len(),
                named * 100 / self.rows.len().max(1),
                self.rows.len() - named - noticed,
                self.clean.len(),
            )
            .expect("writing to a String does not fail");
        }
        let (named, all) = (self.by_words, self.rows.len());
        let share = named * 100 / all.max(1);
        writeln!(text, "\nOurs, judged by the words alone as the others are: {named} of {all} ({share} %).")
            .expect("writing to a String does not fail");
        text
    }

    /// Returns the whole page in Markdown.
    pub(crate) fn page(&self) -> String {
        let mut text = format!("{HEAD}\n{}\n{HOW}\n## Fault by fault\n\n", self.summary());
        let names = Linter::ALL.map(Linter::name).join(" | ");
        writeln!(text, "| fault | over | {names} |\n|---|---|{}", "---|".repeat(COUNT))
            .expect("writing to a String does not fail");
        for row in &self.rows {
            let over = if row.active { format!("{}, active", row.over) } else { row.over.to_owned() };
            let cells = row.verdicts.each_ref().map(cell).join(" | ");
            writeln!(text, "| `{}`: {} | {over} | {cells} |", row.name, row.mistake)
                .expect("writing to a String does not fail");
        }
        text.push_str(
            "\n## Right servers\n\nHow many complaints each linter has about a server without a fault.\n\n",
        );
        writeln!(text, "| server | {names} |\n|---|{}", "---|".repeat(COUNT))
            .expect("writing to a String does not fail");
        for (name, complaints) in &self.clean {
            let cells = complaints.map(|count| count.to_string()).join(" | ");
            writeln!(text, "| {} | {cells} |", name.trim_start_matches("clean: "))
                .expect("writing to a String does not fail");
        }
        text
    }
}

fn cell(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Named(check) => format!("**{}**", check.replace('|', "/")),
        Verdict::Noticed(check) => format!("({})", check.replace('|', "/")),
        Verdict::Missed => "–".to_owned(),
    }
}

const HEAD: &str = "# Linters side by side

Written by `cargo xtask compare --write`. The faults are `crates/testkit/faults`: servers of one small model, each with one
mistake that authors of servers make, written from the specification and not from our rules. Every linter was run on every
one of them, and on the right server beside it. When the set was new, ours named about nine in ten; what it missed was then
mended, so that its figure here says little about mistakes that nobody has thought of.
";

const HOW: &str = "How it is decided whether a fault is *named*:

- Only complaints count that the linter does not have about the right server that speaks the same eras over the same
  transport; times and counts in a complaint do not make it another one.
- **Ours** must find it by one of the rules in the fault's `named_by`; a finding of another rule is *noticed*. These lists were
  filled in after the first runs, from what ours had found, and keep that from getting lost: they are a test, not a
  measurement. The figure that can be set beside the others' is the one by the words, which were written before any linter ran.
- **The others** name it when such a complaint contains one of a few words about the faulty thing (`words` in the set, in
  which case does not matter). That is generous: a parser's error that says \"JSON\" names a banner on standard output.
  Every other new complaint, and every failure of the Inspector that says something else, is *noticed*: in brackets.
- Rows marked *active* need tools to be called. There `trunkline lint --active` and mcp-doctor's `break` and `reject` are
  run, and the Inspector calls the tool; mcplint's `validate` and `scan` call tools always.
- A linter that has not ended after 90 seconds has said nothing.
";
