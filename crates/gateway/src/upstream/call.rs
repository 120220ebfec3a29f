//! The state machine of one call to an upstream.
//!
//! ```text
//! Ready ⇒ Queued       no slot is free
//! Ready ⇒ Connecting   there is no session yet
//! Ready ⇒ Sent         slot and session are there, and the breaker is closed
//! Sent ⇒ Sent          notifications and questions pass to the caller
//! Sent ⇒ Backoff       the attempt failed, may be repeated, and another is left
//! Backoff ⇒ Ready      the next attempt
//! any ⇒ Ended
//! ```
//!
//! Polled by hand: a call that waits for nothing makes no future, and no timer is set before the
//! server keeps the call waiting.

use super::{
    attempt::{Arrival, Attempt, AttemptClock},
    bulkhead::Full,
    core::Core,
    faults,
    live_session::SessionLease,
    options::Annotations,
};
use futures_util::{Stream, future::BoxFuture};
use serde_json::json;
use std::{
    borrow::Cow,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};
use tokio::sync::OwnedSemaphorePermit;
use trunkline_protocol::{Call, Era, Fault, FaultKind, Outcome, Part, Raw, Reply, message::meta, method};
use trunkline_resilience::{Admission, CallTimer, Moment, Safety, Timer};

/// Grace period in which a lost session may still deliver its own error.
const LOSS_GRACE: Duration = Duration::from_millis(100);

/// Starts a call; nothing happens before the reply is polled.
pub(super) fn begin(core: Arc<Core>, call: Call) -> Reply {
    Reply::new(UpstreamCall {
        lasting: call.method == method::LISTEN,
        core,
        call,
        stage: CallStage::Ready,
        began: None,
        ended: None,
        attempts: 0,
        slot: None,
        admission: None,
        asked: false,
        refused: None,
        timer: Timer::default(),
    })
}

/// True if a failure means that the session itself is lost.
pub(super) fn is_loss(fault: &Fault) -> bool {
    fault.peer().is_none()
        && matches!(
            fault.kind(),
            FaultKind::ServerExited
                | FaultKind::CannotConnect
                | FaultKind::UrlUnreachable
                | FaultKind::NotReady
        )
}

struct UpstreamCall {
    core: Arc<Core>,
    call: Call,
    stage: CallStage,
    /// When it got its slot.
    began: Option<Moment>,
    /// When it was answered.
    ended: Option<Moment>,
    attempts: u32,
    /// A subscription: it takes no slot and has no time limit.
    lasting: bool,
    slot: Option<OwnedSemaphorePermit>,
    /// The breaker's permission for the next attempt.
    admission: Option<Admission>,
    /// The caller was asked a question; the call is not repeated.
    asked: bool,
    /// The capability of a question that was declined because the caller did not declare it.
    refused: Option<&'static str>,
    /// The timer of whatever the call waits for.
    timer: Timer,
}

