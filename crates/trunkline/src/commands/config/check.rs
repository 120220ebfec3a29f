//! `config check`: all problems of the configuration, with their positions.

use crate::{
    commands::{Context, Ending},
    failure::Failure,
    render::{problems, safe},
    wire::{gateway, settings},
};
use serde_json::json;
use std::{fmt::Write as _, path::PathBuf};
use trunkline_config::Preview;
use trunkline_secrets::counted;

/// Check the configuration, and report each problem with file, line, column and fix
///
/// Exit status: 0 if the configuration is usable, possibly with warnings; 2 if it is not.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Check only this file [default: your own file, and the nearest `trunkline.json` in the
    /// current directory or above it]
    file: Option<PathBuf>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    // An unapproved file is checked, too: the user needs the result to decide about it.
    let mut preview = settings::preview(&context.environment, args.file.as_deref())?;
    if let Some(file) = &args.file {
        preview = preview.only(&settings::directory()?.join(file));
    }
    let Preview { problems: found, sources, read: files, servers, waiting, .. } = &preview;
    if let Some(waiting) = waiting {
        context.screen.note(&settings::waits(waiting));
    }
    if preview.is_valid()
        && let Ok(Ok(loaded)) = settings::read(&context.environment, args.file.as_deref(), Vec::new())
    {
        gateway::policy(&loaded.settings)?;
    }
    if context.output.json {
        let told =
            json!({"valid": preview.is_valid(), "files": files, "problems": found, "waiting": waiting});
        context.print_json(&told)?;
    } else {
        let mut text = problems::text(found, sources);
        let names: Vec<String> = files.iter().map(|file| safe::line(&file.display().to_string())).collect();
        let places = if names.is_empty() { "no file was found".to_owned() } else { names.join(", ") };
        if preview.is_valid() {
            let (found, servers) = (problems::counts(found), counted(servers.len(), "server"));
            writeln!(text, "{places}: {found}, {servers}").expect("a String takes any text");
        }
        context.print(&text)?;
    }
    if preview.is_valid() {
        return Ok(Ending::Fine);
    }
    Err(Failure::usage(format!("the configuration cannot be used: {}", problems::counts(found))))
}
