//! `Lazy`: a store that is opened with the first operation.

use std::{path::PathBuf, time::Duration};

use bytes::Bytes;
use tokio::{sync::OnceCell, task::spawn_blocking};

use crate::{
    Condition, Embedded, Event, Outcome, Pending, Redis, RedisOptions, Retention, Store, StoreError, Value,
};

/// Place of a store's data.
pub enum Place {
    Memory,
    File(PathBuf),
    /// Address of a Redis or Valkey server.
    Url(String),
}

/// A store that costs nothing until it is used. If it cannot be opened, the operation fails, and
/// the next one tries again.
#[derive(Debug)]
pub struct Lazy {
    place: Place,
    open: OnceCell<Box<dyn Store>>,
}

impl Lazy {
    pub fn new(place: Place) -> Self {
        Self { place, open: OnceCell::new() }
    }

    async fn store(&self) -> Result<&dyn Store, StoreError> {
        let store = self.open.get_or_try_init(|| self.place.open()).await?;
        Ok(store.as_ref())
    }
}

impl Place {
    async fn open(&self) -> Result<Box<dyn Store>, StoreError> {
        let path = match self {
            Self::Url(url) => return Ok(Box::new(Redis::new(url, RedisOptions::default())?)),
            Self::Memory => return Ok(Box::new(Embedded::in_memory()?)),
            Self::File(path) => path.clone(),
        };
        // A file that was not closed properly is repaired first, which may take long.
        let opened = spawn_blocking(move || Embedded::open(&path)).await;
        let lost = |error| StoreError::Unavailable(format!("opening the file was aborted: {error}"));
        Ok(Box::new(opened.map_err(lost)??))
    }
}

impl std::fmt::Debug for Place {
    /// Leaves the address out: it may contain a password.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Memory => out.write_str("Memory"),
            Self::File(path) => out.debug_tuple("File").field(path).finish(),
            Self::Url(_) => out.write_str("Url"),
        }
    }
}

impl Store for Lazy {
    fn get<'a>(&'a self, key: &'a str) -> Pending<'a, Option<Value>> {
        Box::pin(async move { self.store().await?.get(key).await })
    }

    fn put<'a>(
        &'a self,
        key: &'a str,
        bytes: Bytes,
        condition: Condition,
        lifetime: Option<Duration>,
    ) -> Pending<'a, Outcome> {
        Box::pin(async move { self.store().await?.put(key, bytes, condition, lifetime).await })
    }

    fn remove<'a>(&'a self, key: &'a str, condition: Condition) -> Pending<'a, Outcome> {
        Box::pin(async move { self.store().await?.remove(key, condition).await })
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: &'a str,
        limit: usize,
    ) -> Pending<'a, Vec<(String, Value)>> {
        Box::pin(async move { self.store().await?.list(prefix, after, limit).await })
    }

    fn append<'a>(&'a self, log: &'a str, event: Bytes, retention: Retention) -> Pending<'a, u64> {
        Box::pin(async move { self.store().await?.append(log, event, retention).await })
    }

    fn events<'a>(&'a self, log: &'a str, after: u64, limit: usize) -> Pending<'a, Vec<Event>> {
        Box::pin(async move { self.store().await?.events(log, after, limit).await })
    }

    fn appended<'a>(&'a self, log: &'a str, after: u64) -> Pending<'a, ()> {
        Box::pin(async move { self.store().await?.appended(log, after).await })
    }

    fn is_shared(&self) -> bool {
        matches!(self.place, Place::Url(_))
    }

    fn add<'a>(&'a self, counter: &'a str, by: i64, lifetime: Duration) -> Pending<'a, i64> {
        Box::pin(async move { self.store().await?.add(counter, by, lifetime).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_created_with_the_first_operation_and_a_failed_opening_is_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("below");
        let path = below.join("store");
        let store = Lazy::new(Place::File(path.clone()));
        assert!(store.get("a").await.is_err(), "its directory does not exist");
        std::fs::create_dir(&below).unwrap();
        assert!(!path.exists());
        let put = store.put("a", Bytes::from_static(b"1"), Condition::Absent, None).await;
        assert!(matches!(put, Ok(Outcome::Done(_))));
        assert!(path.exists());
    }

    #[test]
    fn addresses_are_not_shown() {
        let store = Lazy::new(Place::Url("redis://:secret@h".to_owned()));
        assert!(!format!("{store:?}").contains("secret"));
    }
}