enum CallStage {
    Ready,
    Queued(BoxFuture<'static, Result<OwnedSemaphorePermit, Full>>),
    Connecting(BoxFuture<'static, Result<SessionLease, Fault>>),
    Sent(Attempt),
    Backoff(Moment),
    Ended,
}

impl Stream for UpstreamCall {
    type Item = Part;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Part>> {
        let this = &mut *self;
        loop {
            let moved = match &mut this.stage {
                CallStage::Ready => this.prepare(),
                CallStage::Queued(entering) => match entering.as_mut().poll(cx) {
                    Poll::Ready(Ok(slot)) => {
                        this.slot = Some(slot);
                        this.stage = CallStage::Ready;
                        Ok(())
                    }
                    Poll::Ready(Err(full)) => Err(faults::full(&this.core.name, full)),
                    Poll::Pending => Err(ready!(this.poll_deadline(cx))),
                },
                CallStage::Connecting(seeking) => match seeking.as_mut().poll(cx) {
                    Poll::Ready(found) => found.map(|lease| this.send(lease)),
                    Poll::Pending => Err(ready!(this.poll_deadline(cx))),
                },
                CallStage::Sent(_) => {
                    let arrival = ready!(this.poll_attempt(cx));
                    match this.finish(arrival) {
                        Some(part) => return Poll::Ready(Some(part)),
                        None => continue,
                    }
                }
                CallStage::Backoff(until) => {
                    ready!(this.timer.poll(*until, cx));
                    this.stage = CallStage::Ready;
                    Ok(())
                }
                CallStage::Ended => return Poll::Ready(None),
            };
            if let Err(fault) = moved {
                this.core.counts.refused.fetch_add(1, Ordering::Relaxed);
                return Poll::Ready(Some(this.end(Err(fault))));
            }
        }
    }
}

impl UpstreamCall {
    /// Asks the breaker, checks the rate and takes a slot, once for all attempts, then leases a
    /// session.
    fn prepare(&mut self) -> Result<(), Fault> {
        // Before anything that may wait: an open breaker answers at once.
        if self.admission.is_none() && !self.lasting {
            let refused = |refused| faults::resting(&self.core.name, &refused);
            self.admission = Some(self.core.breaker.admit().map_err(refused)?);
        }
        if self.began.is_none() {
            // A call that was queued has passed the rate check already.
            if self.slot.is_none() {
                self.check_rate()?;
            }
            if self.slot.is_none() && !self.lasting {
                self.slot = self.core.bulkhead.try_enter();
                if self.slot.is_none() {
                    let core = self.core.clone();
                    self.stage = CallStage::Queued(Box::pin(async move { core.bulkhead.enter().await }));
                    return Ok(());
                }
            }
            let now = Moment::now();
            self.core.counts.total.fetch_add(1, Ordering::Relaxed);
            self.core.touch(now);
            self.began = Some(now);
        }
        self.attempts += 1;
        if let Some(lease) = self.core.session_now(&self.call) {
            self.send(lease);
            return Ok(());
        }
        let (core, call) = (self.core.clone(), self.call.clone());
        self.stage = CallStage::Connecting(Box::pin(async move { core.session_for(&call).await }));
        Ok(())
    }

    fn check_rate(&self) -> Result<(), Fault> {
        let Some(rate) = &self.core.rate else { return Ok(()) };
        rate.check("").map_err(|soon| faults::too_often(&self.core.name, soon.retry_after))
    }

    fn send(&mut self, lease: SessionLease) {
        let live = lease.live();
        let start = || Arc::new(AttemptClock { timer: self.call_timer(), open: AtomicU32::new(0) });
        let clock = (!self.lasting).then(start);
        let reply = live.session.call(self.call.clone());
        let admission = self.admission.take();
        self.stage = CallStage::Sent(Attempt { reply, lease, admission, clock, lost: None });
    }

    fn call_timer(&self) -> CallTimer {
        let options = &self.core.options;
        let own = options.tools.find(|| self.tool()).timeouts;
        // The first attempt begins with the call; later ones read the clock.
        let start = self.began.filter(|_| self.attempts == 1).unwrap_or_else(Moment::now);
        CallTimer::start_at(&own.unwrap_or(options.timeouts), start)
    }

    /// Waits for the next part from the session, a time limit, or the loss of the session.
    fn poll_attempt(&mut self, cx: &mut Context<'_>) -> Poll<Arrival> {
        let CallStage::Sent(attempt) = &mut self.stage else { return Poll::Pending };
        if let Poll::Ready(part) = Pin::new(&mut attempt.reply).poll_next(cx) {
            return Poll::Ready(attempt.arrive(part));
        }
        if attempt.lost.is_none() {
            let clock = attempt.clock.as_deref();
            if let Poll::Ready(why) = poll_limits(self.call.deadline, clock, &mut self.timer, cx) {
                return Poll::Ready(Arrival::Expired(self.timed_out(&why)));
            }
            let why = ready!(attempt.lease.poll_lost(cx));
            attempt.lost = Some((why, Moment::now() + LOSS_GRACE));
        }
        if let Some((_, until)) = &attempt.lost {
            ready!(self.timer.poll(*until, cx));
        }
        match attempt.lost.take() {
            Some((why, _)) => Poll::Ready(Arrival::Ended(Err(why))),
            None => Poll::Pending,
        }
    }

    /// Waits for the caller's deadline.
    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<Fault> {
        poll_limits(self.call.deadline, None, &mut self.timer, cx).map(|why| self.timed_out(&why))
    }

    fn timed_out(&self, why: &str) -> Fault {
        faults::timed_out(&self.core.name, &self.call.method, why)
    }

    /// The name of the tool that is called, if the method is `tools/call`.
    fn tool(&self) -> Option<Cow<'_, str>> {
        (self.call.method == method::TOOLS_CALL).then(|| self.call.params.as_ref()?.text_of("name")).flatten()
    }

    /// Handles an event of the attempt; returns the part for the caller, if there is one.
    fn finish(&mut self, arrival: Arrival) -> Option<Part> {
        let CallStage::Sent(attempt) = &mut self.stage else { return None };
        match arrival {
            Arrival::Part(Part::Question(question)) if !may_be_asked(&self.call, &question.method) => {
                self.refused = method::capability_for(&question.method);
                let fault = format!("the client does not offer `{}`", question.method);
                question.answer(Err(Fault::new(FaultKind::NotAvailable, fault)));
                None
            }
            Arrival::Part(part) => {
                self.asked |= matches!(part, Part::Question(_));
                Some(part)
            }
            Arrival::Expired(fault) => {
                if let Some(admission) = attempt.admission.take() {
                    admission.failed(&fault);
                }
                let live = attempt.lease.live();
                live.timeouts.fetch_add(1, Ordering::Relaxed);
                if self.core.is_suspect(live) {
                    self.core.check_liveness(live);
                }
                self.core.counts.failed.fetch_add(1, Ordering::Relaxed);
                let fault = self.judged(fault);
                Some(self.end(Err(fault)))
            }
            Arrival::Ended(Ok(result)) => {
                self.report(None);
                let missing = self.missing(|| result.member_as("isError") == Some(true));
                Some(self.end(missing.map_or(Ok(result), Err)))
            }
            Arrival::Ended(Err(fault)) => {
                self.report(Some(&fault));
                if let Some(pause) = self.backoff(&fault) {
                    tracing::debug!(upstream = %self.core.name, %fault, ?pause, "the call is repeated");
                    self.stage = CallStage::Backoff(Moment::now() + pause);
                    return None;
                }
                let missing = self.missing(|| fault.peer().is_some());
                let fault = missing.unwrap_or_else(|| self.public(fault));
                Some(self.end(Err(fault)))
            }
        }
    }

    /// The fault for a modern caller that lacks a capability without which the server failed.
    fn missing(&self, failed: impl FnOnce() -> bool) -> Option<Fault> {
        let capability = self.refused.filter(|_| self.call.revision.era() == Era::Modern && failed())?;
        let needed = json!({"requiredCapabilities": {capability: {}}});
        let fault = "the server asks what this client did not offer to answer";
        Some(Fault::new(FaultKind::ClientCapabilityMissing, fault).with_data(needed.into()))
    }

    /// Reports the outcome to breaker, pool and histogram.
    fn report(&mut self, fault: Option<&Fault>) {
        let CallStage::Sent(attempt) = &mut self.stage else { return };
        let admission = attempt.admission.take();
        let live = attempt.lease.live();
        match fault {
            Some(fault) if is_loss(fault) => {
                self.core.counts.failed.fetch_add(1, Ordering::Relaxed);
                // The exit of a process is counted once, when the session is lost.
                let admission = admission.filter(|_| fault.kind() != FaultKind::ServerExited);
                settle(admission, Some(fault));
                self.core.lost(live, fault);
            }
            Some(fault) if shows_illness(fault) => {
                self.core.counts.failed.fetch_add(1, Ordering::Relaxed);
                settle(admission, Some(fault));
                if fault.kind() == FaultKind::ConnectionLost {
                    self.core.check_liveness(live);
                }
            }
            _ => {
                if !live.served.swap(true, Ordering::Relaxed) {
                    self.core.pool().failures = 0;
                }
                let now = Moment::now();
                live.timeouts.store(0, Ordering::Relaxed);
                if admission.is_some() {
                    settle(admission, fault);
                    let began = self.began.unwrap_or(now);
                    self.core.latency.record(now - began, now);
                }
                attempt.lease.left_at(now);
                self.ended = Some(now);
            }
        }
    }

    /// The backoff before the next attempt, if the call is repeated.
    fn backoff(&self, fault: &Fault) -> Option<Duration> {
        // The server is not asked again before the time that it named. If that is too late for
        // this call, the caller gets the time.
        let asked =
            fault.data().and_then(|data| data.member_as::<u64>("retryAfter")).map(Duration::from_secs);
        let repeatable = fault.peer().is_none()
            && match fault.kind() {
                // It was never sent.
                FaultKind::CannotConnect | FaultKind::UrlUnreachable | FaultKind::NotReady => true,
                // HTTP 429: the server refused it unread.
                FaultKind::RateLimited => asked.is_some(),
                FaultKind::ConnectionLost | FaultKind::ServerExited | FaultKind::Unavailable => {
                    self.may_repeat()
                }
                _ => false,
            };
        let left = self.attempts < self.core.options.retry.attempts && self.has_budget(Duration::ZERO);
        let pause = self.core.retry.backoff(self.attempts);
        let left = left && asked.is_none_or(|asked| self.has_budget(asked));
        // A subscriber must learn that it may have missed something, so its call ends.
        let again = repeatable && left && !self.asked && !self.lasting;
        again.then(|| pause + asked.unwrap_or_default())
    }

    /// True if another attempt may begin after this pause.
    fn has_budget(&self, pause: Duration) -> bool {
        let in_time = |at| Moment::now() + pause < Moment::from(at);
        self.began.is_none_or(|began| began.elapsed() + pause < self.core.options.retry.budget)
            && self.call.deadline.is_none_or(in_time)
    }

    /// True if making the call twice has the effect of making it once.
    fn may_repeat(&self) -> bool {
        if method::only_asks(&self.call.method) {
            return true;
        }
        let Some(tool) = self.tool() else { return false };
        match self.core.options.tools.find(|| Some(&tool)).repeats {
            Some(safety) => safety == Safety::Repeatable,
            None => self.core.options.annotations == Annotations::Believed && self.is_marked(&tool),
        }
    }

    /// True if the server annotates the tool as idempotent or read-only.
    fn is_marked(&self, tool: &str) -> bool {
        let Some(offer) = self.core.offer.load_full() else { return false };
        let named = |item: &&Raw| item.member_as::<String>("name").as_deref() == Some(tool);
        let annotations = offer.tools.iter().find(named).and_then(|item| item.member("annotations"));
        annotations.is_some_and(|annotations| {
            ["idempotentHint", "readOnlyHint"].iter().any(|hint| annotations.member_as(hint) == Some(true))
        })
    }

    /// The fault as the caller sees it.
    fn public(&self, fault: Fault) -> Fault {
        let broke = matches!(fault.kind(), FaultKind::ConnectionLost | FaultKind::ServerExited);
        if fault.peer().is_none() && broke && !self.may_repeat() {
            return faults::may_have_run(&self.core.name, &self.call.method, &fault);
        }
        self.judged(faults::named(&self.core.name, fault))
    }

    /// Says in the fault if the call may be made twice.
    fn judged(&self, fault: Fault) -> Fault {
        if fault.peer().is_none() && self.may_repeat() { fault.harmless_to_repeat() } else { fault }
    }

    fn end(&mut self, outcome: Outcome) -> Part {
        self.stage = CallStage::Ended;
        self.slot = None;
        Part::Final(outcome)
    }
}

impl Drop for UpstreamCall {
    fn drop(&mut self) {
        if self.began.is_some() {
            self.core.touch(self.ended.unwrap_or_else(Moment::now));
        }
    }
}

/// Waits for the caller's deadline or the time limit of an attempt; says which of them it was.
fn poll_limits(
    deadline: Option<Instant>,
    clock: Option<&AttemptClock>,
    timer: &mut Timer,
    cx: &mut Context<'_>,
) -> Poll<String> {
    let callers = deadline.map(Moment::from);
    loop {
        let ours = clock.map(|clock| clock.timer.expires_at());
        let Some(at) = [callers, ours].into_iter().flatten().min() else { return Poll::Pending };
        ready!(timer.poll(at, cx));
        if ours != Some(at) {
            return Poll::Ready("the caller's time was over".to_owned());
        }
        if let Some(expired) = clock.and_then(AttemptClock::expired) {
            return Poll::Ready(expired.to_string());
        }
    }
}

/// True if the call failed on its way, or the answer cannot be used.
fn shows_illness(fault: &Fault) -> bool {
    fault.peer().is_none()
        && matches!(
            fault.kind(),
            FaultKind::Unavailable | FaultKind::Timeout | FaultKind::ConnectionLost | FaultKind::BadAnswer
        )
}

/// Reports the outcome of a call to the breaker. Errors that the server answered count as well if
/// the catalogue calls them retryable.
fn settle(admission: Option<Admission>, fault: Option<&Fault>) {
    match (admission, fault) {
        (Some(admission), Some(fault)) if fault.counts_against_server() => admission.failed(fault),
        (Some(admission), Some(fault)) if is_loss(fault) => drop(admission),
        (Some(admission), _) => admission.succeeded(),
        (None, _) => {}
    }
}

/// True if the caller's client can be asked this, or if it declares nothing at all.
fn may_be_asked(call: &Call, question: &str) -> bool {
    let Some(capability) = method::capability_for(question) else { return true };
    let meta = call.params.as_ref().and_then(|params| params.member("_meta"));
    let declared = meta.and_then(|meta| meta.member(meta::CLIENT_CAPABILITIES));
    declared.is_none_or(|declared| declared.member(capability).is_some())
}
