//! From the options of `serve` to a handler and the way in to it.

use super::fetch::ServiceFetch;
use crate::{
    args::EraChoice,
    commands::serve::Args,
    environment::{self, Environment},
    failure::Failure,
};
use ::http::{HeaderMap, HeaderValue, header};
use std::{
    collections::{HashMap, HashSet},
    fs,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};
use trunkline_auth::{
    ApiKeys, AttemptLimit, Authenticator, Challenge, JwtOptions, ProtectedResource, Unidentified,
};
use trunkline_gateway::{
    audit::{Audited, Options as AuditOptions, Trail},
    limit::{Limited, Limits, Quota},
};
use trunkline_protocol::{Caller, Era, Handler};
use trunkline_serve::{Denied, Eras, Gate, Guard, ServeOptions};
use trunkline_tools::{
    Tool, Toolbox,
    ci::{self, CiOptions, ProviderOptions, Token},
    filesystem::{self, FilesystemOptions},
    git::{self, GitOptions},
    sandbox::{self, Reads, Roots},
};
use trunkline_transport::http::{HttpClient, HttpOptions};

/// The tools, before anything stands in front of them.
pub(crate) struct Kit {
    toolbox: Toolbox,
    /// How many tools there are.
    pub(crate) tools: usize,
    read_only: HashSet<String>,
}

/// The directories to serve, opened once and for all.
pub(crate) fn roots(args: &Args) -> Result<Roots, Failure> {
    Roots::open(root_paths(args))
        .map_err(|error| Failure::usage(error.to_string()).hint("choose a directory with --root"))
}

fn root_paths(args: &Args) -> Vec<PathBuf> {
    if args.roots.is_empty() { vec![PathBuf::from(".")] } else { args.roots.clone() }
}

/// Asks the kernel to hold this process to its directories, as a second layer below the tools' own checks.
pub(crate) fn restrict(roots: &Roots, args: &Args, environment: &Environment) -> Result<(), Failure> {
    if args.offer.allow_run {
        // Compilers and package managers write to caches all over the home directory.
        tracing::info!("programs may run, so the kernel does not restrict where this process may write");
        return Ok(());
    }
    let audit = audit_home(args, environment)?;
    if let Some(audit) = &audit {
        fs::create_dir_all(audit).map_err(|error| Failure::usage(format!("{}: {error}", audit.display())))?;
    }
    let also: Vec<PathBuf> =
        audit.into_iter().chain(["/dev/null", "/dev/tty", "/tmp"].map(PathBuf::from)).collect();
    match sandbox::restrict_process(roots, &also, &Reads::Anywhere) {
        Ok(restriction) => tracing::debug!(?restriction, "the kernel restricts where this process may write"),
        // The tools' own checks hold without it.
        Err(error) => tracing::warn!(%error, "the kernel does not restrict where this process may write"),
    }
    Ok(())
}

/// The packs, as one toolbox.
pub(crate) fn kit(args: &Args, roots: &Roots, environment: &Environment) -> Result<Kit, Failure> {
    let mut tools = files(args, roots);
    tools.extend(repositories(args, environment)?);
    tools.extend(projects(args, environment)?);
    let is_read_only =
        |tool: &&Tool| tool.definition().annotations.is_some_and(|hints| hints.read_only_hint == Some(true));
    let read_only = tools.iter().filter(is_read_only).map(|tool| tool.name().to_owned()).collect();
    let count = tools.len();
    let toolbox = Toolbox::new("trunkline", env!("CARGO_PKG_VERSION"))
        .title("Trunkline")
        .instructions("Tools for one directory: files, git and the project's own checks. Paths are relative to that directory.")
        .tools(tools)
        .build()
        .map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Kit { toolbox, tools: count, read_only })
}

fn files(args: &Args, roots: &Roots) -> Vec<Tool> {
    let access =
        if args.offer.allow_write { filesystem::Access::ReadWrite } else { filesystem::Access::ReadOnly };
    filesystem::tools(
        roots.clone(),
        FilesystemOptions { roots: root_paths(args), access, ..FilesystemOptions::default() },
    )
}

