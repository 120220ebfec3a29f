//! The handler that records every call in the audit trail.

use super::{
    OnFailure, Trail,
    open_call::{About, Mutating, OpenCall},
    record::{Need, Unwritten},
};
use futures_util::{Stream, future::BoxFuture};
use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};
use tokio::sync::OwnedSemaphorePermit;
use trunkline_protocol::{
    Call, Caller, Fault, FaultKind, Handler, Notify, Origin, Outcome, Part, Reply, method,
};

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

/// The reply to a recorded call.
struct Recorded<H> {
    shared: Arc<Shared<H>>,
    /// Present until the inner handler is called.
    call: Option<Call>,
    /// Present once the call has a slot.
    open: Option<OpenCall>,
    on_failure: OnFailure,
    step: Step,
}

/// The state of a recorded call.
enum Step {
    Begin,
    /// Waits for a slot.
    Entering(BoxFuture<'static, Result<OwnedSemaphorePermit, Fault>>),
    /// Waits for the start record.
    Starting,
    Running(Reply),
    /// Waits for the end record.
    Ending(Outcome),
    Over,
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
        Reply::new(Recorded {
            shared: Arc::clone(&self.0),
            call: Some(call),
            open: None,
            on_failure: OnFailure::Refuse,
            step: Step::Begin,
        })
    }

    fn notify(&self, notice: Notify) {
        self.0.inner.notify(notice);
    }

    fn has_view(&self, view: &str) -> bool {
        self.0.inner.has_view(view)
    }

    fn admits(&self, view: &str, caller: &trunkline_protocol::Caller) -> bool {
        self.0.inner.admits(view, caller)
    }
}

impl<H: Handler> Stream for Recorded<H> {
    type Item = Part;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Part>> {
        let this = &mut *self;
        loop {
            match &mut this.step {
                Step::Begin => match this.shared.trail.slot() {
                    Some(slot) => this.start(slot),
                    None => this.step = Step::Entering(Box::pin(this.shared.trail.clone().next_slot())),
                },
                Step::Entering(entering) => match ready!(entering.as_mut().poll(cx)) {
                    Ok(slot) => this.start(slot),
                    Err(fault) => return this.over(Err(fault)),
                },
                Step::Starting => {
                    let recorded = ready!(this.poll_written(cx));
                    if let Err(fault) = this.pass_on(recorded) {
                        return this.over(Err(fault));
                    }
                }
                Step::Running(reply) => {
                    let mut guard = PanicGuard(this.open.as_mut());
                    let part = ready!(Pin::new(reply).poll_next(cx));
                    let Some(Part::Final(outcome)) = part else { return Poll::Ready(part) };
                    if let Some(open) = guard.0.take() {
                        open.end(&outcome);
                    }
                    this.step = Step::Ending(outcome);
                }
                Step::Ending(_) => {
                    let recorded = ready!(this.poll_written(cx));
                    let Step::Ending(outcome) = std::mem::replace(&mut this.step, Step::Over) else {
                        continue;
                    };
                    if let (Err(Unwritten), Some(open)) = (recorded, &this.open) {
                        open.alarm();
                    }
                    return this.over(outcome);
                }
                Step::Over => return Poll::Ready(None),
            }
        }
    }
}

impl<H: Handler> Recorded<H> {
    /// Records the start with the durability that the call needs.
    fn start(&mut self, slot: OwnedSemaphorePermit) {
        self.step = Step::Starting;
        let (Some(call), trail) = (&self.call, &self.shared.trail) else { return };
        let about = About::of(call);
        let target = about.target();
        let mutating = effect(call, target.as_deref(), &self.shared.read_only);
        self.on_failure = match mutating {
            Mutating::Yes => trail.options().mutating,
            Mutating::No => trail.options().reading,
        };
        let need = match (mutating, self.on_failure) {
            (Mutating::Yes, _) => Some(trail.options().durability.before_a_change()),
            (Mutating::No, OnFailure::Refuse) => Some(Need::Written),
            (Mutating::No, OnFailure::Allow) => None,
        };
        let open = self.open.insert(OpenCall::new(trail.clone(), call, target.as_deref(), slot));
        open.start(call, (&about, target.as_deref()), mutating, need);
    }

    fn poll_written(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Unwritten>> {
        self.open.as_mut().map_or(Poll::Ready(Ok(())), |open| open.poll_written(cx))
    }

    /// Calls the inner handler, unless the start could not be recorded and the options then refuse
    /// the call.
    fn pass_on(&mut self, recorded: Result<(), Unwritten>) -> Result<(), Fault> {
        let mut guard = PanicGuard(self.open.as_mut());
        if recorded.is_err() && self.on_failure == OnFailure::Refuse {
            if let Some(open) = guard.0.take() {
                open.refuse();
            }
            let text = "the call was not made, because the audit trail cannot be written";
            return Err(Fault::new(FaultKind::StoreUnavailable, text));
        }
        if let Some(call) = self.call.take() {
            self.step = Step::Running(self.shared.inner.call(call));
        }
        Ok(())
    }

    fn over(&mut self, outcome: Outcome) -> Poll<Option<Part>> {
        self.step = Step::Over;
        self.open = None;
        Poll::Ready(Some(Part::Final(outcome)))
    }
}

/// Records a panic of the inner handler: it is dropped during the unwinding.
struct PanicGuard<'a>(Option<&'a mut OpenCall>);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if let Some(open) = self.0.take().filter(|_| std::thread::panicking()) {
            open.panicked();
        }
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
