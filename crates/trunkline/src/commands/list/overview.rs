//! `list` without a target: the configured servers, and whether they can be reached.

use super::{Args, cost};
use crate::{
    commands::{Context, Ending, each_server::each_server},
    failure::Failure,
    render::{BAD, FAINT, NAME, safe, table},
    wire::{self, named, named::Named},
};
use serde_json::{Value, json};
use std::fmt::Write as _;
use trunkline_client::Client;

/// A configured server, after trying to list its tools.
struct Health {
    name: String,
    state: Result<Found, Failure>,
}

/// The answer of a server.
struct Found {
    tools: usize,
    tokens: usize,
    revision: String,
    transport: String,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let configured = named::all(&context.environment, None)?;
    if configured.servers.is_empty() && configured.left_out.is_empty() {
        return Err(Failure::usage("there is no target, and no server is configured")
            .hint("give the address of a server, or the command that starts it")
            .hint("`trunkline config import` finds the servers of your other clients"));
    }
    let message = "connecting to the configured servers";
    let all =
        each_server(context, message, configured.servers, async |named| connect(context, args, named).await)?;
    let all = all.into_iter().map(|(name, state)| Health { name, state }).collect();
    show(context, &sorted(all, args), &configured.left_out)
}

async fn connect(context: &Context, args: &Args, named: Named) -> Result<Found, Failure> {
    let target = named.target.clone();
    let options = named.complete(wire::options(&args.connection, context)?, &args.connection);
    let client = Client::connect(&target, options).await.map_err(Failure::connecting)?;
    let tools = if client.has_capability("tools") {
        client.tools().await.map(|list| (list.items.len(), cost::of_all(&list.items)))
    } else {
        Ok((0, 0))
    };
    let server = client.server();
    let (revision, transport) = (server.revision.to_string(), server.transport.to_string());
    client.close().await;
    let (tools, tokens) = tools?;
    Ok(Found { tools, tokens, revision, transport })
}

fn show(context: &Context, all: &[Health], left_out: &[(String, String)]) -> Result<Ending, Failure> {
    if context.output.json {
        let servers = all.iter().map(Health::to_json);
        let skipped = left_out.iter().map(|(name, why)| json!({"name": name, "skipped": why}));
        let mut page = json!({"servers": servers.chain(skipped).collect::<Vec<Value>>()});
        context.environment.concealed.hide_in(&mut page);
        context.print_json(&page)?;
    } else {
        context.print(&context.screen.hide(&text(all, left_out)))?;
    }
    Ok(if all.iter().all(|health| health.state.is_ok()) { Ending::Fine } else { Ending::ToolError })
}

/// With `--cost`, the dearest server comes first.
fn sorted(mut all: Vec<Health>, args: &Args) -> Vec<Health> {
    if args.cost {
        let tokens = |health: &Health| health.state.as_ref().map_or(0, |found| found.tokens);
        all.sort_by_key(|health| std::cmp::Reverse(tokens(health)));
    }
    all
}

fn text(all: &[Health], left_out: &[(String, String)]) -> String {
    let headings = ["server", "state", "tools", "tokens", "revision", "transport"].map(str::to_owned);
    let row = |health: &Health| match &health.state {
        Ok(found) => {
            let [tools, tokens] = [found.tools, found.tokens].map(|count| count.to_string());
            vec![
                health.name.clone(),
                "ok".to_owned(),
                tools,
                tokens,
                found.revision.clone(),
                found.transport.clone(),
            ]
        }
        Err(_) => vec![health.name.clone(), "fails".to_owned()],
    };
    let skipped = left_out.iter().map(|(name, _)| vec![name.clone(), "skipped".to_owned()]);
    let rows: Vec<Vec<String>> = all.iter().map(row).chain(skipped).collect();
    let mut out = table::columns(&headings, &rows);
    for health in all {
        if let Err(failure) = &health.state {
            write!(out, "\n{BAD}{}{BAD:#}: {}", safe::line(&health.name), failure.reason())
                .expect("a String takes any text");
            writeln!(out, "  {FAINT}`trunkline doctor {}` says more{FAINT:#}", safe::line(&health.name))
                .expect("a String takes any text");
        }
    }
    for (name, why) in left_out {
        writeln!(out, "\n{NAME}{}{NAME:#}: {}", safe::line(name), safe::line(why))
            .expect("a String takes any text");
    }
    out
}

impl Health {
    fn to_json(&self) -> Value {
        match &self.state {
            Ok(found) => json!({
                "name": self.name, "ok": true, "tools": found.tools, "tokens": found.tokens,
                "revision": found.revision, "transport": found.transport,
            }),
            Err(failure) => json!({"name": self.name, "ok": false, "error": failure.to_json()["error"]}),
        }
    }
}
