//! Audited: a handler whose calls are recorded.

use super::{
    OnFailure, Trail,
    open_call::{Mutating, OpenCall},
    queue::Need,
};
use futures_util::stream;
use std::{fmt, sync::Arc};
use trunkline_protocol::{Call, Caller, Fault, FaultKind, Handler, Notify, Part, Reply, method};

/// Tells of a tool, as it is called in a view, whether it is known to change nothing. Annotations of servers that we do not trust
/// are no knowledge.
pub type ReadOnly = Arc<dyn Fn(Option<&str>, &str) -> bool + Send + Sync>;

/// A handler whose calls are recorded. Pings are not, they say nothing; nor is what a server asks of its own handler.
pub struct Audited<H> {
    inner: Arc<H>,
    trail: Trail,
    read_only: ReadOnly,
}

/// Where a recorded call stands.
enum Step<H> {
    Begin { inner: Arc<H>, trail: Trail, read_only: ReadOnly, call: Call },
    Running { reply: Reply, open: OpenCall },
    Over,
}

impl<H: Handler> Audited<H> {
    pub fn new(inner: H, trail: Trail, read_only: ReadOnly) -> Self {
        Self { inner: Arc::new(inner), trail, read_only }
    }
}

impl<H: Handler + 'static> Handler for Audited<H> {
    fn call(&self, call: Call) -> Reply {
        if call.method == method::PING || Caller::is_ourselves(&call.caller) {
            return self.inner.call(call);
        }
        let (inner, trail) = (Arc::clone(&self.inner), self.trail.clone());
        let begin = Step::Begin { inner, trail, read_only: Arc::clone(&self.read_only), call };
        Reply::new(stream::unfold(begin, async |step| Some(step.next().await)))
    }

    fn notify(&self, notice: Notify) {
        self.inner.notify(notice);
    }

    fn has_view(&self, view: &str) -> bool {
        self.inner.has_view(view)
    }
}

impl<H: Handler> Step<H> {
    async fn next(self) -> (Part, Self) {
        let (mut reply, open) = match self {
            Self::Begin { inner, trail, read_only, call } => match begin(&trail, &read_only, &call).await {
                Ok(open) => (inner.call(call), open),
                Err(fault) => return (Part::Final(Err(fault)), Self::Over),
            },
            Self::Running { reply, open } => (reply, open),
            Self::Over => unreachable!("a reply is not polled after its final part"),
        };
        match reply.next().await {
            Some(Part::Final(outcome)) => {
                open.end(&outcome).await;
                (Part::Final(outcome), Self::Over)
            }
            Some(part) => (part, Self::Running { reply, open }),
            None => {
                let fault = Fault::new(FaultKind::ConnectionLost, "the answer ended before it was complete");
                (Part::Final(Err(fault)), Self::Over)
            }
        }
    }
}

/// Records the start, as firmly as the call needs.
async fn begin(trail: &Trail, read_only: &ReadOnly, call: &Call) -> Result<OpenCall, Fault> {
    let mut open = trail.enter(call).await?;
    let mutating = effect(call, &open, read_only);
    let on_failure = match mutating {
        Mutating::Yes => trail.options().mutating,
        Mutating::No => trail.options().reading,
    };
    let need = match (mutating, on_failure) {
        (Mutating::Yes, _) => Some(trail.options().durability.before_a_change()),
        (Mutating::No, OnFailure::Refuse) => Some(Need::Written),
        (Mutating::No, OnFailure::Allow) => None,
    };
    let recorded = open.start(call, mutating, need).await;
    if recorded.is_err() && on_failure == OnFailure::Refuse {
        open.refuse();
        let text = "the call was not made, because the audit trail cannot be written";
        return Err(Fault::new(FaultKind::StoreUnavailable, text));
    }
    Ok(open)
}

/// What only asks is known by its method; of tools, `read_only` tells.
fn effect(call: &Call, open: &OpenCall, read_only: &ReadOnly) -> Mutating {
    let reads = match call.method.as_ref() {
        method::TOOLS_CALL => open.target().is_some_and(|tool| read_only(call.view.as_deref(), tool)),
        name => method::only_asks(name),
    };
    if reads { Mutating::No } else { Mutating::Yes }
}

impl<H: fmt::Debug> fmt::Debug for Audited<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audited")
            .field("inner", &self.inner)
            .field("trail", &self.trail)
            .finish_non_exhaustive()
    }
}