/// The git tools; a machine without git is served without them.
fn repositories(args: &Args, environment: &Environment) -> Result<Vec<Tool>, Failure> {
    let mut options = GitOptions::new(canonical(args)?);
    if args.offer.allow_write {
        options.access = git::Access::ReadWrite;
        if let Some(home) = environment.get_os(environment::HOME) {
            options.identity = git::Identity::SettingsFile(PathBuf::from(home).join(".gitconfig"));
        }
    }
    if args.offer.allow_network {
        options.network = git::Network::Allowed;
        options.environment = environment.all();
    }
    let packed = git::pack(options.clone()).and_then(|mut tools| {
        if args.offer.compatibility {
            tools.extend(git::compatibility_tools(options)?);
        }
        Ok(tools)
    });
    Ok(packed.unwrap_or_else(|error| {
        tracing::warn!(%error, "git's tools are left out");
        Vec::new()
    }))
}

/// The ci tools; without `--allow-run` they only look.
fn projects(args: &Args, environment: &Environment) -> Result<Vec<Tool>, Failure> {
    let mut options = CiOptions::new(canonical(args)?);
    options.environment = environment.all();
    if args.offer.allow_run {
        options.access = ci::Access::Run;
    }
    let services = &args.offer.services;
    let github = provider(&services.github, environment::GITHUB_TOKEN, environment, ProviderOptions::github)?;
    let gitlab = provider(&services.gitlab, environment::GITLAB_TOKEN, environment, ProviderOptions::gitlab)?;
    options.providers = github.into_iter().chain(gitlab).collect();
    if !options.providers.is_empty() {
        let client =
            HttpClient::new(HttpOptions::default()).map_err(|error| Failure::usage(error.to_string()))?;
        options.fetch = Some(Arc::new(ServiceFetch(client)));
    }
    ci::pack(options).map_err(|error| Failure::usage(error.to_string()))
}

fn provider(
    projects: &[String],
    variable: &str,
    environment: &Environment,
    make: fn(Token) -> ProviderOptions,
) -> Result<Option<ProviderOptions>, Failure> {
    if projects.is_empty() {
        return Ok(None);
    }
    let token = environment.get_filled(variable).ok_or_else(|| {
        Failure::usage(format!("{variable} is not set"))
            .hint("put a token with read access to the project into it")
    })?;
    let mut options = make(Token::new(token));
    options.projects = projects.to_vec();
    Ok(Some(options))
}

fn canonical(args: &Args) -> Result<Vec<PathBuf>, Failure> {
    let paths: Result<Vec<_>, _> = root_paths(args).into_iter().map(fs::canonicalize).collect();
    paths.map_err(|error| Failure::usage(error.to_string()))
}

/// The tools behind their limits and before their records, and where those are kept.
pub(crate) fn recorded(
    kit: Kit,
    args: &Args,
    name: &str,
    environment: &Environment,
) -> Result<(Arc<dyn Handler>, Option<PathBuf>), Failure> {
    let minute = Duration::from_mins(1);
    let quota = |calls| Quota::new(calls, minute);
    let limits = Limits {
        per_caller: args.record.calls_per_minute.map(quota),
        per_tool: args.record.tool_calls_per_minute.map(quota),
        tools: HashMap::new(),
    };
    let limited = Limited::new(kit.toolbox, &limits);
    let Some(home) = audit_home(args, environment)? else { return Ok((Arc::new(limited), None)) };
    let folder =
        if args.record.audit.is_some() { home } else { home.join(format!("{name}-{}", std::process::id())) };
    let trail = Trail::open(&folder, AuditOptions::default()).map_err(|error| {
        Failure::usage(format!("the audit trail in {} cannot be kept: {error}", folder.display()))
            .hint("choose another place with --audit, or do without it with --no-audit")
    })?;
    let read_only = kit.read_only;
    let audited = Audited::new(limited, trail, Arc::new(move |tool: &str| read_only.contains(tool)));
    Ok((Arc::new(audited), Some(folder)))
}

