//! Hooks: programs and endpoints of the operator that see tool calls and may deny or annotate
//! them.
//!
//! A hook is bounded in time, concurrency and size, and its failure is either ignored or refuses
//! the call, as configured. How a hook is run is not known here.

mod hooked;
mod interim;
mod payload;
mod verdict;

use crate::{
    limit::ToolNames,
    policy::{BadGlob, Filter, FilterRules},
};
use futures_util::{FutureExt, future::BoxFuture};
use std::{fmt, panic::AssertUnwindSafe, sync::Arc, time::Duration};
use trunkline_resilience::{FairSlots, timeout};

pub use hooked::Hooked;
use payload::Subject;
use verdict::Verdict;

/// A hook.
#[derive(Clone)]
pub struct Hook {
    pub name: String,
    pub events: Vec<HookEvent>,
    /// Globs over the names of tools.
    pub tools: Vec<String>,
    pub shows: Shows,
    pub on_failure: OnHookFailure,
    /// Includes the wait for a free place.
    pub timeout: Duration,
    /// Runs at once; further ones wait.
    pub concurrency: usize,
    /// Runs at once for one caller; `None` for all but one of `concurrency`.
    pub per_caller: Option<usize>,
    pub run: RunHook,
}

/// The moment at which a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEvent {
    Before,
    /// The tool succeeded.
    After,
    /// The tool or its server failed.
    Error,
}

/// The form in which a hook sees arguments and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// With everything masked that looks like a secret.
    Masked,
    Whole,
    Nothing,
}

/// The effect of a hook that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnHookFailure {
    /// The call goes on as if there were no hook.
    Allow,
    /// The call is refused, or its result withheld.
    Refuse,
}

/// Runs a hook: it gets the event as JSON and returns its answer, or the reason why there is none.
/// Dropping the future ends the hook.
pub type RunHook = Arc<dyn Fn(Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, String>> + Send + Sync>;

/// All hooks of a server.
pub struct Hooks {
    hooks: Vec<Arc<Prepared>>,
    names: ToolNames,
}

struct Prepared {
    hook: Hook,
    tools: Filter,
    slots: Arc<FairSlots>,
}

impl Hooks {
    /// Hooks run in the order given.
    pub fn new(hooks: Vec<Hook>, names: ToolNames) -> Result<Arc<Self>, BadGlob> {
        let hooks = hooks.into_iter().map(|hook| {
            let rules = FilterRules { allow: Some(hook.tools.clone()), deny: Vec::new() };
            let slots = FairSlots::new(hook.concurrency, hook.per_caller);
            Ok(Arc::new(Prepared { tools: Filter::new(&rules)?, slots, hook }))
        });
        Ok(Arc::new(Self { hooks: hooks.collect::<Result<_, BadGlob>>()?, names }))
    }

    /// The hooks of a tool. Both its public name and the one that is the same in all views count,
    /// so that no view leads around a hook. Tools that are unknown, or forbidden to the caller, are
    /// no exceptions: otherwise the answer would tell them apart.
    fn of(&self, subject: &Subject) -> Vec<Arc<Prepared>> {
        let view = subject.view.as_deref();
        let own = self.names.own_name(view, &subject.tool);
        let fits = |hook: &&Arc<Prepared>| hook.tools.admits(&subject.tool) || hook.tools.admits(&own);
        self.hooks.iter().filter(fits).cloned().collect()
    }
}

impl Prepared {
    fn is_for(&self, event: HookEvent) -> bool {
        self.hook.events.contains(&event)
    }

    /// Runs the hook within its limits.
    async fn ask(&self, caller: &str, payload: Result<Vec<u8>, String>) -> Result<Verdict, String> {
        let payload = payload?;
        let run = async {
            let slot = self.slots.acquire(caller).await;
            let answer = (self.hook.run)(payload).await;
            drop(slot);
            answer
        };
        // A panic must not end the call.
        let limit = self.hook.timeout;
        match timeout(limit, AssertUnwindSafe(run).catch_unwind()).await {
            None => Err(format!("it did not end within {} ms", limit.as_millis())),
            Some(Err(_)) => Err("it panicked".to_owned()),
            Some(Ok(answer)) => Verdict::read(&answer?),
        }
    }
}

impl HookEvent {
    fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
            Self::Error => "error",
        }
    }
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook").field("name", &self.name).field("events", &self.events).finish_non_exhaustive()
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.hooks.iter().map(|hook| &hook.hook.name)).finish()
    }
}
