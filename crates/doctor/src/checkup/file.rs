//! Checks one client's file: can it be parsed, and would its servers start?

use super::{
    Check,
    clients::{ClientFile, Format},
    entry::{Launch, ServerEntry, entries},
    hygiene,
};
use crate::{
    cause::Cause, command::quick_look, diagnosis::Problem, edit::Edit, evidence::Evidence, mask::Mask,
    options::DoctorOptions,
};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use trunkline_client::CommandLine;
use trunkline_config::{lenient, read_regular_text};

/// Larger files are not read.
const LARGEST: u64 = 8 * 1024 * 1024;

/// Checks one client's file. Programs are searched in the PATH of `options`; nothing is started.
pub fn check_file(file: &ClientFile, options: &DoctorOptions) -> Check {
    let what = format!("{} ({})", file.path.display(), file.client);
    let text = match read_regular_text(&file.path, LARGEST) {
        Ok(text) => text,
        Err(error) => return Check::not_verified(what, error.to_string()),
    };
    let document = match parse(&text, file.format) {
        Ok(document) => document,
        Err(mistake) => {
            return Check::found(what, vec![unreadable(file, &text, &mistake).masked(&Mask::default())]);
        }
    };
    let entries = entries(&document, file.servers);
    let mut problems: Vec<Problem> = entries
        .iter()
        .flat_map(|entry| {
            judge(entry, options).into_iter().map(|problem| at(problem, file, &text, &entry.name))
        })
        .collect();
    problems.extend(exposed(file, &problems));
    let mut mask = Mask::default();
    for entry in &entries {
        let values: Vec<_> =
            entry.values.iter().map(|(_, name, value)| (name.clone(), value.clone())).collect();
        mask.add_variables(&values);
    }
    let problems: Vec<Problem> = problems.into_iter().map(|problem| problem.masked(&mask)).collect();
    if problems.is_empty() {
        let servers = if entries.len() == 1 { "server" } else { "servers" };
        return Check::fine(what, format!("{} {servers}", entries.len()));
    }
    Check::found(what, problems)
}

/// A syntax error and its position.
struct Mistake {
    line: usize,
    column: usize,
    message: String,
}

fn parse(text: &str, format: Format) -> Result<Value, Mistake> {
    match format {
        Format::Json => json(text).map_err(|mistake| match json(&lenient::plain(text)) {
            Ok(_) => Mistake {
                message: format!("{}: comments and trailing commas are not allowed here", mistake.message),
                ..mistake
            },
            Err(_) => mistake,
        }),
        Format::JsonWithComments => json(&lenient::plain(text)),
        Format::Toml => toml::from_str::<Value>(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start).min(text.len());
            let before = &text[..at];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().map_or(1, |last| last.chars().count() + 1);
            Mistake { line, column, message: error.message().to_owned() }
        }),
    }
}

fn json(text: &str) -> Result<Value, Mistake> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(text).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        Mistake { line: error.line(), column: error.column(), message }
    })
}

fn unreadable(file: &ClientFile, text: &str, mistake: &Mistake) -> Problem {
    let Mistake { line, column, message } = mistake;
    let place = format!("{}:{line}:{column}", file.path.display());
    let shown = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let caret = format!("{shown}\n{}^", " ".repeat(column.saturating_sub(1)));
    Problem::new(Cause::ClientFileInvalid, format!("{place}: {message}"))
        .proof(Evidence::fact(caret))
        .fix(format!("correct line {line}, column {column}; {} starts no server before", file.client))
}

/// Problems that keep a server from starting, and risky settings.
fn judge(entry: &ServerEntry, options: &DoctorOptions) -> Vec<Problem> {
    let mut found = hygiene::check(entry);
    match &entry.launch {
        Launch::Neither => found.push(
            Problem::new(
                Cause::ServerEntryInvalid,
                format!("`{}` has neither `command` nor `url`", entry.name),
            )
            .fix("\"command\": \"npx\", \"args\": [\"-y\", \"…\"], or \"url\": \"https://…/mcp\""),
        ),
        Launch::Command { program, args } => {
            let references = |text: &String| text.contains("${") || text.contains("{env:");
            if !references(program) {
                let environment =
                    entry.values.iter().filter(|(kind, _, value)| *kind == "variable" && !references(value));
                let line = CommandLine {
                    program: program.clone(),
                    args: args.iter().filter(|arg| !references(arg)).cloned().collect(),
                    environment: environment.map(|(_, name, value)| (name.clone(), value.clone())).collect(),
                    directory: entry.directory.as_ref().filter(|folder| !references(folder)).map(Into::into),
                    ..CommandLine::default()
                };
                found.extend(quick_look(&line, options));
            }
        }
        Launch::Url(url) => {
            if let Err(bad) = trunkline_client::Target::url(url)
                && !url.contains("${")
                && !url.contains("{env:")
            {
                found.push(
                    Problem::new(Cause::AddressInvalid, format!("`{}`: {bad}", entry.name))
                        .fix("\"url\": \"https://host/mcp\""),
                );
            }
        }
    }
    found
}

/// Adds the position in the file to a problem.
fn at(mut problem: Problem, file: &ClientFile, text: &str, name: &str) -> Problem {
    let key = match file.format {
        Format::Toml => format!("[mcp_servers.{name}"),
        Format::Json | Format::JsonWithComments => format!("\"{name}\""),
    };
    let line = text.lines().position(|line| line.contains(&key)).map_or(1, |line| line + 1);
    if !problem.summary.contains(name) {
        problem.summary = format!("`{name}`: {}", problem.summary);
    }
    problem.summary = format!("{}:{line}: {}", file.path.display(), problem.summary);
    problem
}

/// Reports a file with secrets that other users can read.
fn exposed(file: &ClientFile, problems: &[Problem]) -> Option<Problem> {
    if !problems.iter().any(|problem| problem.cause == Cause::InlineSecret) {
        return None;
    }
    let mode = file.path.symlink_metadata().ok()?.permissions().mode() & 0o7777;
    let kept = mode & 0o700;
    if mode == kept {
        return None;
    }
    let edit = Edit::Mode { path: file.path.clone(), from: mode, to: kept };
    let summary = format!("{} has mode {mode:04o}", file.path.display());
    let fix = format!("chmod {:o} {}", kept, crate::shell::quoted(&file.path.display().to_string()));
    Some(Problem::new(Cause::FileReadableByOthers, summary).fix(fix).mended_by(edit))
}
