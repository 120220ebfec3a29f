//! The banner printed at startup: the address, and how to connect from common clients.

use super::{Args, Offer};
use crate::{commands::Context, failure::Failure, listening, render::safe};
use std::{fmt::Write as _, net::SocketAddr, path::Path};
use trunkline_config::{Loaded, Reach};
use trunkline_secrets::counted;

pub(super) struct Facts<'a> {
    pub(super) address: SocketAddr,
    pub(super) offer: &'a Offer,
    pub(super) loaded: &'a Loaded,
    pub(super) args: &'a Args,
    pub(super) trail: Option<&'a Path>,
}

/// Prints the banner to standard error or, with `--json`, the same facts to standard output.
pub(super) fn show(context: &Context, facts: &Facts<'_>) -> Result<(), Failure> {
    let endpoint = format!("{}://{}/mcp", scheme(facts), listening::local(facts.address));
    if context.output.json {
        let mut value =
            serde_json::json!({"endpoint": endpoint, "pid": std::process::id(), "audit": facts.trail});
        match facts.offer {
            Offer::Packs(packs) => value["tools"] = packs.kit.tools.into(),
            Offer::Servers(_) => {
                let (usable, unusable) = servers(facts.loaded);
                value["servers"] = usable.into();
                value["unusable"] = unusable.into_iter().collect();
            }
        }
        return context.print_json(&value).map(drop);
    }
    context.screen.tell(&text(facts, &endpoint));
    Ok(())
}

fn text(facts: &Facts<'_>, endpoint: &str) -> String {
    let mut text = what(facts);
    let auth = &facts.loaded.settings.auth;
    let (key, headers) = if auth.identifies() {
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
    for (name, line) in lines.into_iter().chain(elsewhere(facts)).chain(not_served(facts)) {
        writeln!(text, "  {name:<12} {line}").expect("writing to a String does not fail");
    }
    text.push_str("\nCtrl-C stops it.\n");
    text
}

fn scheme(facts: &Facts<'_>) -> &'static str {
    if facts.loaded.settings.tls.is_some() { "https" } else { "http" }
}

/// The URL by which other machines reach a server that listens on all addresses.
fn elsewhere(facts: &Facts<'_>) -> Option<(&'static str, String)> {
    let port = facts.address.port();
    let line = match facts.loaded.settings.auth.hosts.first() {
        Some(host) => format!("{}://{host}:{port}/mcp", scheme(facts)),
        None => {
            format!("--host NAME accepts {}://NAME:{port}/mcp, where NAME is this machine's", scheme(facts))
        }
    };
    facts.address.ip().is_unspecified().then_some(("elsewhere", line))
}

/// Servers that cannot be used, with the reasons.
fn not_served(facts: &Facts<'_>) -> impl Iterator<Item = (&'static str, String)> {
    let (_, unusable) = servers(facts.loaded);
    unusable.into_iter().map(|(name, reason)| ("not served", format!("{name}: {reason}")))
}

/// The names of usable servers, and unusable ones with the reason.
fn servers(loaded: &Loaded) -> (Vec<String>, Vec<(String, String)>) {
    let (mut usable, mut unusable) = (Vec::new(), Vec::new());
    for (name, server) in &loaded.settings.servers {
        match &server.reach {
            Reach::Unusable(why) => unusable.push((name.to_string(), safe::line(&why.reason))),
            _ => usable.push(name.to_string()),
        }
    }
    (usable, unusable)
}

/// Describes the offer in one line.
fn what(facts: &Facts<'_>) -> String {
    match facts.offer {
        Offer::Servers(_) => {
            let files: Vec<String> =
                facts.loaded.read.iter().map(|path| path.display().to_string()).collect();
            let (usable, _) = servers(facts.loaded);
            let names = if usable.is_empty() { "no server".to_owned() } else { usable.join(", ") };
            format!("Trunkline serves {names} ({})\n\n", files.join(", "))
        }
        Offer::Packs(packs) => {
            let roots: Vec<String> = facts.args.roots.iter().map(|root| root.display().to_string()).collect();
            let place = if roots.is_empty() { "the current directory".to_owned() } else { roots.join(", ") };
            let access = match (facts.args.offer.allow_write, facts.args.offer.allow_run) {
                (false, false) => "read-only; --allow-write and --allow-run for more",
                (true, false) => "tools may write",
                (false, true) => "tools may run programs",
                (true, true) => "tools may write and run programs",
            };
            let tools = counted(packs.kit.tools, "tool");
            format!("Trunkline serves {tools} for {place} ({access})\n\n")
        }
    }
}
