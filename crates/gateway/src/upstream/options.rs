//! The settings of an upstream: when it runs, its time limits, and the limits of calls and
//! answers.

use crate::limit::Quota;
use std::{fmt, sync::Arc, time::Duration};
use trunkline_protocol::Revision;
use trunkline_resilience::{
    Breaker, BreakerOptions, OutOfRange, Retry, RetryOptions, Safety, Timeouts, within,
};

/// The settings of one upstream.
#[derive(Debug, Clone)]
pub struct UpstreamOptions {
    pub start: Start,
    /// After this time without a call the server is stopped; the next call starts it again.
    pub idle: Option<Duration>,
    pub sessions: Sessions,
    /// The revision that a handshake offers, if it is logged, once, that the server answers with
    /// another one.
    pub offered: Option<Revision>,
    /// True if the user was already told why the server cannot be used, so that it is not logged.
    pub failure_is_told: bool,
    pub pool: PoolOptions,
    pub timeouts: Timeouts,
    /// Settings that differ for some tools.
    pub tools: ToolRules,
    /// If the server's idempotent and read-only annotations are believed.
    pub annotations: Annotations,
    /// Number and times of the repeats of a repeatable request.
    pub retry: RetryOptions,
    pub breaker: BreakerOptions,
    pub restart: RestartOptions,
    pub bulkhead: BulkheadOptions,
    /// Rate of calls by all callers together.
    pub rate: Option<Quota>,
    pub lists: ListOptions,
    /// Maximum time that a call waits for a server that is reconnecting.
    pub patience: Duration,
    /// This gateway's own id, to detect that it is its own upstream.
    pub instance: Option<Arc<str>>,
}

/// When the server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Start {
    #[default]
    AtOnce,
    /// At the first list or call.
    WhenNeeded,
}

/// The callers that share a session with a legacy server. A modern server has one session for
/// all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sessions {
    /// Calls of the same caller with the same client and capabilities.
    #[default]
    PerCaller,
    /// All callers, for servers without state. The session declares no client capabilities.
    Shared,
}

/// Limits of the session pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolOptions {
    pub most: usize,
    pub per_principal: usize,
    /// A session that was idle for this time is closed, unless it is the last one.
    pub idle: Duration,
}

/// Backoff between reconnects of a lost server, with equal jitter: half of each pause is random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestartOptions {
    pub base: Duration,
    /// Each pause is this many times as long as the one before.
    pub factor: u32,
    pub ceiling: Duration,
    /// The longest pause for a server that starts and is lost soon.
    pub relapse_ceiling: Duration,
    /// A session that lived for this time, or served a call, counts as stable.
    pub stable: Duration,
    /// Pause before a failure that only a change of configuration or machine can fix is retried.
    pub recheck: Duration,
}

/// Limits of calls at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BulkheadOptions {
    pub concurrency: usize,
    /// Calls that may be queued; further ones are refused at once.
    pub queue: usize,
    pub wait: Duration,
}

/// Settings of tools, found by name.
#[derive(Clone, Default)]
pub struct ToolRules(Option<Arc<Find>>);

type Find = dyn Fn(&str) -> ToolOptions + Send + Sync;

/// Settings of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolOptions {
    /// Time limits instead of those of the upstream.
    pub timeouts: Option<Timeouts>,
    /// If calling it twice has the effect of calling it once; if unset, see
    /// [`UpstreamOptions::annotations`].
    pub repeats: Option<Safety>,
}

/// If a server's annotations count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Annotations {
    #[default]
    Ignored,
    Believed,
}

/// Bounds on what a server may list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListOptions {
    pub pages: usize,
    pub items: usize,
    pub bytes: usize,
    pub item_bytes: usize,
    pub description_bytes: usize,
    pub name_bytes: usize,
    /// Time to wait after an announced change, so that many become one.
    pub quiet: Duration,
    /// The longest such wait, for a server that keeps announcing changes without changing
    /// anything.
    pub quiet_ceiling: Duration,
    /// The age limit of a list if the server gives no TTL.
    pub ttl: Option<Duration>,
    /// The shortest age limit that is honoured, so that a server is not polled all the time.
    pub least_ttl: Duration,
    /// Broken items that are listed; further ones are only counted.
    pub quarantined: usize,
}

impl UpstreamOptions {
    /// Refuses values out of range.
    pub fn checked(self) -> Result<Self, OutOfRange> {
        Retry::new(self.retry)?;
        Retry::new(self.restart.as_retry())?;
        Breaker::new("", self.breaker)?;
        within("sessions", self.pool.most, 1..=10_000)?;
        within("sessions of one caller", self.pool.per_principal, 1..=self.pool.most)?;
        within("concurrent calls", self.bulkhead.concurrency, 1..=100_000)?;
        within("waiting calls", self.bulkhead.queue, 0..=1_000_000)?;
        Ok(self)
    }
}

impl ToolRules {
    pub fn new(find: impl Fn(&str) -> ToolOptions + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(find)))
    }

    /// The settings of the tool; `name` is called only if there are rules.
    pub(super) fn find<T: AsRef<str>>(&self, name: impl FnOnce() -> Option<T>) -> ToolOptions {
        let found = self.0.as_ref().and_then(|find| Some(find(name()?.as_ref())));
        found.unwrap_or_default()
    }
}

impl fmt::Debug for ToolRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolRules").finish_non_exhaustive()
    }
}

impl RestartOptions {
    pub(super) fn as_retry(&self) -> RetryOptions {
        let jitter = trunkline_resilience::Jitter::Equal;
        let Self { base, factor, ceiling, .. } = *self;
        RetryOptions { base, factor, ceiling, jitter, ..RetryOptions::default() }
    }
}

impl Default for UpstreamOptions {
    fn default() -> Self {
        Self {
            start: Start::default(),
            idle: None,
            sessions: Sessions::default(),
            offered: None,
            failure_is_told: false,
            pool: PoolOptions::default(),
            timeouts: Timeouts::default(),
            tools: ToolRules::default(),
            annotations: Annotations::default(),
            retry: RetryOptions::default(),
            breaker: BreakerOptions::default(),
            restart: RestartOptions::default(),
            bulkhead: BulkheadOptions::default(),
            rate: None,
            lists: ListOptions::default(),
            patience: Duration::from_millis(700),
            instance: None,
        }
    }
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self { most: 64, per_principal: 8, idle: Duration::from_mins(10) }
    }
}

impl Default for RestartOptions {
    fn default() -> Self {
        Self {
            base: Duration::from_millis(100),
            factor: 2,
            ceiling: Duration::from_secs(30),
            relapse_ceiling: Duration::from_secs(3),
            stable: Duration::from_secs(10),
            recheck: Duration::from_mins(1),
        }
    }
}

impl Default for BulkheadOptions {
    fn default() -> Self {
        Self { concurrency: 512, queue: 1024, wait: Duration::from_secs(5) }
    }
}

impl Default for ListOptions {
    fn default() -> Self {
        Self {
            pages: 1000,
            items: 10_000,
            bytes: 16 * 1024 * 1024,
            item_bytes: 4 * 1024 * 1024,
            description_bytes: 1_000_000,
            name_bytes: 1024,
            quiet: Duration::from_millis(100),
            quiet_ceiling: Duration::from_secs(5),
            ttl: Some(Duration::from_mins(5)),
            least_ttl: Duration::from_secs(1),
            quarantined: 100,
        }
    }
}
