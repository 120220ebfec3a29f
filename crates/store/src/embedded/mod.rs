//! `Embedded`: a store in memory, or in one file of this process.
//!
//! One thread owns the database. It takes all waiting operations together, runs them in one
//! transaction and answers when that is durable, so that many small writes share one `fsync`.

mod expiry;
mod tables;
mod worker;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use tokio::sync::oneshot;

use crate::{
    Condition, Event, Outcome, Pending, Retention, Store, StoreError, Value, check, followers::Followers,
};
use tables::Tables;
use worker::{Change, Job, Worker};

/// See the [module](self).
#[derive(Debug)]
pub struct Embedded {
    worker: Worker,
    followers: Arc<Followers>,
}

impl Embedded {
    /// A store that ends with the process.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::start(None)
    }

    /// Opens or creates the file. It is locked while this store exists.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::start(Some(path.to_owned()))
    }

    fn start(path: Option<PathBuf>) -> Result<Self, StoreError> {
        Ok(Self { worker: Worker::start(path)?, followers: Arc::default() })
    }

    /// Runs an operation on the worker and returns its result after the commit.
    async fn run<T, F>(&self, operation: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Tables<'_>) -> Result<(T, Change), StoreError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |tables| {
            let (result, change) = match tables.and_then(operation) {
                Ok((value, change)) => (Ok(value), change),
                Err(error) => (Err(error), Change::None),
            };
            let finish = Box::new(move |committed: Result<(), StoreError>| {
                // The caller may have stopped waiting.
                drop(answer.send(result.and_then(|value| committed.map(|()| value))));
            });
            (change, finish)
        });
        self.worker.send(job)?;
        answered.await.map_err(|_| StoreError::Unknown("the store's thread ended".to_owned()))?
    }
}

impl Store for Embedded {
    fn get<'a>(&'a self, key: &'a str) -> Pending<'a, Option<Value>> {
        let key = key.to_owned();
        Box::pin(self.run(move |tables| Ok((tables.get(&key)?, Change::None))))
    }

    fn put<'a>(
        &'a self,
        key: &'a str,
        bytes: Bytes,
        condition: Condition,
        lifetime: Option<Duration>,
    ) -> Pending<'a, Outcome> {
        Box::pin(async move {
            check(key, &bytes)?;
            let key = key.to_owned();
            self.run(move |tables| tables.put(&key, &bytes, condition, lifetime)).await
        })
    }

    fn remove<'a>(&'a self, key: &'a str, condition: Condition) -> Pending<'a, Outcome> {
        let key = key.to_owned();
        Box::pin(self.run(move |tables| tables.remove(&key, condition)))
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: &'a str,
        limit: usize,
    ) -> Pending<'a, Vec<(String, Value)>> {
        let (prefix, after) = (prefix.to_owned(), after.to_owned());
        Box::pin(self.run(move |tables| Ok((tables.list(&prefix, &after, limit)?, Change::None))))
    }

    fn append<'a>(&'a self, log: &'a str, event: Bytes, retention: Retention) -> Pending<'a, u64> {
        Box::pin(async move {
            check(log, &event)?;
            let name = log.to_owned();
            let number = self.run(move |tables| tables.append(&name, &event, retention)).await?;
            self.followers.wake(log);
            Ok(number)
        })
    }

    fn events<'a>(&'a self, log: &'a str, after: u64, limit: usize) -> Pending<'a, Vec<Event>> {
        let log = log.to_owned();
        Box::pin(self.run(move |tables| Ok((tables.events(&log, after, limit)?, Change::None))))
    }

    fn appended<'a>(&'a self, log: &'a str, after: u64) -> Pending<'a, ()> {
        Box::pin(self.followers.wait(self, log, after))
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn add<'a>(&'a self, counter: &'a str, by: i64, lifetime: Duration) -> Pending<'a, i64> {
        Box::pin(async move {
            check(counter, &[])?;
            let counter = counter.to_owned();
            self.run(move |tables| tables.add(&counter, by, lifetime)).await
        })
    }
}
