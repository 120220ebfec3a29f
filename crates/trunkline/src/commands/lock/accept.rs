//! `lock accept`: takes changed definitions into the lock file.

use super::{CommonArgs, definitions, drift, known, store, text};
use crate::{
    commands::{Context, Ending},
    failure::Failure,
    render::safe,
};
use trunkline_lock::{Kind, Pinned};
use trunkline_protocol::{PublicName, ServerName, ToolName};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Tools by their public names (`<server>_<tool>`), or servers: all of their definitions
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let path = args.common.path(context)?;
    let (before, mut lock) = known(&path)?;
    let configured = args.common.servers(context, &[])?;
    let names: Vec<String> = configured.into_iter().map(|(name, _)| name).collect();
    let mut accepted = Vec::new();
    for wanted in &args.names {
        let server = server_of(wanted, &names)?;
        let found = definitions::fetch(context, &args.common, std::slice::from_ref(&server))?;
        let now = found.into_iter().next().map_or_else(|| Ok(Pinned::default()), |(_, now)| now)?;
        let locked = lock.servers.entry(server.clone()).or_default();
        let mut drifts = drift::between(&server, Some(locked), &now);
        if *wanted == server {
            *locked = now;
        } else {
            let (kind, name) = item(wanted, &server, locked, &now)?;
            drifts.retain(|drift| drift.kind == kind.word() && drift.name == name);
            match now.list(kind).get(&name) {
                Some(definition) => locked.pin(kind, &name, definition),
                None => locked.unpin(kind, &name),
            }
        }
        accepted.extend(drifts);
    }
    store(&path, before.as_deref(), &lock)?;
    if context.output.json {
        context.print_json(&serde_json::json!({"file": path, "accepted": accepted}))?;
    } else {
        context.print(&context.screen.hide(&text(&accepted)))?;
        context.print(&format!("accepted in {}\n", safe::line(&path.display().to_string())))?;
    }
    Ok(Ending::Fine)
}

/// The server that a name is of: the longest one that it begins with.
fn server_of(wanted: &str, servers: &[String]) -> Result<String, Failure> {
    let fits = |server: &&String| {
        wanted == server.as_str()
            || wanted.strip_prefix(server.as_str()).is_some_and(|rest| rest.starts_with('_'))
    };
    servers.iter().filter(fits).max_by_key(|server| server.len()).cloned().ok_or_else(|| {
        Failure::usage(format!(
            "`{}` is neither a server that can be locked nor one of its tools",
            safe::line(wanted)
        ))
        .hint(super::lockable(servers))
    })
}

/// The kind and own name of the item with this public name.
fn item(wanted: &str, server: &str, locked: &Pinned, now: &Pinned) -> Result<(Kind, String), Failure> {
    let name: ServerName =
        server.parse().map_err(|_| Failure::usage(format!("`{server}` is no server's name")))?;
    let fits = |own: &&String| {
        wanted == format!("{server}_{own}")
            || PublicName::join(&name, &ToolName::from(own.as_str())).as_str() == wanted
    };
    let find = |kind: Kind| now.list(kind).keys().chain(locked.list(kind).keys()).find(fits).cloned();
    Kind::LISTED.into_iter().find_map(|kind| Some((kind, find(kind)?))).ok_or_else(|| {
        Failure::usage(format!(
            "the server `{server}` has no tool, prompt or template `{}`",
            safe::line(wanted)
        ))
        .hint(format!("`trunkline lock accept {server}` accepts everything of it"))
    })
}
