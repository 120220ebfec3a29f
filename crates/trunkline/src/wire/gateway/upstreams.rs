//! Builds an upstream from a configured server.

use super::{
    adapter,
    harmless::Harmless,
    kept_lists::KeptLists,
    login_records::LoginRecords,
    personal::{self, PersonalServer},
};
use crate::{
    environment::Environment,
    failure::Failure,
    unresolved,
    wire::{
        account,
        documents::DocumentParts,
        lineage::Lineage,
        observed::Observed,
        packs::Packs,
        reach,
        serve::{quota, size},
        sign_in::LoginDesk,
    },
};
use futures_util::future::{BoxFuture, FutureExt};
use globset::{Glob, GlobMatcher};
use std::{collections::BTreeMap, future, path::PathBuf, sync::Arc, time::Duration};
use trunkline_client::{
    Connector, Memory, Target,
    resilience::{BreakerOptions, RetryOptions, Safety, TimeoutOptions, Timeouts},
};
use trunkline_config::{
    Local, Pack, Reach, Remote, Secret, Server, Sessions as SessionSetting, Settings, Start as StartSetting,
    ToolChange,
};
use trunkline_gateway::upstream::{
    InProcess, Sessions, Start, ToolOptions, ToolRules, Upstream, UpstreamOptions,
};
use trunkline_oauth::AccountOptions;
use trunkline_process::{DEFAULT_PATH, is_executable, search_path};
use trunkline_protocol::{Connect, ConnectError, Profile, Revision, ServerName, Session};

/// The parts shared by all upstreams of one gateway.
pub(super) struct Maker<'a> {
    pub(super) environment: &'a Environment,
    pub(super) lineage: &'a Lineage,
    pub(super) instance: &'a Arc<str>,
    pub(super) observed: &'a Observed,
    pub(super) harmless: &'a Harmless,
    pub(super) lists: &'a KeptLists,
    pub(super) desk: &'a LoginDesk,
    pub(super) records: &'a LoginRecords,
    /// Files that our own tools must not change.
    pub(super) guarded: &'a [PathBuf],
    /// Files that they must not read either.
    pub(super) private: &'a [PathBuf],
    pub(super) documents: DocumentParts<'a>,
}

