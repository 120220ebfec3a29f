//! The banner printed at startup: the address, and how to connect from common clients.

use super::{Args, Offer};
use crate::{commands::Context, failure::Failure};
use std::{fmt::Write as _, net::SocketAddr, path::Path};
use trunkline_config::Loaded;

pub(super) struct Facts<'a> {
    pub(super) address: SocketAddr,
    pub(super) offer: &'a Offer,
    pub(super) loaded: &'a Loaded,
    pub(super) args: &'a Args,
    pub(super) trail: Option<&'a Path>,
}

/// Prints the banner to standard error or, with `--json`, the same facts to standard output.
pub(super) fn show(context: &Context, facts: &Facts<'_>) -> Result<(), Failure> {
    let endpoint = format!("http://{}/mcp", facts.address);
    if context.output.json {
        let (tools, servers) = match facts.offer {
            Offer::Packs(kit) => (Some(kit.tools), None),
            Offer::Servers(running) => (None, Some(running.servers())),
        };
        let mut value =
            serde_json::json!({"endpoint": endpoint, "pid": std::process::id(), "audit": facts.trail});
        if let Some(tools) = tools {
            value["tools"] = tools.into();
        }
        if let Some(servers) = servers {
            value["servers"] = servers.into();
        }
        return context.print_json(&value).map(drop);
    }
    context.screen.tell(&text(facts, &endpoint));
    Ok(())
}

fn text(facts: &Facts<'_>, endpoint: &str) -> String {
    let mut text = what(facts);
    let auth = &facts.loaded.settings.auth;
    let (key, headers) = if auth.keys.is_some() || auth.jwt.is_some() {
        (" --header 'Authorization: Bearer …'", ",\"headers\":{\"Authorization\":\"Bearer …\"}")
    } else {
        ("", "")
    };
    let lines = [
        ("endpoint", endpoint.to_owned()),
        ("try it", format!("trunkline list {endpoint}{key}")),
        ("Claude Code", format!("claude mcp add --transport http trunkline {endpoint}{key}")),
        (
            "VS Code",
            format!(
                "code --add-mcp '{{\"name\":\"trunkline\",\"type\":\"http\",\"url\":\"{endpoint}\"{headers}}}'"
            ),
        ),
        ("others", format!("\"trunkline\": {{ \"url\": \"{endpoint}\"{headers} }}")),
        ("audit trail", facts.trail.map_or_else(|| "none".to_owned(), |trail| trail.display().to_string())),
    ];
    for (name, line) in lines {
        writeln!(text, "  {name:<12} {line}").expect("writing to a String does not fail");
    }
    text.push_str("\nCtrl-C stops it.\n");
    text
}

/// Describes the offer in one line.
fn what(facts: &Facts<'_>) -> String {
    match facts.offer {
        Offer::Servers(running) => {
            let files: Vec<String> =
                facts.loaded.read.iter().map(|path| path.display().to_string()).collect();
            format!("Trunkline serves {} ({})\n\n", running.servers().join(", "), files.join(", "))
        }
        Offer::Packs(kit) => {
            let roots: Vec<String> = facts.args.roots.iter().map(|root| root.display().to_string()).collect();
            let place = if roots.is_empty() { "the current directory".to_owned() } else { roots.join(", ") };
            let access = match (facts.args.offer.allow_write, facts.args.offer.allow_run) {
                (false, false) => "read-only; --allow-write and --allow-run for more",
                (true, false) => "tools may write",
                (false, true) => "tools may run programs",
                (true, true) => "tools may write and run programs",
            };
            format!("Trunkline serves {} tools for {place} ({access})\n\n", kit.tools)
        }
    }
}
