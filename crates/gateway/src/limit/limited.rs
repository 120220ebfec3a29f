//! Limited: a handler that enforces rate limits.

use std::{borrow::Cow, collections::HashMap, fmt, sync::Arc};
use tokio::time::Instant;
use trunkline_protocol::{Call, Fault, FaultKind, Handler, Notify, Origin, Raw, Reply, method};
use trunkline_resilience::{Quota, RateLimiter, TooSoon};

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

    fn own_name<'a>(&self, view: Option<&str>, public: &'a str) -> Cow<'a, str> {
        let own = self.0.as_ref().and_then(|find| find(view, public));
        own.map_or(Cow::Borrowed(public), Cow::Owned)
    }
}

impl fmt::Debug for ToolNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolNames").finish_non_exhaustive()
    }
}

/// A handler behind [`Limits`]. The fault of a refused call has `retryAfter` (seconds, rounded up)
/// and `retryAfterMs` in its data.
#[derive(Debug)]
pub struct Limited<H> {
    inner: H,
    per_caller: Option<RateLimiter>,
    per_tool: Option<RateLimiter>,
    tools: HashMap<String, RateLimiter>,
    names: ToolNames,
}

impl<H: Handler> Limited<H> {
    pub fn new(inner: H, limits: &Limits) -> Self {
        let tools =
            limits.tools.iter().map(|(name, quota)| (name.clone(), RateLimiter::with_keys(*quota, 1)));
        Self {
            inner,
            per_caller: limits.per_caller.map(RateLimiter::new),
            per_tool: limits.per_tool.map(RateLimiter::new),
            tools: tools.collect(),
            names: limits.names.clone(),
        }
    }

    fn check(&self, call: &Call) -> Result<(), Fault> {
        if call.method == method::PING || call.origin == Origin::Ourselves {
            return Ok(());
        }
        let now = Instant::now();
        if let Some(rate) = &self.per_caller {
            rate.check_at(&call.caller.id, now).map_err(|soon| refusal("calls", soon))?;
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
        rate.map_or(Ok(()), |rate| rate.check_at(&own, now))
            .map_err(|soon| refusal("calls of this tool", soon))
    }
}

impl<H: Handler> Handler for Limited<H> {
    fn call(&self, call: Call) -> Reply {
        // Counted before the reply is polled: a call that is dropped unpolled counts too.
        match self.check(&call) {
            Ok(()) => self.inner.call(call),
            Err(fault) => Reply::ready(Err(fault)),
        }
    }

    fn notify(&self, notice: Notify) {
        self.inner.notify(notice);
    }

    fn has_view(&self, view: &str) -> bool {
        self.inner.has_view(view)
    }

    fn admits(&self, view: &str, caller: &trunkline_protocol::Caller) -> bool {
        self.inner.admits(view, caller)
    }
}

fn refusal(what: &str, TooSoon { retry_after }: TooSoon) -> Fault {
    let millis = u64::try_from(retry_after.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
    let seconds = millis.div_ceil(1000);
    let data = serde_json::json!({"retryAfter": seconds, "retryAfterMs": millis});
    Fault::new(FaultKind::RateLimited, format!("too many {what}; try again in {seconds} s"))
        .with_data(Raw::from(data))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };
    use trunkline_protocol::Caller;

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Handler for Counter {
        fn call(&self, _: Call) -> Reply {
            self.0.fetch_add(1, Ordering::SeqCst);
            Reply::ready(Ok(Raw::empty_object()))
        }

        fn notify(&self, _: Notify) {}
    }

    fn quota(limit: u32, seconds: u64) -> Quota {
        Quota::new(limit.try_into().unwrap(), Duration::from_secs(seconds))
    }

    fn call(who: &str, tool: &str) -> Call {
        let mut call =
            Call::new(method::TOOLS_CALL, Some(serde_json::json!({"name": tool, "arguments": {}}).into()));
        call.caller = Arc::new(Caller { id: who.to_owned(), ..(*Caller::local()).clone() });
        call
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_above_the_limit_is_told_when_to_come_back_and_others_are_not_touched() {
        let limits = Limits { per_caller: Some(quota(2, 3)), ..Limits::default() };
        let limited = Limited::new(Counter::default(), &limits);
        limited.call(call("ada", "x")).outcome().await.unwrap();
        limited.call(Call { method: "tools/list".into(), ..call("ada", "x") }).outcome().await.unwrap();
        let fault = limited.call(call("ada", "y")).outcome().await.unwrap_err();
        assert_eq!(fault.kind(), FaultKind::RateLimited);
        assert_eq!(fault.data().unwrap().as_str(), r#"{"retryAfter":2,"retryAfterMs":1500}"#);
        limited.call(call("bob", "x")).outcome().await.unwrap();
        limited.call(Call { method: method::PING.into(), ..call("ada", "x") }).outcome().await.unwrap();
        assert_eq!(limited.inner.0.load(Ordering::SeqCst), 4);
        tokio::time::advance(Duration::from_millis(1500)).await;
        limited.call(call("ada", "x")).outcome().await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_tool_has_its_own_limit_over_all_callers() {
        let tools = HashMap::from([("slow".to_owned(), quota(1, 60))]);
        let limited = Limited::new(
            Counter::default(),
            &Limits { per_tool: Some(quota(3, 60)), tools, ..Limits::default() },
        );
        limited.call(call("ada", "slow")).outcome().await.unwrap();
        assert!(limited.call(call("bob", "slow")).outcome().await.is_err());
        let escaped = Raw::parse(r#"{"name":"sl\u006fw"}"#).unwrap();
        let spelt = Call { params: Some(escaped), ..call("eve", "") };
        assert!(limited.call(spelt).outcome().await.is_err(), "an escaped name is the same tool");
        for who in ["a", "b", "c"] {
            limited.call(call(who, "quick")).outcome().await.unwrap();
        }
        assert!(limited.call(call("d", "quick")).outcome().await.is_err());
        limited.call(call("d", "other")).outcome().await.unwrap();
    }
}