impl Maker<'_> {
    pub(super) fn all(&self, settings: &Settings) -> Result<BTreeMap<ServerName, Arc<Upstream>>, Failure> {
        let make = |(name, server): (&ServerName, &Server)| Ok((name.clone(), self.one(server)?));
        settings.servers.iter().map(make).collect()
    }

    pub(super) fn one(&self, server: &Server) -> Result<Arc<Upstream>, Failure> {
        let named = |failure: String| Failure::usage(format!("server `{}`: {failure}", server.name));
        if let Reach::Remote(remote) = &server.reach
            && personal::is_personal(remote)
        {
            return self.personal(remote, server).map_err(named);
        }
        let (mut reached, mut offered, mut adapting) = (None, None, None);
        let connect: Arc<dyn Connect> = match &server.reach {
            Reach::Local(local) => {
                let (mut target, options) = reach::program(local, server, self.environment).map_err(named)?;
                if let Target::Command(command) = &mut target {
                    command.environment.push(self.lineage.variable());
                }
                reached = Some(target.clone());
                adapting = adapter::prepare(local, &mut target, (self.guarded, self.private))?;
                offered = Some(reach::exactly(&options).unwrap_or(Revision::NEWEST_LEGACY));
                Arc::new(Connector::new(target, options))
            }
            Reach::Remote(remote) => {
                let (target, mut options) =
                    reach::address(remote, server, self.environment).map_err(named)?;
                if let Some(account) = self.account(remote, server).map_err(named)? {
                    account::give(&mut options, account);
                }
                reached = Some(target.clone());
                offered = Some(reach::exactly(&options).unwrap_or(Revision::NEWEST_LEGACY));
                Arc::new(Connector::new(target, options))
            }
            Reach::Unusable(unusable) => Arc::new(Unconfigured(unusable.reason.clone())),
            Reach::Builtin(builtin) => {
                let packs = Packs::from(builtin).guarding(self.guarded, self.private);
                let kit = packs.one(builtin.pack, self.environment, &self.documents)?;
                self.harmless.learn(&server.name, kit.read_only);
                Arc::new(InProcess(Arc::new(kit.toolbox)))
            }
        };
        let mut options = self.options(server).map_err(named)?;
        options.offered = offered;
        if adapting.is_some() {
            options.timeouts = at_least(options.timeouts, self.documents.longest_call());
        }
        let options = options.checked().map_err(|error| named(error.to_string()))?;
        let mut connect = self.observed.connect(&server.name, connect);
        if let Some(adapting) = adapting {
            let (adapted, kit) = adapting.around(connect, &self.documents)?;
            self.harmless.learn(&server.name, kit.read_only);
            connect = adapted;
        }
        let upstream = Upstream::new(server.name.clone(), connect, options);
        if let Some(target) = reached {
            self.lists.attach(server, &target, &upstream);
        }
        Ok(upstream)
    }

    /// The account of a server, whose changes are recorded.
    fn account(&self, remote: &Remote, server: &Server) -> Result<Option<AccountOptions>, String> {
        let mut account = account::configured(remote, server, self.environment)?;
        if let Some(account) = &mut account {
            account.observe = Some(self.records.observer(&server.name));
        }
        Ok(account)
    }

    fn options(&self, server: &Server) -> Result<UpstreamOptions, String> {
        let mut options = options(server)?;
        options.instance = Some(self.instance.clone());
        // The configuration's warning and the banner name the reason.
        options.failure_is_told = matches!(server.reach, Reach::Unusable(_));
        match &server.reach {
            // Nothing can be started, and the attempt makes the reason known at once.
            Reach::Local(local) if is_missing(local, self.environment) => options.start = Start::AtOnce,
            Reach::Local(_) => {}
            // There is no process to stop, and connecting lazily would save nothing.
            Reach::Remote(_) | Reach::Unusable(_) | Reach::Builtin(_) => {
                options.idle = None;
                options.start = Start::AtOnce;
            }
        }
        if matches!(&server.reach, Reach::Builtin(builtin) if builtin.pack == Pack::Documents) {
            options.timeouts = at_least(options.timeouts, self.documents.longest_call());
        }
        Ok(options)
    }

    /// A server that each caller sees with an identity of its own. Its lists are not kept between
    /// runs, because they belong to callers.
    fn personal(&self, remote: &Remote, server: &Server) -> Result<Arc<Upstream>, String> {
        let (target, mut connect) = reach::address(remote, server, self.environment)?;
        connect.memory.get_or_insert_with(|| Arc::new(Memory::default()));
        let account = self.account(remote, server)?;
        let tokens = personal::tokens(remote, account, self.desk, &mut connect)?;
        let mut options = options(server)?;
        options.instance = Some(self.instance.clone());
        options.offered = Some(reach::exactly(&connect).unwrap_or(Revision::NEWEST_LEGACY));
        options.idle = None;
        let options = options.checked().map_err(|error| error.to_string())?;
        let observation = self.observed.of(&server.name);
        let headers = personal::headers(remote)?;
        let name = server.name.clone();
        let connect = PersonalServer { name, target, options: connect, headers, tokens, observation };
        Ok(Upstream::personal(server.name.clone(), Arc::new(connect), options))
    }
}

/// The time limits, with at least this time for a call.
fn at_least(limits: Timeouts, call: Duration) -> Timeouts {
    let call = limits.call().max(call);
    let raised = TimeoutOptions { connect: limits.connect(), call, ceiling: limits.ceiling().max(call) };
    // The longest time of a conversion is below the longest that a call may have.
    Timeouts::new(raised).unwrap_or(limits)
}

