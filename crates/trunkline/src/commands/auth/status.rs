//! `auth status`: shows the stored logins, without their tokens.

use crate::{
    commands::{Context, Ending},
    failure::Failure,
    render::safe,
    wire::account,
};
use serde_json::{Value, json};
use std::{
    fmt::Write,
    time::{Duration, UNIX_EPOCH},
};
use trunkline_gateway::audit::rfc3339;
use trunkline_oauth::{AccountKey, ClientSource, StoredLogin, TokenStore};

/// Characters of the scopes that are shown; a server may name any number.
const MAX_SCOPES: usize = 300;

/// Show the stored logins: server, issuer, client, scopes, expiry and place
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only servers whose address contains this text
    server: Option<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let store = account::logins(&context.environment).ok_or_else(|| {
        Failure::usage("there is no place for logins: neither HOME nor XDG_DATA_HOME is set")
    })?;
    let fits = |login: &StoredLogin| args.server.as_ref().is_none_or(|text| login.server.contains(text));
    let (all, unreadable) = store.all();
    for error in &unreadable {
        context.screen.note(&error.to_string());
    }
    let logins: Vec<(StoredLogin, String)> = all
        .into_iter()
        .filter(fits)
        .map(|login| {
            let key = AccountKey { server: login.server.clone(), principal: login.principal.clone() };
            let place = store.place(&key);
            (login, place)
        })
        .collect();
    if context.output.json {
        let all: Vec<Value> = logins.iter().map(|(login, place)| to_json(login, place)).collect();
        return context.print_json(&all);
    }
    if logins.is_empty() {
        return context.print("no logins; `trunkline auth login SERVER` signs in\n");
    }
    let texts: Vec<String> = logins.iter().map(|(login, place)| to_text(login, place)).collect();
    context.print(&texts.join("\n"))
}

pub(super) fn to_json(login: &StoredLogin, place: &str) -> Value {
    let tokens = login.tokens.as_ref();
    json!({
        "server": login.server,
        "user": login.principal,
        "issuer": login.issuer.issuer,
        "resource": login.resource,
        "client": login.client.id,
        "clientSource": source(login.client.source),
        "signedIn": tokens.is_some(),
        "scopes": tokens.map(|tokens| &tokens.scopes),
        "expiresAt": tokens.and_then(trunkline_oauth::Tokens::expires_at).map(time),
        "renewable": tokens.is_some_and(|tokens| tokens.refresh.is_some()),
        "storedIn": place,
    })
}

pub(super) fn to_text(login: &StoredLogin, place: &str) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to a String does not fail.
        writeln!(out, "  {name:9} {}", safe::text(value)).unwrap_or_default();
    };
    line("server", &login.server);
    if let Some(user) = &login.principal {
        line("user", user);
    }
    line("issuer", &login.issuer.issuer);
    line("client", &format!("{} ({})", login.client.id, source(login.client.source)));
    match &login.tokens {
        None => line("token", "none; sign in again"),
        Some(tokens) => {
            let scopes: String = tokens.scopes.join(" ").chars().take(MAX_SCOPES).collect();
            line("scopes", if scopes.is_empty() { "none named" } else { &scopes });
            let end = tokens.expires_at().map_or_else(|| "at an unknown time".to_owned(), time);
            let renewal = if tokens.refresh.is_some() { "renewed unattended" } else { "not renewable" };
            line("token", &format!("expires {end}, {renewal}"));
        }
    }
    line("stored in", place);
    out
}

fn source(source: ClientSource) -> &'static str {
    match source {
        ClientSource::Configured => "configured",
        ClientSource::Document => "metadata document",
        ClientSource::Registered => "registered",
    }
}

fn time(seconds: u64) -> String {
    // A year that no calendar has is shown as the last one that can be.
    let latest = Duration::from_secs(253_402_300_799);
    rfc3339(UNIX_EPOCH + Duration::from_secs(seconds).min(latest))
}
