//! The handler that records every call in the audit trail.

use super::{
    OnFailure, Trail,
    open_call::{About, Mutating, OpenCall, Start},
    record::{Need, Unwritten},
};
use futures_util::stream;
use std::{fmt, sync::Arc};
use tokio::sync::OwnedSemaphorePermit;
use trunkline_protocol::{Call, Caller, Fault, FaultKind, Handler, Origin, Part, Reply, method};

/// Returns true if the tool (view, public name) is known to change nothing. Annotations of
/// untrusted servers must not count.
pub type ReadOnly = Arc<dyn Fn(Option<&str>, &str) -> bool + Send + Sync>;

/// A handler whose calls are recorded, except pings and the requests that this process makes
/// itself.
pub struct Audited<H>(Arc<Shared<H>>);

/// State that all calls share.
struct Shared<H> {
    inner: H,
    trail: Trail,
    read_only: ReadOnly,
}

/// The state of a recorded call.
enum Step<H> {
    Begin(Arc<Shared<H>>, Call),
    Running(RunningCall),
    Over,
}

/// A call whose start is recorded. If the inner handler panics or the reply is dropped, dropping
/// `open` records that.
struct RunningCall {
    open: OpenCall,
    reply: Reply,
}

impl<H: Handler> Audited<H> {
    pub fn new(inner: H, trail: Trail, read_only: ReadOnly) -> Self {
        Self(Arc::new(Shared { inner, trail, read_only }))
    }
}

impl<H: Handler + 'static> Handler for Audited<H> {
    fn call(&self, call: Call) -> Reply {
        let ours = call.origin == Origin::Ourselves || Caller::is_ourselves(&call.caller);
        if call.method == method::PING || ours {
            return self.0.inner.call(call);
        }
        Reply::new(stream::unfold(Step::Begin(Arc::clone(&self.0), call), Step::next))
    }

    fn inner(&self) -> Option<&dyn Handler> {
        Some(&self.0.inner)
    }
}

impl<H: Handler> Step<H> {
    /// The next part of the reply. The final one is passed on when the end is recorded.
    async fn next(self) -> Option<(Part, Self)> {
        let mut running = match self {
            Self::Begin(shared, call) => match shared.begin(call).await {
                Ok(running) => running,
                Err(fault) => return Some((Part::Final(Err(fault)), Self::Over)),
            },
            Self::Running(running) => running,
            Self::Over => return None,
        };
        let part = running.reply.next().await?;
        let Part::Final(outcome) = part else { return Some((part, Self::Running(running))) };
        running.open.end(&outcome);
        if let Err(Unwritten) = running.open.written().await {
            running.open.alarm();
        }
        Some((Part::Final(outcome), Self::Over))
    }
}

impl<H: Handler> Shared<H> {
    /// Records the start, then calls the inner handler, unless the start could not be recorded and
    /// the options then refuse the call.
    async fn begin(&self, call: Call) -> Result<RunningCall, Fault> {
        let slot = match self.trail.slot() {
            Some(slot) => slot,
            None => self.trail.clone().next_slot().await?,
        };
        let (mut open, on_failure) = self.start(&call, slot);
        if open.written().await.is_err() && on_failure == OnFailure::Refuse {
            open.refuse();
            let text = "the call was not made, because the audit trail cannot be written";
            return Err(Fault::new(FaultKind::StoreUnavailable, text));
        }
        let reply = self.inner.call(call);
        Ok(RunningCall { open, reply })
    }

    /// Records the start with the durability that the call needs.
    fn start(&self, call: &Call, slot: OwnedSemaphorePermit) -> (OpenCall, OnFailure) {
        let about = About::of(call);
        let target = about.target();
        let mutating = effect(call, target.as_deref(), &self.read_only);
        let options = self.trail.options();
        let (on_failure, need) = match (mutating, options.reading) {
            (Mutating::Yes, _) => (options.mutating, Some(options.durability.before_a_change())),
            (Mutating::No, OnFailure::Refuse) => (OnFailure::Refuse, Some(Need::Written)),
            (Mutating::No, OnFailure::Allow) => (OnFailure::Allow, None),
        };
        let mut open = OpenCall::new(self.trail.clone(), call, target.as_deref(), slot);
        open.start(Start { call, about: &about, target: target.as_deref(), mutating }, need);
        (open, on_failure)
    }
}

/// For tools `read_only` decides, for everything else the method.
fn effect(call: &Call, target: Option<&str>, read_only: &ReadOnly) -> Mutating {
    let reads = match call.method.as_ref() {
        method::TOOLS_CALL => target.is_some_and(|tool| read_only(call.view.as_deref(), tool)),
        name => method::only_asks(name),
    };
    if reads { Mutating::No } else { Mutating::Yes }
}

impl<H: fmt::Debug> fmt::Debug for Audited<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audited")
            .field("inner", &self.0.inner)
            .field("trail", &self.0.trail)
            .finish_non_exhaustive()
    }
}
