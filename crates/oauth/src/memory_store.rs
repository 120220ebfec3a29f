//! Logins that end with the process.

use crate::{AccountKey, LockGuard, StoreError, StoredLogin, TokenStore};
use futures_util::future::{self, BoxFuture, FutureExt};
use parking_lot::Mutex;
use std::{collections::HashMap, fmt};

/// Keeps logins in memory, for tokens that can be obtained again at any time.
#[derive(Default)]
pub struct MemoryStore(Mutex<HashMap<AccountKey, StoredLogin>>);

impl TokenStore for MemoryStore {
    fn load(&self, key: &AccountKey) -> Result<Option<StoredLogin>, StoreError> {
        Ok(self.0.lock().get(key).cloned())
    }

    fn save(&self, key: &AccountKey, login: &StoredLogin) -> Result<(), StoreError> {
        self.0.lock().insert(key.clone(), login.clone());
        Ok(())
    }

    fn remove(&self, key: &AccountKey) -> Result<(), StoreError> {
        self.0.lock().remove(key);
        Ok(())
    }

    fn lock(&self, _key: &AccountKey) -> BoxFuture<'static, Result<LockGuard, StoreError>> {
        future::ready(Ok(LockGuard::none())).boxed()
    }

    fn place(&self, _key: &AccountKey) -> String {
        "memory".to_owned()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MemoryStore")
    }
}
