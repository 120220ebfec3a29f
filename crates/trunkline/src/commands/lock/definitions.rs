//! The definitions of servers as they are now.

use super::CommonArgs;
use crate::{
    args::ConnectionArgs,
    commands::{
        Context,
        each_server::{Asked, each_server},
    },
    failure::Failure,
    wire::{self, named::Named},
};
use serde::Serialize;
use trunkline_client::{Client, ItemFilter};
use trunkline_lock::{Kind, Pinned};
use trunkline_protocol::{Fault, FaultKind};

/// A server, and its definitions or why they cannot be read.
pub(super) type Found = Asked<Pinned>;

/// Reads the definitions of these servers, or of all.
pub(super) fn fetch(context: &Context, args: &CommonArgs, names: &[String]) -> Result<Vec<Found>, Failure> {
    let servers = args.servers(context, names)?;
    if servers.is_empty() {
        return Err(Failure::usage("no server is configured that can be locked").hint(super::lockable(&[])));
    }
    let message = "reading the definitions of the servers";
    each_server(context, message, servers, async |named| one(context, &args.connection, named).await)
}

async fn one(context: &Context, args: &ConnectionArgs, named: Named) -> Result<Pinned, Failure> {
    let target = named.target.clone();
    let mut options = named.complete(wire::options(args, context)?, args);
    // Also tools that the rules hide now are locked: the rules may change.
    options.items = ItemFilter::default();
    let client = Client::connect(&target, options).await.map_err(Failure::connecting)?;
    let read = read(&client).await;
    client.close().await;
    Ok(read?)
}

async fn read(client: &Client) -> Result<Pinned, Fault> {
    let mut pinned = Pinned::default();
    let server = client.server();
    pinned.version = server.name.as_ref().map(|name| match &server.version {
        Some(version) => format!("{name} {version}"),
        None => name.clone(),
    });
    if client.has_capability("tools") {
        pin(&mut pinned, Kind::Tool, &client.tools().await?.items)?;
    }
    if client.has_capability("prompts") {
        pin(&mut pinned, Kind::Prompt, &client.prompts().await?.items)?;
    }
    if client.has_capability("resources") {
        match client.resource_templates().await {
            Ok(list) => pin(&mut pinned, Kind::Template, &list.items)?,
            // Many servers have resources and no templates.
            Err(fault) if fault.kind() == FaultKind::NotAvailable => {}
            Err(fault) => return Err(fault),
        }
    }
    if let Some(text) = server.instructions.as_ref().filter(|text| !text.is_empty()) {
        pinned.pin(Kind::Instructions, "", &text.clone().into());
    }
    Ok(pinned)
}

fn pin<T: Serialize>(pinned: &mut Pinned, kind: Kind, items: &[T]) -> Result<(), Fault> {
    for item in items {
        let definition = serde_json::to_value(item)
            .map_err(|error| Fault::new(FaultKind::BadAnswer, error.to_string()))?;
        if let Some(name) = definition[kind.named_by()].as_str() {
            pinned.pin(kind, name, &definition);
        }
    }
    Ok(())
}
