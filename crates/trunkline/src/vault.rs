//! The secrets of `trunkline secret`, which `{keychain:NAME}` refers to: one file that only its
//! owner can read, sealed with a key of the system's keychain if there is one.

use crate::{
    environment::{self, Environment},
    keychain,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use trunkline_config::{NoSecret, Secrets};
use trunkline_oauth::{Sealer, StoreError, lock_private};

/// The file with all secrets.
#[derive(Debug, Clone)]
pub(crate) struct Vault {
    /// `None` if the environment names no place for it.
    file: Option<PathBuf>,
    sealer: Sealer,
}

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
        let file = environment::data_directory(environment).map(|data| data.join("trunkline/secrets.json"));
        Self { file, sealer: keychain::sealer(environment) }
    }

    pub(crate) fn path(&self) -> Result<&Path, VaultError> {
        self.file.as_deref().ok_or(VaultError::NoPlace)
    }

    /// All secrets by name.
    pub(crate) fn read(&self) -> Result<BTreeMap<String, String>, VaultError> {
        let path = self.path()?;
        let Some(text) = self.sealer.read(path)? else { return Ok(BTreeMap::new()) };
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
        self.sealer.write(path, &text)?;
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
