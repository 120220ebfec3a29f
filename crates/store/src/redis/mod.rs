//! `Redis`: a store in a Redis or Valkey server, shared by several processes.

mod attempts;
mod scripts;
mod subscription;

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use redis::{
    Client, FromRedisValue, ScriptInvocation,
    aio::{ConnectionManager, ConnectionManagerConfig},
};

use self::{
    attempts::{Repeat, attempts},
    subscription::Subscription,
};
use crate::{
    Condition, Event, Outcome, Pending, Retention, Store, StoreError, Value, Version, check,
    followers::Followers,
};

/// Digits of a version in front of a value's bytes.
const VERSION_DIGITS: usize = 16;

#[derive(Debug, Clone)]
pub struct RedisOptions {
    /// Beginning of all keys, so that several applications can share a server.
    pub prefix: String,
    /// Limit of one operation, all attempts together.
    pub timeout: Duration,
}

/// See the [module](self).
pub struct Redis {
    client: Client,
    connection: ConnectionManager,
    options: RedisOptions,
    followers: Arc<Followers>,
    /// Opened when the first caller follows a log.
    subscription: OnceLock<Subscription>,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self { prefix: "trunkline:".to_owned(), timeout: Duration::from_secs(5) }
    }
}

impl Redis {
    /// Takes an address such as `redis://host:6379/0` or `rediss://…`. Needs a runtime; connects
    /// with the first operation.
    pub fn new(url: &str, options: RedisOptions) -> Result<Self, StoreError> {
        let refused = |error: redis::RedisError| StoreError::Refused(error.to_string());
        let client = Client::open(url).map_err(refused)?;
        let config = ConnectionManagerConfig::new()
            .set_number_of_retries(0)
            .set_connection_timeout(Some(options.timeout))
            .set_response_timeout(Some(options.timeout));
        let connection = ConnectionManager::new_lazy_with_config(client.clone(), config).map_err(refused)?;
        Ok(Self { client, connection, options, followers: Arc::default(), subscription: OnceLock::new() })
    }

    fn key(&self, kind: &str, name: &str) -> String {
        format!("{}{kind}:{name}", self.options.prefix)
    }

    /// The keys of a value, of the index and of the expiry times.
    fn keys(&self, key: &str) -> [String; 3] {
        [self.key("value", key), self.key("index", ""), self.key("expiry", "")]
    }

