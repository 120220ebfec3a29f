//! The report of an import, as text and as JSON. It contains no secrets.

use super::Import;
use crate::render::{HEADING, problems, safe, table::columns};
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use std::{fmt::Write as _, path::PathBuf};
use trunkline_config::{
    Sources, covered,
    import::{Outcome, Planned},
};

/// The files that were written.
pub(super) struct Written {
    pub(super) done: bool,
    pub(super) backup: Option<PathBuf>,
}

pub(super) fn json(import: &Import, written: &Written) -> Value {
    let server = |planned: &Planned| {
        let set: Vec<&str> = planned.secrets.iter().map(|secret| secret.variable.as_str()).collect();
        json!({
            "client": planned.client, "scope": planned.scope, "file": planned.file, "theirs": planned.theirs, "name": planned.name,
            "outcome": planned.outcome, "server": planned.entry, "notes": planned.notes, "set": set,
        })
    };
    json!({
        "target": import.target,
        "written": written.done,
        "backup": written.backup,
        "files": import.files.iter().map(|file| &file.path).collect::<Vec<_>>(),
        "servers": import.plan.servers.iter().map(server).collect::<Vec<_>>(),
        "problems": import.problems,
        "missing": import.missing,
    })
}

pub(super) fn text(import: &Import, written: &Written) -> String {
    let mut out = problems::text(&import.problems, &Sources::default());
    if import.plan.servers.is_empty() {
        out.push_str(if import.files.is_empty() {
            "no file of any client was found\n"
        } else {
            "no servers were found\n"
        });
        return out;
    }
    let headings = ["client", "server", "kind", "becomes"].map(str::to_owned);
    let rows: Vec<Vec<String>> = import.plan.servers.iter().map(row).collect();
    out.push_str(&columns(&headings, &rows));
    attention(&mut out, import);
    let target = safe::line(&import.target.display().to_string());
    if import.plan.adds() {
        write!(out, "\n{HEADING}{target}{HEADING:#}\n{}", diff(import)).expect("a String takes any text");
    }
    out.push('\n');
    out.push_str(&ending(import, written, &target));
    out
}

fn row(planned: &Planned) -> Vec<String> {
    let becomes = match planned.outcome {
        Outcome::Added => planned.name.clone(),
        Outcome::Same => format!("{} (is there already)", planned.name),
        Outcome::Kept => format!("{} (yours stays)", planned.name),
        Outcome::Refused | Outcome::OfProject => "— (see below)".to_owned(),
    };
    let kind = planned.entry.get("type").and_then(Value::as_str).unwrap_or("—");
    let client =
        format!("{} ({})", planned.client, if planned.file.is_absolute() { scope(planned) } else { "file" });
    [client, safe::line(&planned.theirs), kind.to_owned(), becomes].to_vec()
}

fn scope(planned: &Planned) -> &'static str {
    match planned.scope {
        trunkline_config::import::Scope::Project => "project",
        trunkline_config::import::Scope::User => "user",
    }
}

/// Lists the notes and the actions needed for each server.
fn attention(out: &mut String, import: &Import) {
    let noted: Vec<&Planned> =
        import.plan.servers.iter().filter(|planned| !planned.notes.is_empty()).collect();
    if noted.is_empty() {
        return;
    }
    writeln!(out, "\n{HEADING}Needs attention{HEADING:#}").expect("a String takes any text");
    for planned in noted {
        let file = planned.file.display().to_string();
        writeln!(out, "{} ({})", safe::line(&planned.theirs), safe::line(&file))
            .expect("a String takes any text");
        for note in &planned.notes {
            writeln!(out, "  - {}", safe::line(note)).expect("a String takes any text");
        }
    }
}

/// The added lines, with context.
fn diff(import: &Import) -> String {
    let before = import.before.as_deref().unwrap_or_default();
    let diff = TextDiff::from_lines(before, &import.after);
    let mut out = String::new();
    for hunk in diff.unified_diff().context_radius(2).iter_hunks() {
        writeln!(out, "{}", hunk.header()).expect("a String takes any text");
        for change in hunk.iter_changes() {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            let line = covered(change.value().trim_end_matches(['\n', '\r']));
            writeln!(out, "{sign}{}", safe::text(&line)).expect("a String takes any text");
        }
    }
    out
}

fn ending(import: &Import, written: &Written, target: &str) -> String {
    let mut out = match (written.done, import.plan.adds()) {
        (true, _) => format!("{target} was written\n"),
        (false, true) => "nothing was written; --write writes it\n".to_owned(),
        (false, false) => "there is nothing to add\n".to_owned(),
    };
    if let Some(backup) = &written.backup {
        writeln!(out, "what it held before is in {}", safe::line(&backup.display().to_string()))
            .expect("a String takes any text");
    }
    let missing: Vec<String> =
        import.missing.iter().map(|(name, servers)| format!("{name} ({})", servers.join(", "))).collect();
    if !missing.is_empty() {
        let missing = safe::line(&missing.join(", "));
        writeln!(out, "servers stay disabled until these variables are set: {missing}")
            .expect("a String takes any text");
    }
    let mut added = import.plan.servers.iter().filter(|planned| planned.outcome == Outcome::Added);
    if !written.done && added.any(|planned| !planned.secrets.is_empty()) {
        out.push_str("with --move-secrets, the secrets of the clients' files are kept in files instead\n");
    }
    out
}
