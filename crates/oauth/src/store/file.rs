//! Logins in files that only their owner can read.

use super::{
    AccountKey, Stamp, StoreError, StoredLogin, TokenStore,
    private_file::{failed, lock_private, prepare},
    seal::Sealer,
};
use futures_util::future::BoxFuture;
use std::{
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};
use trunkline_resilience::timeout;

/// Longest wait for another process. A refresh is bounded by the timeouts of its requests.
const LOCK_TIMEOUT: Duration = Duration::from_secs(90);

/// One file per login, named by a digest, in one folder.
#[derive(Debug, Clone)]
pub struct FileStore {
    folder: PathBuf,
    sealer: Sealer,
}

/// Keeps other processes from renewing the same login until it is dropped.
#[derive(Debug)]
pub struct LockGuard(#[expect(dead_code, reason = "closing the file releases the lock")] Option<File>);

impl LockGuard {
    /// The guard of a store that no other process uses.
    pub fn none() -> Self {
        Self(None)
    }
}

impl FileStore {
    pub fn new(folder: PathBuf, sealer: Sealer) -> Self {
        Self { folder, sealer }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All logins, and the errors of those that cannot be read.
    pub fn all(&self) -> (Vec<StoredLogin>, Vec<StoreError>) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Default::default() };
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let logins = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
        let (mut all, mut errors) = (Vec::new(), Vec::new());
        for path in logins {
            match self.read(&path) {
                Ok(login) => all.extend(login),
                Err(error) => errors.push(error),
            }
        }
        all.sort_by(|one, other| (&one.server, &one.principal).cmp(&(&other.server, &other.principal)));
        (all, errors)
    }

    /// Reads a login of ours.
    fn read(&self, path: &Path) -> Result<Option<StoredLogin>, StoreError> {
        let Some(text) = self.sealer.read(path)? else { return Ok(None) };
        // The text of a data error could quote a token.
        let malformed = |_| failed(path, "read", &io::Error::other("it is not a login that we wrote"));
        serde_json::from_slice(&text).map(Some).map_err(malformed)
    }

    fn path(&self, key: &AccountKey) -> PathBuf {
        self.folder.join(format!("{}.json", key.digest()))
    }
}

impl TokenStore for FileStore {
    fn load(&self, key: &AccountKey) -> Result<Option<StoredLogin>, StoreError> {
        let found = self.read(&self.path(key))?;
        // A file that was copied here from another login is not ours.
        Ok(found.filter(|login| login.server == key.server && login.principal == key.principal))
    }

    fn save(&self, key: &AccountKey, login: &StoredLogin) -> Result<(), StoreError> {
        let path = self.path(key);
        let text = serde_json::to_vec_pretty(login)
            .map_err(|error| failed(&path, "written", &io::Error::other(error)))?;
        self.sealer.write(&path, &text)
    }

    fn remove(&self, key: &AccountKey) -> Result<(), StoreError> {
        let path = self.path(key);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&path, "removed", &error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn lock(&self, key: &AccountKey) -> BoxFuture<'static, Result<LockGuard, StoreError>> {
        let (store, path) = (self.clone(), self.path(key).with_extension("lock"));
        Box::pin(async move {
            prepare(&store.folder)?;
            let shown = path.display().to_string();
            let locking = tokio::task::spawn_blocking(move || Ok(LockGuard(Some(lock_private(&path)?))));
            match timeout(LOCK_TIMEOUT, locking).await {
                Some(Ok(locked)) => locked,
                Some(Err(stopped)) => {
                    let reason = stopped.to_string();
                    Err(StoreError::File { path: shown, verb: "locked", reason })
                }
                None => Err(StoreError::Locked { path: shown, seconds: LOCK_TIMEOUT.as_secs() }),
            }
        })
    }

    fn stamp(&self, key: &AccountKey) -> Option<Stamp> {
        let found = fs::symlink_metadata(self.path(key)).ok()?;
        Some(Stamp { inode: found.ino(), bytes: found.len(), changed: (found.ctime(), found.ctime_nsec()) })
    }

