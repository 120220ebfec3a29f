//! A configured server as the target of a command.

use super::{reach, settings};
use crate::{args::ConnectionArgs, environment::Environment, failure::Failure};
use trunkline_client::{ConnectOptions, Speak, Target};
use trunkline_config::Reach;
use trunkline_protocol::ServerName;

/// A server of the configuration, and how it is reached.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) target: Target,
    pub(crate) options: ConnectOptions,
}

/// The server of that name; `None` where the configuration has none, or there is no configuration.
pub(crate) fn find(word: &str, environment: &Environment) -> Result<Option<Named>, Failure> {
    let Ok(name) = word.parse::<ServerName>() else { return Ok(None) };
    let mut loaded = settings::read(environment, None, Vec::new())?.map_err(|rejected| {
        Failure::usage(format!("`{word}` is looked for in the configuration: {rejected}"))
            .hint("`trunkline config check` shows what is wrong, each in its place")
    })?;
    let left_out = settings::leave_out_unapproved(environment, &mut loaded)?;
    if left_out.iter().any(|left_out| left_out == word) {
        let text = format!("nobody agreed yet to start the server `{word}` of this project");
        return Err(Failure::usage(text)
            .hint("look at it with `trunkline config show`, and agree with `trunkline config approve`"));
    }
    let Some(server) = loaded.settings.servers.get(&name) else {
        return unknown(word, &loaded.settings);
    };
    let named = |failure: String| Failure::usage(format!("server `{word}`: {failure}"));
    let (target, options) = match &server.reach {
        Reach::Local(local) => reach::program(local, server, environment).map_err(named)?,
        Reach::Remote(remote) => reach::address(remote, server).map_err(named)?,
        Reach::Builtin(_) => {
            let text = format!("`{word}` is one of our own packs, which runs inside `trunkline serve`");
            return Err(
                Failure::usage(text).hint("start that, and use its address, http://127.0.0.1:8425/mcp")
            );
        }
    };
    Ok(Some(Named { target, options }))
}

fn unknown(word: &str, settings: &trunkline_config::Settings) -> Result<Option<Named>, Failure> {
    if settings.disabled.iter().any(|name| name.as_ref() == word) {
        return Err(Failure::usage(format!("the server `{word}` is switched off in the configuration")));
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
        _ => failure.hint(format!("configured are: {}", names.join(", "))),
    })
}

impl Named {
    /// What the options of the command line leave open, the configuration says.
    pub(crate) fn complete(self, mut options: ConnectOptions, args: &ConnectionArgs) -> ConnectOptions {
        for (name, value) in &self.options.http.extra_headers {
            if !options.http.extra_headers.contains_key(name) {
                options.http.extra_headers.append(name.clone(), value.clone());
            }
        }
        options.exposure = self.options.exposure;
        if options.speak == Speak::Newest {
            options.speak = self.options.speak;
        }
        if args.timeout.is_none() {
            options.timeouts = self.options.timeouts;
        }
        options
    }
}
