//! The place where logins are kept between runs.

mod file;
mod memory;
mod private_file;
mod seal;

use crate::{ClientIdentity, IssuerMetadata, Tokens};
use futures_util::future::BoxFuture;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use std::{fmt, fmt::Write as _};

pub use file::{FileStore, LockGuard};
pub use memory::MemoryStore;
pub use private_file::lock_private;
pub use seal::{KeyKeeper, NoKey, Sealer, SealingKey};

/// Keeps logins: in files, or in memory.
pub trait TokenStore: fmt::Debug + Send + Sync {
    fn load(&self, key: &AccountKey) -> Result<Option<StoredLogin>, StoreError>;

    /// Replaces the login at once: after a crash either the old or the new one is there.
    fn save(&self, key: &AccountKey, login: &StoredLogin) -> Result<(), StoreError>;

    fn remove(&self, key: &AccountKey) -> Result<(), StoreError>;

    /// Waits until no other process renews this login, and keeps others from it.
    fn lock(&self, key: &AccountKey) -> BoxFuture<'static, Result<LockGuard, StoreError>>;

    /// A value that differs after another process has stored or removed the login. It is asked for
    /// with each request.
    fn stamp(&self, _key: &AccountKey) -> Option<Stamp> {
        None
    }

    /// The place of a login, for people.
    fn place(&self, key: &AccountKey) -> String;
}

/// Tells two states of a stored login apart: inode, size and time of change of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub(crate) inode: u64,
    pub(crate) bytes: u64,
    pub(crate) changed: (i64, i64),
}

/// The name of a login: a server, and the user if a gateway keeps logins of several.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AccountKey {
    /// The server's URL without query.
    pub server: String,
    pub principal: Option<String>,
}

/// A login, bound to the issuer, the resource and the client that it was made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredLogin {
    pub server: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    pub resource: String,
    pub issuer: IssuerMetadata,
    pub client: ClientIdentity,
    /// `None` after a logout: the registered client is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
}

/// The reason why a login cannot be kept or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("{path} cannot be {verb}: {reason}")]
    File { path: String, verb: &'static str, reason: String },
    #[error("{path} is not a regular file of yours that only you can read")]
    Untrusted { path: String },
    #[error("another process holds the lock of {path} for more than {seconds} s")]
    Locked { path: String, seconds: u64 },
    #[error("{path} is sealed with a key of the system's keychain, and cannot be opened: {reason}")]
    Sealed { path: String, reason: String },
}

impl AccountKey {
    /// The file name: a digest of both parts, each with its length, so that no two keys share one.
    pub(crate) fn digest(&self) -> String {
        let principal = self.principal.as_deref();
        let text = format!(
            "{}:{}{}:{}",
            self.server.len(),
            self.server,
            principal.map_or_else(|| "-".to_owned(), |name| name.len().to_string()),
            principal.unwrap_or_default()
        );
        digest(&SHA256, text.as_bytes()).as_ref().iter().fold(String::new(), |mut hex, byte| {
            // Writing to a String does not fail.
            write!(hex, "{byte:02x}").ok();
            hex
        })
    }
}
