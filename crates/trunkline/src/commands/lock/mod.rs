//! `lock`: writes the accepted definitions of all servers, and compares them with those of today.

mod accept;
mod definitions;
mod drift;

use super::{Context, Ending};
use crate::{
    args::ConnectionArgs,
    failure::Failure,
    render::{FAINT, NAME, safe},
    wire::{named, settings},
};
use clap::Subcommand;
use drift::Drift;
use std::{
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
};
use trunkline_config::{read_regular_text, replace};
use trunkline_lock::Lock;
use trunkline_secrets::counted;

/// Accept the definitions of tools as they are now, and notice later changes
///
/// Connects to every configured server and writes `trunkline.lock` beside the configuration: the
/// definitions of all tools, prompts and resource templates, the instructions and the versions,
/// each with its hash. With --check, nothing is written: differences are shown with their severity.
/// `"lock": "enforce"` in the configuration keeps the gateway from offering what differs.
///
/// Exit status: 0 fine, 1 something differs from the lock file, 2 usage or configuration, 3 a
/// server cannot be reached.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Servers to lock or check, by their names in the configuration [default: all]
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// Compare only: show what differs from the lock file
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Accept what has changed: tools by their public names, or all of a server
    Accept(accept::Args),
}

#[derive(Debug, clap::Args)]
struct CommonArgs {
    /// The lock file [default: `lockFile` of the configuration, or `trunkline.lock` beside it]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Configuration file, instead of the one found; your own file still counts
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Maximum size of a lock file.
const MAX_FILE: u64 = 64 * 1024 * 1024;

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    match &args.action {
        Some(Action::Accept(args)) => accept::run(context, args),
        None if args.check => check(context, args),
        None => write_all(context, args),
    }
}

fn write_all(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let path = args.common.path(context)?;
    let (before, old) = known(&path)?;
    let mut lock = if args.servers.is_empty() { Lock::default() } else { old };
    let found = definitions::fetch(context, &args.common, &args.servers)?;
    let mut ending = Ending::Fine;
    for (name, definitions) in found {
        match definitions {
            Ok(pinned) => {
                lock.servers.insert(name, pinned);
            }
            Err(failure) => {
                context.screen.warn(&format!("{name} is not locked: {}", failure.reason()));
                ending = Ending::Unreachable;
            }
        }
    }
    store(&path, before.as_deref(), &lock)?;
    let count: usize = lock.servers.values().map(|pinned| pinned.hashes.len()).sum();
    if context.output.json {
        let servers: Vec<&String> = lock.servers.keys().collect();
        context.print_json(&serde_json::json!({"file": path, "servers": servers, "definitions": count}))?;
    } else {
        let file = safe::line(&path.display().to_string());
        let (definitions, servers) = (counted(count, "definition"), counted(lock.servers.len(), "server"));
        context.print(&format!("{file}: {definitions} of {servers}\n"))?;
    }
    Ok(ending)
}

fn check(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let path = args.common.path(context)?;
    let (Some(_), lock) = known(&path)? else {
        return Err(Failure::usage(format!("there is no lock file {}", path.display()))
            .hint("`trunkline lock` writes one"));
    };
    let found = definitions::fetch(context, &args.common, &args.servers)?;
    let mut drifts: Vec<Drift> = Vec::new();
    let mut unreachable = false;
    for (name, definitions) in &found {
        match definitions {
            Ok(now) => drifts.extend(drift::between(name, lock.servers.get(name), now)),
            Err(failure) => {
                context.screen.warn(&format!("{name} is not compared: {}", failure.reason()));
                unreachable = true;
            }
        }
    }
    if context.output.json {
        context.print_json(&serde_json::json!({"file": path, "drift": drifts}))?;
    } else {
        context.print(&context.screen.hide(&text(&drifts)))?;
    }
    Ok(match (drifts.is_empty(), unreachable) {
        (false, _) => Ending::Findings,
        (true, true) => Ending::Unreachable,
        (true, false) => Ending::Fine,
    })
}

/// The differences, each with the name to accept it by.
fn text(drifts: &[Drift]) -> String {
    if drifts.is_empty() {
        return "everything is as it was locked\n".to_owned();
    }
    let mut out = String::new();
    for drift in drifts {
        let (what, state) = (safe::line(&drift.title()), drift.state.word());
        writeln!(out, "{NAME}{what}{NAME:#} {state}").expect("a String takes any text");
        for change in &drift.changes {
            let severity = drift::word(change.severity);
            writeln!(out, "    {severity:12} {}", safe::line(&change.what)).expect("a String takes any text");
        }
    }
    writeln!(
        out,
        "\n{FAINT}`trunkline lock accept <server>_<tool>` or `… accept <server>` accepts it{FAINT:#}"
    )
    .expect("a String takes any text");
    out
}

impl CommonArgs {
    fn path(&self, context: &Context) -> Result<PathBuf, Failure> {
        if let Some(file) = &self.file {
            return Ok(settings::directory()?.join(file));
        }
        let loaded = settings::load(context, self.config.as_deref(), Vec::new())?;
        settings::lock_file(&loaded)
    }

    /// All configured servers, or those of these names.
    fn servers(&self, context: &Context, names: &[String]) -> Result<Vec<(String, named::Named)>, Failure> {
        let configured = named::all(&context.environment, self.config.as_deref())?;
        if let Some(name) =
            names.iter().find(|name| configured.servers.iter().all(|(known, _)| known != *name))
        {
            let known: Vec<String> = configured.servers.iter().map(|(name, _)| name.clone()).collect();
            let text = format!("no server `{}` is configured that can be locked", safe::line(name));
            return Err(Failure::usage(text).hint(lockable(&known)));
        }
        let wanted = |name: &String| names.is_empty() || names.contains(name);
        Ok(configured.servers.into_iter().filter(|(name, _)| wanted(name)).collect())
    }
}

/// The content of the lock file and its meaning; empty if there is none.
fn known(path: &Path) -> Result<(Option<String>, Lock), Failure> {
    let bad = |reason: String| Failure::usage(format!("{} cannot be used: {reason}", path.display()));
    match read_regular_text(path, MAX_FILE) {
        Ok(text) => {
            let lock = Lock::read(&text).map_err(|error| bad(error.to_string()))?;
            Ok((Some(text), lock))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((None, Lock::default())),
        Err(error) => Err(bad(error.to_string())),
    }
}

fn store(path: &Path, before: Option<&str>, lock: &Lock) -> Result<(), Failure> {
    let bad = |reason: String| Failure::usage(format!("{} cannot be written: {reason}", path.display()));
    let mut text = serde_json::to_string_pretty(lock).map_err(|error| bad(error.to_string()))?;
    text.push('\n');
    if before == Some(text.as_str()) {
        return Ok(());
    }
    // A lock file belongs into version control, so that it needs no backup beside it.
    if let Some(backup) = replace(path, before, &text).map_err(|error| bad(error.to_string()))? {
        std::fs::remove_file(backup).unwrap_or_default();
    }
    Ok(())
}

/// A hint with the servers that can be locked.
fn lockable(servers: &[String]) -> String {
    if servers.is_empty() {
        return "the built-in packs need no lock: they are part of this program".to_owned();
    }
    format!("these can be locked: {}", servers.join(", "))
}
