//! Hooks: functions that run before and after a tool call.

use crate::ToolError;
use futures_util::{FutureExt, future::BoxFuture};
use std::{fmt, sync::Arc, time::Duration};
use trunkline_protocol::{Caller, Outcome, Raw};

/// A call, as a hook sees it.
#[derive(Debug, Clone)]
pub struct HookCall {
    pub tool: Arc<str>,
    pub arguments: Raw,
    pub caller: Arc<Caller>,
}

/// A finished call, as a hook sees it.
#[derive(Debug, Clone)]
pub struct HookOutcome {
    pub call: HookCall,
    /// The caller's answer: a result, possibly with `isError`, or a fault.
    pub outcome: Outcome,
    /// Duration from the start of the tool, without the wait for a slot.
    pub took: Duration,
}

/// A closure that can be a hook, synchronous or async.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a hook here",
    note = "`before` takes `Fn(HookCall) -> Result<(), ToolError>`, `after` and `on_error` take `Fn(HookOutcome)`; async too"
)]
pub trait IntoHook<I, O, M>: Send + Sync + 'static {
    #[doc(hidden)]
    fn into_hook(self) -> Hook<I, O>;
}

pub(crate) type Hook<I, O> = Arc<dyn Fn(I) -> BoxFuture<'static, O> + Send + Sync>;

/// Marker: a synchronous closure.
#[derive(Debug)]
pub struct Plain;
/// Marker: an async closure.
#[derive(Debug)]
pub struct Async;

impl<F, I, O> IntoHook<I, O, Plain> for F
where
    F: Fn(I) -> O + Send + Sync + 'static,
    O: Send + 'static,
{
    fn into_hook(self) -> Hook<I, O> {
        Arc::new(move |input| std::future::ready(self(input)).boxed())
    }
}

impl<F, I, O, Fut> IntoHook<I, O, (Async, Fut)> for F
where
    F: Fn(I) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = O> + Send + 'static,
{
    fn into_hook(self) -> Hook<I, O> {
        Arc::new(move |input| self(input).boxed())
    }
}

/// The hooks of one tool, run in the order in which they were added.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(super) before: Vec<Hook<HookCall, Result<(), ToolError>>>,
    pub(super) after: Vec<Hook<HookOutcome, ()>>,
    pub(super) on_error: Vec<Hook<HookOutcome, ()>>,
}

impl Hooks {
    pub(crate) async fn before(&self, call: &HookCall) -> Result<(), ToolError> {
        for hook in &self.before {
            hook(call.clone()).await?;
        }
        Ok(())
    }

    pub(crate) async fn after(&self, end: &HookOutcome) {
        let failed = match &end.outcome {
            Ok(result) => result.member_as("isError") == Some(true),
            Err(_) => true,
        };
        let on_error = self.on_error.iter().filter(|_| failed);
        for hook in on_error.chain(&self.after) {
            hook(end.clone()).await;
        }
    }

    pub(crate) fn look_at_ends(&self) -> bool {
        !(self.after.is_empty() && self.on_error.is_empty())
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}
