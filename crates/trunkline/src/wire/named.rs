//! Configured servers as targets of commands.

use super::{gateway, reach, settings};
use crate::{args::ConnectionArgs, environment::Environment, failure::Failure};
use serde_json::json;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use trunkline_client::{
    ConnectOptions, Exposure, ItemFilter, ItemKind, Target, missing,
    resilience::{TimeoutOptions, Timeouts},
};
use trunkline_config::{Reach, Server, Settings};
use trunkline_gateway::{
    catalog::{ItemAccess, KindRules, Rules},
    policy::{Access, Asked, PolicyRules},
    upstream::Kind,
};
use trunkline_oauth::AccountOptions;
use trunkline_protocol::{Call, Caller, Fault, FaultKind, Raw, ServerName, message::meta, method};

/// A configured server, with its target, connection options and rules.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: ServerName,
    pub(crate) target: Target,
    /// Its filter leaves only the items that the local user may use.
    pub(crate) options: ConnectOptions,
    /// Its login; `None` if it has none.
    pub(crate) account: Option<AccountOptions>,
    /// The rules of the server and the roles of callers.
    pub(crate) rules: Rules,
}

/// The result of looking up a name in the configuration.
#[derive(Debug)]
pub(crate) enum Lookup {
    Server(Box<Named>),
    /// It is configured, but cannot be used.
    Unusable(Failure),
    /// It is not configured, or the configuration cannot be read. The failure, if any, says more
    /// than that.
    Unknown(Option<Failure>),
}

/// Looks up a name, reading the configuration once.
pub(crate) fn look_up(word: &str, environment: &Environment) -> Lookup {
    let Ok(name) = word.parse::<ServerName>() else { return Lookup::Unknown(None) };
    let loaded = match settings::read(environment, None, Vec::new()) {
        Ok(Ok(loaded)) => loaded,
        Ok(Err(rejected)) => {
            let failure = Failure::usage(format!("cannot look up the server `{word}`: {rejected}"));
            let hint = "`trunkline config check` shows each problem and its position";
            return Lookup::Unknown(Some(failure.hint(hint)));
        }
        Err(failure) => return Lookup::Unknown(Some(failure)),
    };
    match loaded.settings.servers.get(&name) {
        Some(server) => reached(server, &loaded.settings, environment)
            .map_or_else(Lookup::Unusable, |named| Lookup::Server(Box::new(named))),
        None => unknown(word, &loaded.settings),
    }
}

/// Finds the server of this name; `None` if it is not configured, or there is no configuration.
pub(crate) fn find(word: &str, environment: &Environment) -> Result<Option<Named>, Failure> {
    match look_up(word, environment) {
        Lookup::Server(named) => Ok(Some(*named)),
        Lookup::Unusable(failure) | Lookup::Unknown(Some(failure)) => Err(failure),
        Lookup::Unknown(None) => Ok(None),
    }
}

/// The items that the local user may use, by the rules that also hold in the gateway.
fn allowed_items(rules: &Rules, name: &ServerName) -> Result<ItemFilter, Failure> {
    let access = ItemAccess::new(rules, name).map_err(|bad| Failure::usage(bad.to_string()))?;
    let access = Arc::new(access);
    let judge = access.clone();
    let caller = Caller::local();
    let filter = ItemFilter::new(move |kind, name| access.allows(&caller, list_of(kind), name));
    Ok(filter.with_calls(move |kind, name, arguments| {
        // The policy looks at the caller and its client only; the local user is the default.
        let call = Call::new(method::TOOLS_CALL, Some(own_meta()));
        match judge.judge(&call, list_of(kind), name, arguments.cloned()) {
            Access::Allowed => Ok(()),
            Access::Ask(asked) => Err(needs_consent(&asked)),
            Access::Denied(denial) => Err(denial.fault(|| missing(kind, name))),
        }
    }))
}

fn list_of(kind: ItemKind) -> Kind {
    match kind {
        ItemKind::Tool => Kind::Tools,
        ItemKind::Prompt => Kind::Prompts,
        ItemKind::Resource => Kind::Resources,
    }
}

/// `_meta` with this client's name, because policy rules can match it.
fn own_meta() -> Raw {
    json!({"_meta": {(meta::CLIENT_INFO): {"name": "trunkline"}}}).into()
}

/// Without the gateway nobody else can be asked, and the caller must not agree to its own call.
fn needs_consent(asked: &Asked) -> Fault {
    let text = format!("`{}` needs the consent of a person, who is asked by the gateway only", asked.subject);
    Fault::new(FaultKind::ApprovalRefused, text).with_detail(asked.rule.clone())
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
                servers.push((name.to_string(), reached(server, &loaded.settings, environment)?));
                continue;
            }
        };
        left_out.push((name.to_string(), why.to_owned()));
    }
    Ok(Configured { servers, left_out, files: loaded.read })
}

/// The only place where a configured server becomes a target, so its rules are never left out.
fn reached(server: &Server, settings: &Settings, environment: &Environment) -> Result<Named, Failure> {
    let word = &server.name;
    let named = |failure: String| Failure::usage(format!("server `{word}`: {failure}"));
    let mut account = None;
    let (target, mut options) = match &server.reach {
        Reach::Local(local) => reach::program(local, server, environment).map_err(named)?,
        Reach::Remote(remote) => {
            account = super::account::configured(remote, server, environment).map_err(named)?;
            reach::address(remote, server, environment).map_err(named)?
        }
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
    let rules = gateway::rules_for(settings, &server.name);
    options.list_ttl = server.options.lists.ttl;
    options.items = allowed_items(&rules, &server.name)?;
    Ok(Named { name: server.name.clone(), target, options, account, rules })
}

fn unknown(word: &str, settings: &Settings) -> Lookup {
    if settings.disabled.iter().any(|name| name.as_ref() == word) {
        let text = format!("the server `{word}` is disabled in the configuration");
        return Lookup::Unusable(Failure::usage(text));
    }
    if settings.servers.is_empty() {
        return Lookup::Unknown(None);
    }
    let names: Vec<&str> = settings.servers.keys().map(AsRef::as_ref).collect();
    let nearest = names.iter().max_by(|a, b| strsim::jaro(a, word).total_cmp(&strsim::jaro(b, word)));
    let failure = Failure::usage(format!("`{word}` is neither an address nor a configured server"));
    Lookup::Unknown(Some(match nearest {
        Some(nearest) if strsim::jaro(nearest, word) > 0.8 => {
            failure.hint(format!("did you mean `{nearest}`?"))
        }
        _ => failure.hint(format!("configured servers: {}", names.join(", "))),
    }))
}

impl Named {
    /// True if there are rules for its tools, or roles.
    pub(crate) fn has_rules(&self) -> bool {
        let mut servers = self.rules.servers.values();
        self.rules.policy != PolicyRules::default()
            || servers.any(|server| server.tools != KindRules::default())
    }

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
        if let Some(account) = self.account {
            super::account::give(&mut options, account);
        }
        if args.era.is_none() {
            options.speak = self.options.speak;
        }
        options.list_ttl = self.options.list_ttl;
        options.items = self.options.items;
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
