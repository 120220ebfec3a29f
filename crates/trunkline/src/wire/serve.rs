//! Turns settings into serving options: authentication, rate limits and audit trail.

use super::{
    gate::{self, RoleScopes},
    issuer, settings,
    signing::signing,
};
use crate::{args::EraChoice, environment::Environment, failure::Failure};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    time::Duration,
};
use trunkline_auth::{Authenticator, Challenge, ProtectedResource, TrustedProxies};
use trunkline_config::{
    Auth, Durability as DurabilitySetting, Handshake as HandshakeSetting, Issuer, Rate, Settings, Tls,
    WhenItFails, read_regular_text,
};
use trunkline_gateway::{
    StateOptions,
    audit::{Durability, OnFailure, OpenError, Options as AuditOptions, Trail},
    limit::{Limits as Rates, Quota, ToolNames},
};
use trunkline_protocol::Era;
use trunkline_serve::{Eras, Guard, Handshake, RestLimits, ServeOptions};

/// Sizes of the secret that seals states.
const MAX_STATE_KEY: u64 = 64 * 1024;
const MIN_STATE_KEY: usize = 32;

/// The audit trail of one server process, and its directory; `None` if disabled.
pub(crate) fn trail(
    settings: &Settings,
    name: &str,
    environment: &Environment,
) -> Result<Option<(Trail, PathBuf)>, Failure> {
    let Some(home) = audit_home(settings, environment)? else { return Ok(None) };
    let chosen = settings.audit.directory.is_some();
    let folder = if chosen { home } else { home.join(format!("{name}-{}", std::process::id())) };
    let options = AuditOptions { signing: signing(settings, environment)?, ..audit_options(settings) };
    let key = settings.audit.signing.key.clone();
    let trail = Trail::open(&folder, options).map_err(|error| match (&error, key) {
        (OpenError::Unsigned(_), Some(key)) => unsigned(&error, &folder, &key),
        _ => Failure::usage(format!("the audit trail in {} cannot be kept: {error}", folder.display()))
            .hint("choose another place with --audit, or do without it with --no-audit"),
    })?;
    Ok(Some((trail, folder)))
}

/// The trail was never signed, or its signed head was deleted: only the operator knows.
fn unsigned(error: &OpenError, folder: &Path, key: &Path) -> Failure {
    let (folder, key) = (folder.display(), key.display());
    Failure::usage(error.to_string())
        .hint(format!("if signing is new here, sign the records as they are: `trunkline audit sign {folder} --key {key}`"))
        .hint("otherwise the head was deleted: keep the directory as evidence, and begin a new trail with --audit")
}

/// The rate limits per caller and tool; `None` if there are none.
pub(crate) fn rates(settings: &Settings, names: ToolNames) -> Option<Rates> {
    let per_caller = settings.limits.per_caller.as_ref().and_then(quota);
    let per_tool = settings.limits.per_tool.as_ref().and_then(quota);
    (per_caller.is_some() || per_tool.is_some()).then(|| Rates {
        per_caller,
        per_tool,
        tools: HashMap::new(),
        names,
    })
}

fn audit_options(settings: &Settings) -> AuditOptions {
    let audit = &settings.audit;
    let (mutating, reading) = match audit.when_it_fails {
        WhenItFails::RefuseAll => (OnFailure::Refuse, OnFailure::Refuse),
        WhenItFails::RefuseChanges => (OnFailure::Refuse, OnFailure::Allow),
        WhenItFails::Allow => (OnFailure::Allow, OnFailure::Allow),
    };
    AuditOptions {
        durability: match audit.durability {
            DurabilitySetting::Sync => Durability::Sync,
            DurabilitySetting::Batch => Durability::Batch { interval: Duration::from_secs(1) },
        },
        segment_bytes: audit.segment_bytes,
        patience: audit.patience,
        mutating,
        reading,
        ..AuditOptions::default()
    }
}

/// The directory of all audit trails; `None` if disabled.
pub(crate) fn audit_home(settings: &Settings, environment: &Environment) -> Result<Option<PathBuf>, Failure> {
    if !settings.audit.enabled {
        return Ok(None);
    }
    if let Some(chosen) = &settings.audit.directory {
        return Ok(Some(chosen.clone()));
    }
    let state = settings::state_home(environment).ok_or_else(|| {
        Failure::usage("there is no home directory to keep the audit trail in")
            .hint("choose a directory with --audit, or pass --no-audit")
    })?;
    Ok(Some(state.join("trunkline/audit")))
}