    async fn invoke<T>(&self, script: &ScriptInvocation<'_>, repeat: Repeat) -> Result<T, StoreError>
    where
        T: FromRedisValue,
    {
        let attempt = || {
            let mut connection = self.connection.clone();
            async move { script.invoke_async(&mut connection).await }
        };
        attempts(self.options.timeout, repeat, attempt).await
    }

    async fn ask<T: FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, StoreError> {
        let attempt = || {
            let mut connection = self.connection.clone();
            async move { command.query_async(&mut connection).await }
        };
        attempts(self.options.timeout, Repeat::Safe, attempt).await
    }

    fn subscribe(&self) {
        self.subscription.get_or_init(|| {
            Subscription::start(self.client.clone(), self.key("appended", ""), self.followers.clone())
        });
    }
}

impl Store for Redis {
    fn get<'a>(&'a self, key: &'a str) -> Pending<'a, Option<Value>> {
        Box::pin(async move {
            let found: Option<Vec<u8>> = self.ask(redis::cmd("GET").arg(self.key("value", key))).await?;
            found.map(value).transpose()
        })
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
            let version = Version::random();
            let [value, index, expiry] = self.keys(key);
            let mut script = scripts::PUT.key(value);
            script.key(index).key(expiry).arg(condition_text(condition)).arg(digits(version));
            script.arg(&bytes[..]).arg(lifetime.map_or(0, millis)).arg(key).arg(self.key("value", ""));
            let written: Option<String> = self.invoke(&script, Repeat::Safe).await?;
            Ok(written.map_or(Outcome::Conflict, |_| Outcome::Done(version)))
        })
    }

    fn remove<'a>(&'a self, key: &'a str, condition: Condition) -> Pending<'a, Outcome> {
        Box::pin(async move {
            let [value, index, expiry] = self.keys(key);
            let mut script = scripts::REMOVE.key(value);
            script.key(index).key(expiry).arg(condition_text(condition)).arg(key);
            // A repeated removal of one version would report a conflict.
            let repeat = if condition == Condition::Always { Repeat::Safe } else { Repeat::IfRefused };
            let removed: Option<String> = self.invoke(&script, repeat).await?;
            removed.map_or(Ok(Outcome::Conflict), |digits| Ok(Outcome::Done(version(digits.as_bytes())?)))
        })
    }

    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: &'a str,
        limit: usize,
    ) -> Pending<'a, Vec<(String, Value)>> {
        Box::pin(async move {
            let (mut found, mut after) = (Vec::new(), after.to_owned());
            // Keys whose values have expired are still in the index, so one page may not be enough.
            while found.len() < limit {
                let start = if after.as_str() > prefix { format!("({after}") } else { format!("[{prefix}") };
                let mut command = redis::cmd("ZRANGEBYLEX");
                command
                    .arg(self.key("index", ""))
                    .arg(start)
                    .arg([b"(", prefix.as_bytes(), b"\xff"].concat());
                command.arg("LIMIT").arg(0).arg(limit);
                let keys: Vec<String> = self.ask(&command).await?;
                let Some(last) = keys.last() else { break };
                after.clone_from(last);
                let places: Vec<String> = keys.iter().map(|key| self.key("value", key)).collect();
                let values: Vec<Option<Vec<u8>>> = self.ask(redis::cmd("MGET").arg(places)).await?;
                for (key, bytes) in keys.into_iter().zip(values) {
                    if let Some(bytes) = bytes {
                        found.push((key, value(bytes)?));
                    }
                }
            }
            found.truncate(limit);
            Ok(found)
        })
    }

    fn append<'a>(&'a self, log: &'a str, event: Bytes, retention: Retention) -> Pending<'a, u64> {
        Box::pin(async move {
            check(log, &event)?;
            let mut script = scripts::APPEND.key(self.key("log", log));
            script.arg(digits(Version::random())).arg(&event[..]).arg(retention.events.max(1));
            script.arg(millis(retention.lifetime)).arg(self.key("appended", log));
            self.invoke(&script, Repeat::Safe).await
        })
    }

    fn events<'a>(&'a self, log: &'a str, after: u64, limit: usize) -> Pending<'a, Vec<Event>> {
        Box::pin(async move {
            let mut command = redis::cmd("XRANGE");
            command.arg(self.key("log", log)).arg(format!("0-{}", after.saturating_add(1))).arg("+");
            command.arg("COUNT").arg(limit);
            let rows: Vec<(String, [Vec<u8>; 4])> = self.ask(&command).await?;
            rows.into_iter().map(|(id, [_, _, _, bytes])| event(&id, bytes)).collect()
        })
    }

    fn appended<'a>(&'a self, log: &'a str, after: u64) -> Pending<'a, ()> {
        self.subscribe();
        Box::pin(self.followers.wait(self, log, after))
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn add<'a>(&'a self, counter: &'a str, by: i64, lifetime: Duration) -> Pending<'a, i64> {
        Box::pin(async move {
            check(counter, &[])?;
            let mut script = scripts::ADD.key(self.key("counter", counter));
            script.arg(by).arg(millis(lifetime));
            self.invoke(&script, Repeat::IfRefused).await
        })
    }
}

impl fmt::Debug for Redis {
    /// Leaves the address out: it may contain a password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Redis").field("options", &self.options).finish_non_exhaustive()
    }
}

fn condition_text(condition: Condition) -> String {
    match condition {
        Condition::Always => "*".to_owned(),
        Condition::Absent => String::new(),
        Condition::Unchanged(version) => digits(version),
    }
}

fn digits(Version(version): Version) -> String {
    format!("{version:016x}")
}

fn version(digits: &[u8]) -> Result<Version, StoreError> {
    let text = str::from_utf8(digits).ok();
    let number = text.and_then(|text| u64::from_str_radix(text, 16).ok());
    number.map(Version).ok_or_else(|| StoreError::Damaged("a value without its version".to_owned()))
}

fn value(bytes: Vec<u8>) -> Result<Value, StoreError> {
    let bytes = Bytes::from(bytes);
    let version = version(bytes.get(..VERSION_DIGITS).unwrap_or_default())?;
    Ok(Value { bytes: bytes.slice(VERSION_DIGITS..), version })
}

fn event(id: &str, bytes: Vec<u8>) -> Result<Event, StoreError> {
    let number = id.strip_prefix("0-").and_then(|number| number.parse().ok());
    let number = number.ok_or_else(|| StoreError::Damaged(format!("an event with the id {id}")))?;
    Ok(Event { number, bytes: bytes.into() })
}

fn millis(lifetime: Duration) -> u64 {
    // Redis accepts no zero and no number above what fits into i64.
    u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX).clamp(1, 1 << 52)
}
