//! Configured servers as targets of commands.

use super::{gateway, reach, settings};
use crate::{args::ConnectionArgs, environment::Environment, failure::Failure};
use std::path::{Path, PathBuf};
use trunkline_client::{
    ConnectOptions, Exposure, RevisionChoice, Target, ToolFilter,
    resilience::{TimeoutOptions, Timeouts},
};
use trunkline_config::{Reach, Server, Settings};
use trunkline_protocol::{Caller, ServerName};

/// A configured server, with its target and connection options.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) target: Target,
    pub(crate) options: ConnectOptions,
}

/// Finds the server of this name; `None` if it is not configured, or there is no configuration.
pub(crate) fn find(word: &str, environment: &Environment) -> Result<Option<Named>, Failure> {
    let Ok(name) = word.parse::<ServerName>() else { return Ok(None) };
    let loaded = settings::read(environment, None, Vec::new())?.map_err(|rejected| {
        Failure::usage(format!("cannot look up the server `{word}`: {rejected}"))
            .hint("`trunkline config check` shows each problem and its position")
    })?;
    let Some(server) = loaded.settings.servers.get(&name) else {
        return unknown(word, &loaded.settings);
    };
    let mut named = reached(word, server, environment)?;
    named.options.tools = allowed_tools(&loaded.settings, &name)?;
    Ok(Some(named))
}

/// The tools that the local user may use, by the rules that also hold in the gateway.
fn allowed_tools(settings: &Settings, name: &ServerName) -> Result<ToolFilter, Failure> {
    let rules = gateway::tool_rules(settings, name).map_err(|bad| Failure::usage(bad.to_string()))?;
    let caller = Caller::local();
    Ok(ToolFilter::new(move |tool| rules.allow(&caller, tool)))
}

/// True if a server of this name is configured, also if it is disabled. A configuration that cannot
/// be read has no servers; the command that needs it reports why.
pub(crate) fn is_known(word: &str, environment: &Environment) -> bool {
    let Ok(name) = word.parse::<ServerName>() else { return false };
    let Ok(Ok(loaded)) = settings::read(environment, None, Vec::new()) else { return false };
    loaded.settings.servers.contains_key(&name) || loaded.settings.disabled.contains(&name)
}

/// All configured servers.
#[derive(Debug)]
pub(crate) struct Configured {
    pub(crate) servers: Vec<(String, Named)>,
    /// Servers that cannot be connected to, with the reason.
    pub(crate) left_out: Vec<(String, String)>,
    /// The files that the configuration was read from.
    pub(crate) files: Vec<PathBuf>,
}

/// Reads all servers; `file` replaces the one found in the parent directories.
pub(crate) fn all(environment: &Environment, file: Option<&Path>) -> Result<Configured, Failure> {
    let loaded = settings::read(environment, file, Vec::new())?.map_err(|rejected| {
        Failure::usage(rejected.to_string())
            .hint("`trunkline config check` shows each problem and its position")
    })?;
    let mut left_out = Vec::new();
    let mut servers = Vec::new();
    for (name, server) in &loaded.settings.servers {
        let why = match &server.reach {
            Reach::Builtin(_) => "it is one of our own packs, which runs inside `trunkline serve`",
            Reach::Unusable(unusable) => &unusable.reason,
            Reach::Local(_) | Reach::Remote(_) => {
                servers.push((name.to_string(), reached(name.as_ref(), server, environment)?));
                continue;
            }
        };
        left_out.push((name.to_string(), why.to_owned()));
    }
    Ok(Configured { servers, left_out, files: loaded.read })
}

fn reached(word: &str, server: &Server, environment: &Environment) -> Result<Named, Failure> {
    let named = |failure: String| Failure::usage(format!("server `{word}`: {failure}"));
    let (target, options) = match &server.reach {
        Reach::Local(local) => reach::program(local, server, environment).map_err(named)?,
        Reach::Remote(remote) => reach::address(remote, server, environment).map_err(named)?,
        Reach::Unusable(unusable) => {
            let text = format!("the server `{word}` cannot be used: {}", unusable.reason);
            return Err(Failure::usage(text).hint("see `trunkline config check`"));
        }
        Reach::Builtin(_) => {
            let text = format!("`{word}` is one of our own packs, which runs inside `trunkline serve`");
            return Err(
                Failure::usage(text).hint("start that, and use its address, http://127.0.0.1:8425/mcp")
            );
        }
    };
    Ok(Named { target, options })
}

fn unknown(word: &str, settings: &trunkline_config::Settings) -> Result<Option<Named>, Failure> {
    if settings.disabled.iter().any(|name| name.as_ref() == word) {
        return Err(Failure::usage(format!("the server `{word}` is disabled in the configuration")));
    }
    if settings.servers.is_empty() {
        return Ok(None);
    }
    let names: Vec<&str> = settings.servers.keys().map(AsRef::as_ref).collect();
    let nearest = names.iter().max_by(|a, b| strsim::jaro(a, word).total_cmp(&strsim::jaro(b, word)));
    let failure = Failure::usage(format!("`{word}` is neither an address nor a configured server"));
    Err(match nearest {
        Some(nearest) if strsim::jaro(nearest, word) > 0.8 => {
            failure.hint(format!("did you mean `{nearest}`?"))
        }
        _ => failure.hint(format!("configured servers: {}", names.join(", "))),
    })
}

impl Named {
    /// Completes the command-line options with those from the configuration.
    pub(crate) fn complete(self, mut options: ConnectOptions, args: &ConnectionArgs) -> ConnectOptions {
        for (name, value) in &self.options.http.extra_headers {
            if !options.http.extra_headers.contains_key(name) {
                options.http.extra_headers.append(name.clone(), value.clone());
            }
        }
        if options.exposure == Exposure::Refuse {
            options.exposure = self.options.exposure;
        }
        if options.speak == RevisionChoice::Newest {
            options.speak = self.options.speak;
        }
        options.tools = self.options.tools;
        options.timeouts = mixed(self.options.timeouts, options.timeouts, args);
        options
    }
}

/// The configured time limits, except for those given on the command line.
fn mixed(configured: Timeouts, typed: Timeouts, args: &ConnectionArgs) -> Timeouts {
    let connect = if args.connect_timeout.is_some() { typed } else { configured }.connect();
    let calls = if args.timeout.is_some() { typed } else { configured };
    let options = TimeoutOptions { connect, call: calls.call(), ceiling: calls.ceiling() };
    // Both were valid, and so is every mixture: the limits are checked one by one.
    Timeouts::new(options).unwrap_or(configured)
}
