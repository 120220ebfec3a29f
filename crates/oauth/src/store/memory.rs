//! Logins that end with the process.

use super::{AccountKey, LockGuard, StoreError, StoredLogin, TokenStore};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use std::collections::HashMap;

/// Keeps logins in memory only.
#[derive(Debug, Default)]
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

    fn lock(&self, _: &AccountKey) -> BoxFuture<'static, Result<LockGuard, StoreError>> {
        Box::pin(async { Ok(LockGuard::none()) })
    }

    fn place(&self, _: &AccountKey) -> String {
        "memory".to_owned()
    }
}
