//! Rates: the rate limits of a server, and the usage of each caller and tool.

use std::{borrow::Cow, collections::HashMap, fmt, sync::Arc};
use tokio::time::Instant;
use trunkline_protocol::{Call, Caller, Fault, FaultKind, Origin, Raw, method};
use trunkline_resilience::{Quota, RateLimiter, TooSoon, Usage};

/// The rate limits; `None` means no limit.
#[derive(Debug, Clone, Default)]
pub struct Limits {
    /// Calls of any method by one caller; pings are not counted.
    pub per_caller: Option<Quota>,
    /// Calls of one tool, by all callers together.
    pub per_tool: Option<Quota>,
    /// Quotas of single tools, used instead of `per_tool`.
    pub tools: HashMap<String, Quota>,
    pub names: ToolNames,
}

/// Finds the name by which the calls of a tool are counted. A tool has one public name per view.
#[derive(Clone, Default)]
pub struct ToolNames(Option<Arc<FindOwnName>>);

type FindOwnName = dyn Fn(Option<&str>, &str) -> Option<String> + Send + Sync;

impl ToolNames {
    /// `find` gets the view and the public name, and returns a name that is the same in all views;
    /// `None` if there is no such tool.
    pub fn new(find: impl Fn(Option<&str>, &str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(find)))
    }

    pub(crate) fn own_name<'a>(&self, view: Option<&str>, public: &'a str) -> Cow<'a, str> {
        let own = self.0.as_ref().and_then(|find| find(view, public));
        own.map_or(Cow::Borrowed(public), Cow::Owned)
    }
}

impl fmt::Debug for ToolNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolNames").finish_non_exhaustive()
    }
}

/// [`Limits`], with the calls that were counted so far.
#[derive(Debug)]
pub struct Rates {
    per_caller: Option<RateLimiter>,
    per_tool: Option<RateLimiter>,
    tools: HashMap<String, RateLimiter>,
    names: ToolNames,
}

impl Rates {
    pub fn new(limits: &Limits) -> Arc<Self> {
        let tools =
            limits.tools.iter().map(|(name, quota)| (name.clone(), RateLimiter::with_keys(*quota, 1)));
        Arc::new(Self {
            per_caller: limits.per_caller.map(RateLimiter::new),
            per_tool: limits.per_tool.map(RateLimiter::new),
            tools: tools.collect(),
            names: limits.names.clone(),
        })
    }

    /// The part of the quota per caller that is left to this one; `None` without such a quota.
    pub fn usage(&self, caller: &Caller) -> Option<Usage> {
        self.per_caller.as_ref().map(|rate| rate.usage(&caller.id))
    }

    /// Counts a call, or refuses it without counting. The fault has `retryAfter` (seconds, rounded
    /// up) and `retryAfterMs` in its data.
    pub(super) fn check(&self, call: &Call) -> Result<(), Fault> {
        let now = Instant::now();
        self.judge(call, |rate, key| rate.check_at(key, now))
    }

    /// Refuses a call that [`Self::check`] would refuse now; nothing is counted.
    pub fn peek(&self, call: &Call) -> Result<(), Fault> {
        self.judge(call, RateLimiter::peek)
    }

    fn judge(
        &self,
        call: &Call,
        ask: impl Fn(&RateLimiter, &str) -> Result<(), TooSoon>,
    ) -> Result<(), Fault> {
        if call.method == method::PING || call.origin == Origin::Ourselves {
            return Ok(());
        }
        if let Some(rate) = &self.per_caller {
            ask(rate, &call.caller.id).map_err(|soon| refusal("calls", soon))?;
        }
        if call.method != method::TOOLS_CALL || (self.per_tool.is_none() && self.tools.is_empty()) {
            return Ok(());
        }
        // The inner handler refuses a call without a name.
        let Some(name) = call.params.as_ref().and_then(|params| params.text_of("name")) else {
            return Ok(());
        };
        let rate = self.tools.get(name.as_ref()).or(self.per_tool.as_ref());
        let own = self.names.own_name(call.view.as_deref(), &name);
        rate.map_or(Ok(()), |rate| ask(rate, &own)).map_err(|soon| refusal("calls of this tool", soon))
    }
}

fn refusal(what: &str, TooSoon { retry_after }: TooSoon) -> Fault {
    let millis = u64::try_from(retry_after.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
    let seconds = millis.div_ceil(1000);
    let data = serde_json::json!({"retryAfter": seconds, "retryAfterMs": millis});
    Fault::new(FaultKind::RateLimited, format!("too many {what}; try again in {seconds} s"))
        .with_data(Raw::from(data))
}
