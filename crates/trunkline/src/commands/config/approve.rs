//! `config approve`: agrees to how the servers of a project's file are launched.

use crate::{
    commands::{Context, Ending},
    failure::Failure,
    render::{NAME, problems, safe},
    wire::settings,
};
use serde_json::json;
use std::fmt::Write as _;
use trunkline_config::{Loaded, Server};
use trunkline_protocol::ServerName;

/// Agree to how the servers of the project's file are launched
///
/// A `trunkline.json` that was found in a project may name any program, so its servers are used only after somebody agreed to exactly
/// what is written there. Without names, shows what waits. The user's own file, and one named with --config, need no approval.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The servers to agree to
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// All that wait
    #[arg(long, conflicts_with = "servers")]
    all: bool,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let loaded = settings::read(&context.environment, None, Vec::new())?.map_err(|rejected| {
        context.screen.tell(&problems::text(&rejected.problems, &rejected.sources));
        Failure::usage("the configuration cannot be used").hint("see `trunkline config check`")
    })?;
    let mut approvals = settings::approvals(&context.environment)?;
    let waiting = loaded.unapproved(&approvals);
    let chosen = chosen(args, &waiting)?;
    for name in &chosen {
        approvals.approve(loaded.asked[name].clone());
    }
    if !chosen.is_empty() {
        settings::keep_approvals(&context.environment, &approvals)?;
    }
    let text = |names: &[ServerName]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    if context.output.json {
        return context.print_json(
            &json!({"waiting": text(&loaded.unapproved(&approvals)), "approved": text(&chosen)}),
        );
    }
    if !chosen.is_empty() {
        return context.print(&format!("approved: {}\n", text(&chosen).join(", ")));
    }
    context.print(&shown(&loaded, &waiting))
}

fn chosen(args: &Args, waiting: &[ServerName]) -> Result<Vec<ServerName>, Failure> {
    if args.all {
        return Ok(waiting.to_vec());
    }
    let find = |wanted: &String| {
        let unknown = || Failure::usage(format!("no server `{}` waits for approval", safe::line(wanted)));
        waiting.iter().find(|name| name.as_ref() == wanted.as_str()).cloned().ok_or_else(unknown)
    };
    args.servers.iter().map(find).collect()
}

/// What waits, with all that would be launched; secrets are covered.
fn shown(loaded: &Loaded, waiting: &[ServerName]) -> String {
    let mut out = String::new();
    for Server { name, reach, .. } in waiting.iter().filter_map(|name| loaded.settings.servers.get(name)) {
        let launch = serde_json::to_string(reach).unwrap_or_default();
        writeln!(out, "{NAME}{name}{NAME:#}\n    {}", safe::line(&launch)).expect("a String takes any text");
    }
    if out.is_empty() {
        "nothing waits for approval\n".to_owned()
    } else {
        out + "\nname those you agree to, or --all\n"
    }
}
