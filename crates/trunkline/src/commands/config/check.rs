//! `config check`: everything that is wrong with the configuration, and where.

use crate::{
    commands::{Context, Ending},
    failure::Failure,
    render::{problems, safe},
    wire::settings,
};
use serde_json::json;
use std::{fmt::Write as _, path::PathBuf};

/// Tell what is wrong with the configuration: file, line, column and what to do
///
/// Exit status: 0 when it can be used, warnings or not; 2 when it cannot.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// This file instead of the one found upwards from the current directory
    file: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    // A file that waits for approval is checked, too: whoever is to approve it wants to know.
    let read = settings::preview(&context.environment, args.file.as_deref())?;
    let (found, sources, files, servers) = match &read {
        Ok(loaded) => {
            (&loaded.warnings, &loaded.layered.sources, &loaded.read, Some(loaded.settings.servers.len()))
        }
        Err(rejected) => (&rejected.problems, &rejected.sources, &rejected.read, None),
    };
    let waiting = match &read {
        Ok(loaded) => &loaded.waiting,
        Err(rejected) => &rejected.waiting,
    };
    if let Some(waiting) = waiting {
        context.screen.note(&settings::waits(waiting));
    }
    if context.output.json {
        let told = json!({"valid": read.is_ok(), "files": files, "problems": found, "waiting": waiting});
        context.print_json(&told)?;
    } else {
        let mut text = problems::text(found, sources);
        let names: Vec<String> = files.iter().map(|file| safe::line(&file.display().to_string())).collect();
        let places = if names.is_empty() { "no file was found".to_owned() } else { names.join(", ") };
        if let Some(servers) = servers {
            let (found, servers) = (problems::counts(found), problems::count(servers, "server"));
            writeln!(text, "{places}: {found}, {servers}").expect("a String takes any text");
        }
        context.print(&text)?;
    }
    match read {
        Ok(_) => Ok(Ending::Fine),
        Err(rejected) => Err(Failure::usage(format!(
            "the configuration cannot be used: {}",
            problems::counts(&rejected.problems)
        ))),
    }
}