    fn place(&self, key: &AccountKey) -> String {
        let path = self.path(key);
        let sealed = if Sealer::is_sealed(&path) { ", sealed with a key in the keychain" } else { "" };
        format!("{}{sealed}", path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClientIdentity, IssuerMetadata, Secret, Tokens, store::private_file::write_new};
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn key(principal: Option<&str>) -> AccountKey {
        AccountKey { server: "https://h/mcp".to_owned(), principal: principal.map(str::to_owned) }
    }

    fn login(key: &AccountKey, access: &str) -> StoredLogin {
        StoredLogin {
            server: key.server.clone(),
            principal: key.principal.clone(),
            resource: key.server.clone(),
            issuer: IssuerMetadata { issuer: "https://as".to_owned(), ..IssuerMetadata::default() },
            client: ClientIdentity::document("https://me/c".to_owned()),
            tokens: Some(Tokens {
                access: Secret::new(access),
                refresh: None,
                scopes: Vec::new(),
                issued_at: 1,
                lifetime: None,
                odd_lifetime: None,
            }),
        }
    }

    fn access(store: &FileStore, key: &AccountKey) -> Option<String> {
        let tokens = store.load(key).unwrap()?.tokens?;
        Some(tokens.access.expose().to_owned())
    }

    #[test]
    fn o10_a_login_is_readable_by_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::new(folder.path().join("a/b"), Sealer::default());
        let key = key(None);
        assert_eq!(store.load(&key).unwrap(), None);
        store.save(&key, &login(&key, "one")).unwrap();
        store.save(&key, &login(&key, "two")).unwrap();
        assert_eq!(access(&store, &key).as_deref(), Some("two"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&store.path(&key)), mode(store.folder())), (0o600, 0o700));
        assert_eq!(fs::read_dir(store.folder()).unwrap().count(), 1, "a draft was left");
        fs::set_permissions(store.path(&key), fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(store.load(&key), Err(StoreError::Untrusted { .. })));
    }

    #[test]
    fn o10_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::new(folder.path().to_owned(), Sealer::default());
        let (mine, other) = (key(None), key(Some("other")));
        store.save(&other, &login(&other, "theirs")).unwrap();
        symlink(store.path(&other), store.path(&mine)).unwrap();
        assert!(matches!(store.load(&mine), Err(StoreError::Untrusted { .. })));
        store.save(&mine, &login(&mine, "mine")).unwrap();
        assert_eq!(access(&store, &other).as_deref(), Some("theirs"));
        // A copy of another login is not taken for ours.
        fs::copy(store.path(&other), store.path(&mine)).unwrap();
        assert_eq!(access(&store, &mine), None);
    }

    #[test]
    fn o10_a_crash_while_saving_leaves_the_old_login() {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::new(folder.path().to_owned(), Sealer::default());
        let key = key(None);
        store.save(&key, &login(&key, "old")).unwrap();
        // The disk was full, or the process died, in the middle of the draft.
        write_new(&store.path(&key).with_extension("draft.tmp"), b"{\"server\": \"https://h/m").unwrap();
        assert_eq!(access(&store, &key).as_deref(), Some("old"));
        assert_eq!(store.all().0.len(), 1);
        store.save(&key, &login(&key, "new")).unwrap();
        assert_eq!(access(&store, &key).as_deref(), Some("new"));
    }

    #[tokio::test]
    async fn o08_a_lock_is_held_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let store = FileStore::new(folder.path().to_owned(), Sealer::default());
        let first = store.lock(&key(None)).await.unwrap();
        let mut second = store.lock(&key(None));
        let waiting =
            std::future::poll_fn(|cx| std::task::Poll::Ready(second.as_mut().poll(cx).is_pending()));
        assert!(waiting.await);
        store.lock(&key(Some("other"))).await.unwrap();
        drop(first);
        second.await.unwrap();
    }

    #[test]
    fn o11_no_two_keys_share_a_file() {
        let pair = |server: &str, principal: Option<&str>| {
            AccountKey { server: server.to_owned(), principal: principal.map(str::to_owned) }.digest()
        };
        let digests = [
            pair("a", None),
            pair("a", Some("")),
            pair("a", Some("-")),
            pair("a1:", Some("b")),
            pair("a", Some("1:b")),
            pair("ab", None),
        ];
        let different: std::collections::BTreeSet<_> = digests.iter().collect();
        assert_eq!(different.len(), digests.len());
        assert!(digests.iter().all(|digest| digest.len() == 64));
    }
}
