//! The accepted definitions of servers, from the lock file.

use crate::{failure::Failure, wire::settings};
use std::io;
use trunkline_config::{Loaded, LockSetting, Reach, read_regular_text};
use trunkline_gateway::catalog::{LockRules, OnDrift, Rules};
use trunkline_lock::Lock;

/// Maximum size of a lock file.
const MAX_FILE: u64 = 64 * 1024 * 1024;

/// Adds the accepted definitions to the rules. Our own packs are part of this program and are not
/// locked.
pub(super) fn apply(loaded: &Loaded, rules: &mut Rules) -> Result<(), Failure> {
    let on_drift = match loaded.settings.lock {
        LockSetting::Off => return Ok(()),
        LockSetting::Report => OnDrift::Report,
        LockSetting::Enforce => OnDrift::Quarantine,
    };
    let Some(lock) = read(loaded, on_drift)? else { return Ok(()) };
    for (name, server) in &loaded.settings.servers {
        if let Some(rules) = rules.servers.get_mut(name)
            && !matches!(server.reach, Reach::Builtin(_))
        {
            let pinned = lock.servers.get(name.as_ref());
            // A server that was never locked has no drift, unless every server must be locked.
            if pinned.is_some() || on_drift == OnDrift::Quarantine {
                let hashes = pinned.map(|pinned| pinned.hashes.clone()).unwrap_or_default();
                rules.lock = Some(LockRules { on_drift, hashes });
            }
        }
    }
    Ok(())
}

/// The lock file. Only `enforce` needs one.
fn read(loaded: &Loaded, on_drift: OnDrift) -> Result<Option<Lock>, Failure> {
    let path = settings::lock_file(loaded)?;
    let bad = |reason: String| {
        Failure::usage(format!("the lock file {} cannot be used: {reason}", path.display()))
            .hint("`trunkline lock` writes it again")
    };
    match read_regular_text(&path, MAX_FILE) {
        Ok(text) => Lock::read(&text).map(Some).map_err(|error| bad(error.to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound && on_drift == OnDrift::Report => Ok(None),
        Err(error) => Err(bad(error.to_string())),
    }
}