/// A server with unresolved references. Only a change of the configuration helps.
struct Unconfigured(String);

impl Connect for Unconfigured {
    fn connect(&self, _: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, ConnectError>> {
        let fault = unresolved::fault(&self.0);
        future::ready(Err(ConnectError { fault, permanent: true })).boxed()
    }
}

/// True if the program's file is not found where its start would look for it.
fn is_missing(local: &Local, environment: &Environment) -> bool {
    let program = local.program.expose();
    if program.contains('/') {
        return !is_executable(&local.directory.join(program));
    }
    let given = local.environment.get("PATH").map(Secret::expose);
    let path = given.or(environment.get("PATH")).unwrap_or(DEFAULT_PATH);
    !search_path(path.as_ref()).iter().any(|place| is_executable(&place.join(program)))
}

pub(super) fn options(server: &Server) -> Result<UpstreamOptions, String> {
    let given = &server.options;
    let mut options = UpstreamOptions {
        start: match given.start {
            StartSetting::Lazy => Start::WhenNeeded,
            StartSetting::Eager => Start::AtOnce,
        },
        idle: given.idle_stop,
        sessions: match given.sessions {
            SessionSetting::Caller => Sessions::PerCaller,
            SessionSetting::Shared => Sessions::Shared,
        },
        timeouts: reach::timeouts(&given.timeout)?,
        tools: tool_rules(server)?,
        retry: RetryOptions {
            attempts: given.retry.attempts,
            base: given.retry.first,
            ceiling: given.retry.most,
            budget: given.retry.budget,
            ..RetryOptions::default()
        },
        breaker: BreakerOptions {
            failures: given.breaker.failures,
            open_for: given.breaker.open_for,
            trials: given.breaker.trials,
        },
        rate: given.rate.as_ref().and_then(quota),
        ..UpstreamOptions::default()
    };
    options.pool.most = size(given.max_sessions);
    options.pool.per_principal = options.pool.per_principal.min(options.pool.most);
    options.restart.base = given.restart.first;
    options.restart.factor = given.restart.factor;
    options.restart.ceiling = given.restart.most;
    options.restart.stable = given.restart.healthy_after;
    options.bulkhead.concurrency = size(given.concurrency);
    options.bulkhead.queue = size(given.queue);
    options.lists.ttl = Some(given.lists.ttl);
    options.lists.items = size(given.lists.items);
    options.lists.pages = size(given.lists.pages);
    Ok(options)
}

/// The tool rules that concern calls. For each setting, the first matching rule that sets it wins.
fn tool_rules(server: &Server) -> Result<ToolRules, String> {
    let speaks = |change: &ToolChange| change.timeout.is_some() || change.idempotent.is_some();
    let mut rules: Vec<(String, GlobMatcher, ToolOptions)> = Vec::new();
    for rule in server.tools.iter().filter(|rule| speaks(&rule.change)) {
        let glob = Glob::new(&rule.tool).map_err(|error| error.to_string())?.compile_matcher();
        let limits =
            rule.change.timeout.map(|_| reach::timeouts(&server.timeouts(Some(&rule.change)))).transpose()?;
        let repeats =
            rule.change.idempotent.map(|yes| if yes { Safety::Repeatable } else { Safety::AtMostOnce });
        rules.push((rule.tool.clone(), glob, ToolOptions { timeouts: limits, repeats }));
    }
    if rules.is_empty() {
        return Ok(ToolRules::default());
    }
    Ok(ToolRules::new(move |tool| {
        let fitting = rules.iter().filter(|(text, glob, _)| text == tool || glob.is_match(tool));
        fitting.fold(ToolOptions::default(), |told, (_, _, rule)| ToolOptions {
            timeouts: told.timeouts.or(rule.timeouts),
            repeats: told.repeats.or(rule.repeats),
        })
    }))
}
