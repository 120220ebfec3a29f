//! Limited: a handler that enforces rate limits.

use super::Rates;
use std::sync::Arc;
use trunkline_protocol::{Call, Handler, Reply};

/// A handler behind [`Rates`].
#[derive(Debug)]
pub struct Limited<H> {
    inner: H,
    rates: Arc<Rates>,
}

impl<H: Handler> Limited<H> {
    pub fn new(inner: H, rates: Arc<Rates>) -> Self {
        Self { inner, rates }
    }
}

impl<H: Handler> Handler for Limited<H> {
    fn call(&self, call: Call) -> Reply {
        // Counted before the reply is polled: a call that is dropped unpolled counts too.
        match self.rates.check(&call) {
            Ok(()) => self.inner.call(call),
            Err(fault) => Reply::ready(Err(fault)),
        }
    }

    fn inner(&self) -> Option<&dyn Handler> {
        Some(&self.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::Limits;
    use std::{
        collections::HashMap,
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };
    use trunkline_protocol::{Caller, FaultKind, Raw, method};
    use trunkline_resilience::Quota;

    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Handler for Counter {
        fn call(&self, _: Call) -> Reply {
            self.0.fetch_add(1, Ordering::SeqCst);
            Reply::ready(Ok(Raw::empty_object()))
        }
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
        let limited = Limited::new(Counter::default(), Rates::new(&limits));
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
            Rates::new(&Limits { per_tool: Some(quota(3, 60)), tools, ..Limits::default() }),
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
