//! `config approve`: approves the current content of a project's configuration file.

use crate::{
    commands::{Context, Ending},
    failure::Failure,
    render::{FAINT, NAME, problems, safe},
    terminal::Screen,
    wire::settings,
};
use serde_json::json;
use std::fmt::Write as _;
use trunkline_config::{Disclosure, Preview, Reference, Said};

/// Approve the project's configuration file with its current content
///
/// A `trunkline.json` found in the current directory or above it may come from a stranger, so it
/// has no effect until you approve it. Shows its path and hash, the commands and addresses of its
/// servers, every variable and file that it refers to, and its security settings; then asks. The
/// approval ends when the file changes: the new content waits, and of the approved one only
/// restrictions stay in force. Your own file, and one named with --config, need no approval.
///
/// Exit status: 0 if the file is approved, 1 if not, 2 if it cannot be approved.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Approve only if the file has exactly these servers
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// Approve without asking
    #[arg(long, visible_alias = "all", conflicts_with = "servers")]
    yes: bool,
}

/// The user's decision about the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Consent {
    Given,
    Refused,
    /// Undecided: there was no terminal to ask on.
    Open,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let preview = settings::preview(&context.environment, None)?;
    let disclosure = preview.disclosure.as_ref().filter(|_| preview.waiting.is_some());
    if let Some(disclosure) = disclosure.filter(|_| !context.output.json) {
        context.print(&shown(disclosure))?;
    }
    if !preview.is_valid() {
        context.screen.tell(&problems::text(&preview.problems, &preview.sources));
        return Err(Failure::usage("the configuration cannot be used").hint("see `trunkline config check`"));
    }
    let Some(disclosure) = disclosure else { return nothing_waits(context, args, &preview) };
    let consent = consent(context, args, disclosure)?;
    if consent == Consent::Given {
        settings::approve(&context.environment, &disclosure.file)?;
    }
    let ending = if consent == Consent::Given { Ending::Fine } else { Ending::ToolError };
    if context.output.json {
        let approved = consent == Consent::Given;
        return context.print_json(&json!({"file": disclosure, "approved": approved})).map(|_| ending);
    }
    let text = match consent {
        Consent::Given => "\napproved\n",
        Consent::Refused => "\nnot approved\n",
        Consent::Open => "\nnot approved; --yes approves it\n",
    };
    context.print(text).map(|_| ending)
}

/// Succeeds only if a found file is approved already.
fn nothing_waits(context: &Context, args: &Args, preview: &Preview) -> Result<Ending, Failure> {
    if let Some(name) = args.servers.first() {
        return Err(Failure::usage(format!("no server `{}` waits for approval", safe::line(name))));
    }
    if context.output.json {
        context.print_json(&json!({"file": null, "approved": false}))?;
    } else {
        context.print("nothing waits for approval\n")?;
    }
    Ok(if preview.disclosure.is_some() { Ending::Fine } else { Ending::ToolError })
}

/// Decides about the file: by an option, by the names of all its servers, or by asking the user.
fn consent(context: &Context, args: &Args, disclosure: &Disclosure) -> Result<Consent, Failure> {
    if args.yes {
        return Ok(Consent::Given);
    }
    let servers: Vec<&String> = disclosure.servers.iter().map(|server| &server.name).collect();
    if let Some(name) = args.servers.iter().find(|name| !servers.contains(name)) {
        return Err(Failure::usage(format!("no server `{}` waits for approval", safe::line(name))));
    }
    if let Some(more) = servers.iter().find(|name| !args.servers.contains(name))
        && !args.servers.is_empty()
    {
        let more = safe::line(more);
        return Err(Failure::usage(format!(
            "the file is approved as a whole, and it has the server `{more}`, too"
        ))
        .hint("name all of its servers, or pass --yes"));
    }
    if !args.servers.is_empty() {
        return Ok(Consent::Given);
    }
    if context.output.json || !Screen::can_ask() {
        return Ok(Consent::Open);
    }
    context.screen.tell("\napprove this file as it is now? [y/N] ");
    Ok(if Screen::typed_yes() { Consent::Given } else { Consent::Refused })
}

/// Formats the contents of the file as written.
fn shown(disclosure: &Disclosure) -> String {
    let path = safe::line(&disclosure.file.path.display().to_string());
    let mut out = format!("{NAME}{path}{NAME:#}\n    {FAINT}sha256 {}{FAINT:#}\n", disclosure.file.sha256);
    let mut servers = Vec::new();
    for server in &disclosure.servers {
        servers.push(format!("{NAME}{}{NAME:#}", safe::line(&server.name)));
        servers.extend(server.says.iter().map(|said| format!("    {}", value(said))));
    }
    let reference = |reference: &Reference| {
        let (written, key) = (safe::line(&reference.written), safe::line(&reference.key));
        format!("{written} → {key} {FAINT}(line {}){FAINT:#}", reference.line)
    };
    section(&mut out, "servers", &servers);
    let references: Vec<String> = disclosure.references.iter().map(reference).collect();
    section(&mut out, "variables, files and secrets that it uses", &references);
    let security: Vec<String> = disclosure.security.iter().map(value).collect();
    section(&mut out, "other security settings", &security);
    out
}

fn value(said: &Said) -> String {
    format!("{} = {}", safe::line(&said.key), safe::line(&said.value.to_string()))
}

fn section(out: &mut String, title: &str, lines: &[String]) {
    let none = if lines.is_empty() { ": none" } else { "" };
    writeln!(out, "\n{title}{none}").expect("a String takes any text");
    for line in lines {
        writeln!(out, "    {line}").expect("a String takes any text");
    }
}
