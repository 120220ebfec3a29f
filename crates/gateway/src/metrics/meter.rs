//! The meter: counts what is sent to one server.

use super::{
    CallFigures,
    series::{Series, Success},
};
use parking_lot::Mutex;
use std::{collections::HashMap, sync::Arc, time::Instant};
use trunkline_protocol::{Call, Handler, Outcome, Reply, message::says_error, method};

/// Methods that are counted by name. All others, such as those of extensions, are counted
/// together.
const METHODS: [&str; 15] = [
    method::DISCOVER,
    method::PING,
    method::TOOLS_LIST,
    method::TOOLS_CALL,
    method::RESOURCES_LIST,
    method::RESOURCES_READ,
    method::RESOURCES_TEMPLATES,
    method::PROMPTS_LIST,
    method::PROMPTS_GET,
    method::COMPLETE,
    method::LISTEN,
    method::TASKS_GET,
    method::TASKS_RESULT,
    method::TASKS_CANCEL,
    method::TASKS_UPDATE,
];

/// The label of all methods or tools that have no label of their own.
const OTHER: &str = "other";

/// If calls are counted per tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PerTool {
    #[default]
    No,
    /// At most this many names; further tools are counted together.
    UpTo(usize),
}

/// Counts the calls to one server and their latency. Clones share the counters.
#[derive(Debug, Clone)]
pub struct Meter(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// One per method; the last is for all others.
    methods: [Series; METHODS.len() + 1],
    per_tool: PerTool,
    tools: Mutex<HashMap<String, Arc<Series>>>,
}

impl Meter {
    pub fn new(per_tool: PerTool) -> Self {
        Self(Arc::new(Inner { methods: Default::default(), per_tool, tools: Mutex::default() }))
    }

    /// The same handler, with each call counted.
    pub fn around<H: Handler>(&self, inner: H) -> Metered<H> {
        Metered { inner, meter: self.clone() }
    }

    /// The figures of all methods that were called.
    pub fn calls(&self) -> Vec<CallFigures> {
        let names = METHODS.iter().chain([&OTHER]);
        let mut all: Vec<_> =
            names.zip(&self.0.methods).filter_map(|(name, series)| series.figures(name, None)).collect();
        if self.0.per_tool != PerTool::No {
            all.retain(|figures| figures.method != method::TOOLS_CALL);
            let tools = self.0.tools.lock();
            let mut tools: Vec<_> = tools
                .iter()
                .filter_map(|(name, series)| series.figures(method::TOOLS_CALL, Some(name)))
                .collect();
            tools.sort_by(|one, other| one.tool.cmp(&other.tool));
            all.extend(tools);
        }
        all
    }

    fn begin(&self, call: &Call) -> Counted {
        let index = METHODS.iter().position(|known| *known == call.method).unwrap_or(METHODS.len());
        Counted {
            meter: self.clone(),
            index,
            tool: self.tool(call),
            began: Instant::now(),
            is_tool_call: call.method == method::TOOLS_CALL,
        }
    }

    fn tool(&self, call: &Call) -> Option<Arc<Series>> {
        let PerTool::UpTo(most) = self.0.per_tool else { return None };
        if call.method != method::TOOLS_CALL {
            return None;
        }
        let name = call.params.as_ref()?.text_of("name")?;
        let mut tools = self.0.tools.lock();
        if let Some(series) = tools.get(name.as_ref()) {
            return Some(Arc::clone(series));
        }
        let name = if tools.len() < most { name.into_owned() } else { OTHER.to_owned() };
        Some(Arc::clone(tools.entry(name).or_default()))
    }
}

/// A handler whose calls a [`Meter`] counts.
#[derive(Debug)]
pub struct Metered<H> {
    inner: H,
    meter: Meter,
}

impl<H: Handler> Handler for Metered<H> {
    fn call(&self, call: Call) -> Reply {
        let counted = self.meter.begin(&call);
        self.inner.call(call).on_final(move |outcome| counted.end(outcome))
    }

    fn inner(&self) -> Option<&dyn Handler> {
        Some(&self.inner)
    }
}

/// A call in flight. If it is dropped, it is not counted: how long it ran says nothing about the
/// server.
struct Counted {
    meter: Meter,
    index: usize,
    tool: Option<Arc<Series>>,
    began: Instant,
    is_tool_call: bool,
}

impl Counted {
    fn end(self, outcome: &Outcome) {
        let failed = match outcome {
            Ok(result) => self.is_tool_call && says_error(result),
            Err(_) => true,
        };
        let (took, success) = (self.began.elapsed(), if failed { Success::No } else { Success::Yes });
        self.meter.0.methods[self.index].count(took, success);
        if let Some(tool) = self.tool {
            tool.count(took, success);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::{Fault, FaultKind, Raw};

    struct Peer;

    impl Handler for Peer {
        fn call(&self, call: Call) -> Reply {
            let name = call.params.and_then(|params| params.member_as::<String>("name")).unwrap_or_default();
            Reply::ready(match name.as_str() {
                "sad" => Ok(serde_json::json!({"isError": true}).into()),
                "bad" => Err(Fault::new(FaultKind::Timeout, "no answer")),
                _ => Ok(Raw::empty_object()),
            })
        }
    }

    async fn counted(per_tool: PerTool, tools: &[&str]) -> Vec<(String, Option<String>, u64, u64)> {
        let metered = Metered { inner: Peer, meter: Meter::new(per_tool) };
        for tool in tools {
            let params = serde_json::json!({"name": tool});
            drop(metered.call(Call::new(method::TOOLS_CALL, Some(params.into()))).outcome().await);
        }
        drop(metered.call(Call::new("vendor/one", None)).outcome().await);
        drop(metered.call(Call::new("vendor/two", None)).outcome().await);
        drop(metered.call(Call::new("vendor/given-up", None)));
        let figures = metered.meter.calls().into_iter();
        figures.map(|one| (one.method, one.tool, one.calls, one.failures)).collect()
    }

    #[tokio::test]
    async fn calls_are_counted_by_method_and_unknown_methods_together() {
        let want = [("tools/call".to_owned(), None, 3, 2), (OTHER.to_owned(), None, 2, 0)];
        assert_eq!(counted(PerTool::No, &["fine", "sad", "bad"]).await, want);
    }

    #[tokio::test]
    async fn tools_are_counted_one_by_one_only_up_to_a_bound() {
        let names: Vec<String> = (0..50).map(|n| format!("tool-{n:02}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let counted = counted(PerTool::UpTo(2), &names).await;
        let tools: Vec<_> =
            counted.iter().filter_map(|(_, tool, calls, _)| Some((tool.as_deref()?, *calls))).collect();
        assert_eq!(tools, [(OTHER, 48), ("tool-00", 1), ("tool-01", 1)]);
    }
}