/// Where audit trails are kept; `None` when none is wanted.
fn audit_home(args: &Args, environment: &Environment) -> Result<Option<PathBuf>, Failure> {
    if args.record.no_audit {
        return Ok(None);
    }
    if let Some(chosen) = &args.record.audit {
        return Ok(Some(chosen.clone()));
    }
    let state =
        environment.get_os(environment::STATE_HOME).filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = environment.get_os(environment::HOME).map(|home| PathBuf::from(home).join(".local/state"));
    let state = state.or(home).ok_or_else(|| {
        Failure::usage("there is no home directory to keep the audit trail in")
            .hint("choose a place with --audit, or say --no-audit")
    })?;
    Ok(Some(state.join("trunkline/audit")))
}

/// Who is served, and from where.
pub(crate) fn options(args: &Args) -> Result<ServeOptions, Failure> {
    let eras = match args.era {
        EraChoice::Auto => Eras::Both,
        EraChoice::Legacy => Eras::Only(Era::Legacy),
        EraChoice::Modern => Eras::Only(Era::Modern),
    };
    Ok(ServeOptions { eras, guard: guard(args)?, ..ServeOptions::default() })
}

fn guard(args: &Args) -> Result<Guard, Failure> {
    let metadata = match (&args.guard.audience, &args.guard.issuer) {
        (Some(audience), Some(issuer)) => Some(
            ProtectedResource::new(audience, &[issuer])
                .map_err(|error| Failure::usage(format!("--audience: {error}")))?,
        ),
        _ => None,
    };
    let challenge = Challenge {
        resource_metadata: metadata.as_ref().map(ProtectedResource::address),
        scopes: Vec::new(),
    };
    Ok(Guard {
        hosts: args.guard.hosts.clone(),
        origins: args.guard.origins.clone(),
        gate: authenticator(args)?.map(|authenticator| gate(authenticator, challenge)),
        metadata: metadata.map(|metadata| metadata.to_json()),
    })
}

fn authenticator(args: &Args) -> Result<Option<Authenticator>, Failure> {
    let keys = match &args.guard.keys {
        None => None,
        Some(path) => {
            let unusable = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", path.display()));
            let text = fs::read(path).map_err(|error| unusable(&error))?;
            let keys =
                ApiKeys::from_json(&String::from_utf8_lossy(&text)).map_err(|error| unusable(&error))?;
            if keys.all_expired() {
                tracing::warn!(file = %path.display(), "every key of this file has expired: nobody can come in with one");
            }
            Some(keys)
        }
    };
    let tokens = match (&args.guard.issuer, &args.guard.audience, &args.guard.jwks) {
        (Some(issuer), Some(audience), Some(source)) => {
            Some(super::issuer::verifier(JwtOptions::new(issuer, audience), source)?)
        }
        _ => None,
    };
    Ok(match (keys, tokens) {
        (None, None) => None,
        (Some(keys), None) => Some(Authenticator::Keys(keys)),
        (None, Some(tokens)) => Some(Authenticator::Jwt(tokens)),
        (Some(keys), Some(tokens)) => Some(Authenticator::Both(keys, tokens)),
    })
}

fn gate(authenticator: Authenticator, challenge: Challenge) -> Gate {
    let gate =
        Arc::new(trunkline_auth::Gate::new(authenticator, Unidentified::Refuse, AttemptLimit::default()));
    let challenge = Arc::new(challenge);
    Arc::new(move |headers: HeaderMap, peer: std::net::SocketAddr| {
        let (gate, challenge) = (gate.clone(), challenge.clone());
        Box::pin(async move {
            let given: Vec<&[u8]> =
                headers.get_all(header::AUTHORIZATION).iter().map(HeaderValue::as_bytes).collect();
            match gate.admit(&given, peer.ip()).await {
                Ok(identity) => {
                    Ok(Caller { id: identity.id, roles: identity.roles, scopes: identity.scopes })
                }
                Err(error) => Err(Denied {
                    status: error.status(),
                    message: error.to_string(),
                    challenge: HeaderValue::from_str(&challenge.unauthorized(&error)).ok(),
                }),
            }
        })
    })
}
