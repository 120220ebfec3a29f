//! The secrets of `trunkline secret`, which `{keychain:NAME}` refers to: one file that only its
//! owner can read.
//!
//! It is a file and not the system's keychain, because a gateway runs without a desktop session.
//! The keychain of Linux is a service of that session, over D-Bus; its pure-Rust client adds 21
//! crates (`secret-service`) or 33 (`keyring`). The kernel's keyring forgets at a restart.

use crate::environment::{self, Environment};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use trunkline_config::{NoSecret, Secrets};
use trunkline_oauth::{StoreError, lock_private, read_private, write_private};

/// The file with all secrets; `None` inside if the environment names no place for it.
#[derive(Debug, Clone)]
pub(crate) struct Vault(Option<PathBuf>);

/// The reason why a secret cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VaultError {
    #[error("there is no place for secrets: neither HOME nor XDG_DATA_HOME is set")]
    NoPlace,
    #[error(transparent)]
    File(#[from] StoreError),
    #[error("{0} is not a file of secrets that we wrote")]
    Malformed(String),
}

impl Vault {
    pub(crate) fn find(environment: &Environment) -> Self {
        Self(environment::data_directory(environment).map(|data| data.join("trunkline/secrets.json")))
    }

    pub(crate) fn path(&self) -> Result<&Path, VaultError> {
        self.0.as_deref().ok_or(VaultError::NoPlace)
    }

    /// All secrets by name.
    pub(crate) fn read(&self) -> Result<BTreeMap<String, String>, VaultError> {
        let path = self.path()?;
        let Some(text) = read_private(path)? else { return Ok(BTreeMap::new()) };
        // The text of a data error could quote a secret.
        serde_json::from_slice(&text).map_err(|_| VaultError::Malformed(path.display().to_string()))
    }

    /// Changes the secrets; other processes wait meanwhile.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, String>) -> T,
    ) -> Result<T, VaultError> {
        let path = self.path()?;
        let _lock = lock_private(&path.with_extension("lock"))?;
        let mut secrets = self.read()?;
        let outcome = change(&mut secrets);
        let text = serde_json::to_vec_pretty(&secrets).unwrap_or_default();
        write_private(path, &text)?;
        Ok(outcome)
    }
}

impl Secrets for Vault {
    fn keychain(&self, name: &str) -> Result<String, NoSecret> {
        let suggestion = format!("store it with `trunkline secret set {name}`");
        let unavailable = |reason: String| NoSecret { reason, suggestion: suggestion.clone() };
        let mut secrets = self.read().map_err(|error| unavailable(error.to_string()))?;
        secrets.remove(name).ok_or_else(|| unavailable(format!("there is no secret `{name}`")))
    }
}