/// The options of the front end: guard, limits and era.
pub(crate) fn options(
    settings: &Settings,
    era: EraChoice,
    roles: Option<RoleScopes>,
) -> Result<ServeOptions, Failure> {
    let eras = match era {
        EraChoice::Auto => Eras::Both,
        EraChoice::Legacy => Eras::Only(Era::Legacy),
        EraChoice::Modern => Eras::Only(Era::Modern),
    };
    Ok(ServeOptions {
        eras,
        handshake: match settings.handshake {
            HandshakeSetting::Required => Handshake::Required,
            HandshakeSetting::Optional => Handshake::Optional,
        },
        guard: guard(&settings.auth, settings.tls.as_ref(), roles)?,
        limits: limits(settings),
        rest: rest_limits(settings),
        ..ServeOptions::default()
    })
}

fn limits(settings: &Settings) -> trunkline_serve::Limits {
    let given = &settings.limits;
    let bytes = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    trunkline_serve::Limits {
        body: bytes(given.body_bytes),
        header_timeout: given.header_timeout,
        idle_timeout: given.idle_timeout,
        body_timeout: given.body_timeout,
        write_timeout: given.write_timeout,
        connections: size(given.connections),
        sessions: size(given.sessions),
        sessions_per_caller: size(given.sessions_per_caller),
        session_idle: given.session_idle,
        calls: size(given.calls),
        parked: size(given.parked),
        parked_for: given.parked_for,
        replay_events: size(given.replay_events),
        replay_bytes: bytes(given.replay_bytes),
        keep_alive: given.keep_alive,
        drain: given.drain,
    }
}

fn rest_limits(settings: &Settings) -> RestLimits {
    let given = &settings.limits;
    RestLimits {
        running: size(given.executions),
        waiting: size(given.execution_queue),
        timeout: given.execution_timeout,
        retention: given.execution_retention,
        kept_bytes: given.execution_bytes,
        kept_bytes_total: given.execution_bytes_total,
    }
}

/// A rate as a quota; zero means no limit.
pub(super) fn quota(rate: &Rate) -> Option<Quota> {
    Some(Quota::new(rate.calls.try_into().ok()?, rate.per))
}

/// Converts a configured number to `usize`.
pub(super) fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The key and lifetime of the states of servers.
pub(super) fn states(settings: &Settings) -> Result<StateOptions, Failure> {
    let key = settings.auth.state_key.as_ref().map(|path| {
        let unusable = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", path.display()));
        let text = read_regular_text(path, MAX_STATE_KEY).map_err(|error| unusable(&error))?;
        let secret = text.trim();
        if secret.len() < MIN_STATE_KEY {
            let short = format!("the secret has {} bytes; at least {MIN_STATE_KEY} are needed", secret.len());
            return Err(unusable(&short));
        }
        Ok(secret.as_bytes().into())
    });
    Ok(StateOptions { key: key.transpose()?, lifetime: settings.limits.state_for })
}

/// The guard of a listener, before its encryption is known.
pub(crate) fn guard(auth: &Auth, tls: Option<&Tls>, roles: Option<RoleScopes>) -> Result<Guard, Failure> {
    let issuers = issuer::all(auth);
    let metadata = issuer::resource(&issuers)?;
    let scopes = issuer::required_scopes(&issuers);
    let challenge =
        Challenge { resource_metadata: metadata.as_ref().map(ProtectedResource::address), scopes };
    let proxies = TrustedProxies::new(&auth.trusted_proxies)
        .map_err(|error| Failure::usage(format!("auth.trustedProxies: {error}")))?;
    let asks_certificates = tls.is_some_and(|tls| tls.client_authorities.is_some());
    let authenticator =
        authenticator(auth, &issuers)?.or(asks_certificates.then_some(Authenticator::Certificates));
    Ok(Guard {
        hosts: auth.hosts.clone(),
        origins: auth.origins.clone(),
        gate: authenticator.map(|authenticator| gate::gate(authenticator, challenge, proxies, roles)),
        metadata: metadata.map(|metadata| metadata.to_json()),
        ..Guard::default()
    })
}

fn authenticator(auth: &Auth, issuers: &[Issuer]) -> Result<Option<Authenticator>, Failure> {
    let keys = auth.keys.as_deref().map(super::keys::keys).transpose()?;
    let tokens = if issuers.is_empty() { None } else { Some(issuer::tokens(issuers)?) };
    Ok(match (keys, tokens) {
        (None, None) => None,
        (Some(keys), None) => Some(Authenticator::Keys(keys)),
        (None, Some(tokens)) => Some(Authenticator::Tokens(tokens)),
        (Some(keys), Some(tokens)) => Some(Authenticator::Both(keys, tokens)),
    })
}
