//! Flight: one call on its way through an upstream.
//!
//! ```text
//! Waiting ⇒ Entering   there is no room yet
//! Waiting ⇒ Seeking    there is no session yet
//! Waiting ⇒ Flying     there is room, a session, and the breaker lets it through
//! Flying ⇒ Flying      notifications and questions pass to the caller
//! Flying ⇒ Pausing     it got lost, may be repeated, and another try is left
//! Pausing ⇒ Waiting    the next try
//! any ⇒ Ended
//! ```
//!
//! Where nothing has to be waited for, no future is made; and no clock is set before the server keeps a call waiting.

use super::{
    airborne::{Airborne, Arrival, Clock},
    bulkhead::Full,
    core::Core,
    live::Held,
    options::Annotations,
    told,
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
    time::Duration,
};
use tokio::{sync::OwnedSemaphorePermit, time::Instant};
use trunkline_protocol::{Call, Era, Fault, FaultKind, Outcome, Part, Raw, Reply, message::meta, method};
use trunkline_resilience::{Beginning, BreakerState, Deadline, Reminder, Safety};

/// Starts a call; nothing happens before the reply is polled.
pub(super) fn begin(core: Arc<Core>, call: Call) -> Reply {
    Reply::new(Flight {
        lasting: call.method == method::LISTEN,
        core,
        call,
        stage: Stage::Waiting,
        began: None,
        ended: None,
        attempts: 0,
        slot: None,
        asked: false,
        refused: None,
        reminder: Reminder::default(),
    })
}

/// Whether a failure means that the session itself is no use any more.
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

struct Flight {
    core: Arc<Core>,
    call: Call,
    stage: Stage,
    /// When it was let in.
    began: Option<Beginning>,
    /// When it was answered.
    ended: Option<Instant>,
    attempts: u32,
    /// A call that lasts as long as somebody listens takes nobody's place and has no time limit.
    lasting: bool,
    slot: Option<OwnedSemaphorePermit>,
    /// Whether somebody was asked something: then the call is not repeated.
    asked: bool,
    /// What the caller's client would have had to declare for a question that it was spared.
    refused: Option<&'static str>,
    /// For whatever is waited for.
    reminder: Reminder,
}

enum Stage {
    Waiting,
    Entering(BoxFuture<'static, Result<OwnedSemaphorePermit, Full>>),
    Seeking(BoxFuture<'static, Result<Held, Fault>>),
    Flying(Airborne),
    Pausing(Instant),
    Ended,
}

impl Stream for Flight {
    type Item = Part;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Part>> {
        let this = &mut *self;
        loop {
            let moved = match &mut this.stage {
                Stage::Waiting => this.prepare(),
                Stage::Entering(entering) => match entering.as_mut().poll(cx) {
                    Poll::Ready(Ok(slot)) => {
                        this.slot = Some(slot);
                        this.stage = Stage::Waiting;
                        Ok(())
                    }
                    Poll::Ready(Err(full)) => Err(told::full(&this.core.name, full)),
                    Poll::Pending => Err(ready!(this.poll_callers_time(cx))),
                },
                Stage::Seeking(seeking) => match seeking.as_mut().poll(cx) {
                    Poll::Ready(found) => found.and_then(|held| this.take_off(held)),
                    Poll::Pending => Err(ready!(this.poll_callers_time(cx))),
                },
                Stage::Flying(airborne) => {
                    let arrival = ready!(airborne.poll((&this.call, &this.core), &mut this.reminder, cx));
                    match this.land(arrival) {
                        Some(part) => return Poll::Ready(Some(part)),
                        None => continue,
                    }
                }
                Stage::Pausing(until) => {
                    ready!(this.reminder.poll(*until, cx));
                    this.stage = Stage::Waiting;
                    Ok(())
                }
                Stage::Ended => return Poll::Ready(None),
            };
            if let Err(fault) = moved {
                this.core.counts.refused.fetch_add(1, Ordering::Relaxed);
                return Poll::Ready(Some(this.end(Err(fault))));
            }
        }
    }
}

impl Flight {
    /// Rate and room, once for all tries, and a session.
    fn prepare(&mut self) -> Result<(), Fault> {
        if self.began.is_none() {
            // Whoever had to wait for room was counted before that.
            if self.slot.is_none() {
                self.check_rate()?;
            }
            if self.slot.is_none() && !self.lasting {
                self.slot = self.core.bulkhead.try_enter();
                if self.slot.is_none() {
                    let core = self.core.clone();
                    self.stage = Stage::Entering(Box::pin(async move { core.bulkhead.enter().await }));
                    return Ok(());
                }
            }
            let now = Instant::now();
            self.core.counts.total.fetch_add(1, Ordering::Relaxed);
            self.core.touch(now);
            self.began = Some(Beginning::at(now));
        }
        self.attempts += 1;
        if let Some(held) = self.core.session_now(&self.call) {
            return self.take_off(held);
        }
        let (core, call) = (self.core.clone(), self.call.clone());
        self.stage = Stage::Seeking(Box::pin(async move { core.session_for(&call).await }));
        Ok(())
    }

    fn check_rate(&self) -> Result<(), Fault> {
        let Some(rate) = &self.core.rate else { return Ok(()) };
        rate.check("").map_err(|soon| told::too_often(&self.core.name, soon.retry_after))
    }

    fn take_off(&mut self, held: Held) -> Result<(), Fault> {
        let live = held.live();
        let (mut admission, mut clock) = (None, None);
        if !self.lasting {
            let refused = |refused| told::resting(&self.core.name, &refused);
            admission = Some(live.breaker.admit().map_err(refused)?);
            clock = Some(Arc::new(Clock { deadline: self.deadline(), open: AtomicU32::new(0) }));
        }
        let reply = live.session.call(self.call.clone());
        self.stage = Stage::Flying(Airborne { reply, held, admission, clock, lost: None });
        Ok(())
    }

    fn deadline(&self) -> Deadline {
        let options = &self.core.options;
        let own = options.tools.find(|| self.tool()).timeouts;
        // The first try begins with the call; others look at the clock.
        let start = self.began.filter(|_| self.attempts == 1).unwrap_or_else(Beginning::now);
        Deadline::start_at(&own.unwrap_or(options.timeouts), start)
    }

    /// Waits for the end of the caller's time.
    fn poll_callers_time(&mut self, cx: &mut Context<'_>) -> Poll<Fault> {
        let Some(at) = self.call.deadline else { return Poll::Pending };
        ready!(self.reminder.poll(at.into(), cx));
        let why = "the caller's time was over";
        Poll::Ready(told::timed_out(&self.core.name, &self.call.method, &why))
    }

    /// The tool that is called, if it is one.
    fn tool(&self) -> Option<Cow<'_, str>> {
        (self.call.method == method::TOOLS_CALL).then(|| self.call.params.as_ref()?.text_of("name")).flatten()
    }

    /// What the caller hears of what arrived, if anything.
    fn land(&mut self, arrival: Arrival) -> Option<Part> {
        let Stage::Flying(airborne) = &mut self.stage else { return None };
        match arrival {
            // Dropped unanswered, it is declined.
            Arrival::Part(Part::Question(question)) if !may_be_asked(&self.call, &question.method) => {
                self.refused = method::capability_for(&question.method);
                None
            }
            Arrival::Part(part) => {
                self.asked |= matches!(part, Part::Question(_));
                Some(part)
            }
            Arrival::Expired(fault) => {
                if let Some(admission) = airborne.admission.take() {
                    admission.failed(&fault);
                }
                let live = airborne.held.live();
                if !matches!(live.breaker.state(), BreakerState::Closed { .. }) {
                    self.core.doubt(live);
                }
                self.core.counts.failed.fetch_add(1, Ordering::Relaxed);
                Some(self.end(Err(fault)))
            }
            Arrival::Ended(Ok(result)) => {
                self.settle(None);
                let missing = self.missing(|| result.member_as("isError") == Some(true));
                Some(self.end(missing.map_or(Ok(result), Err)))
            }
            Arrival::Ended(Err(fault)) => {
                self.settle(Some(&fault));
                if let Some(pause) = self.pause(&fault) {
                    tracing::debug!(upstream = %self.core.name, %fault, ?pause, "the call is repeated");
                    self.stage = Stage::Pausing(Instant::now() + pause);
                    return None;
                }
                let missing = self.missing(|| fault.peer().is_some());
                let told = missing.unwrap_or_else(|| self.tell(fault));
                Some(self.end(Err(told)))
            }
        }
    }

    /// What a modern caller would have had to offer, where the server did not manage without.
    fn missing(&self, failed: impl FnOnce() -> bool) -> Option<Fault> {
        let capability = self.refused.filter(|_| self.call.revision.era() == Era::Modern && failed())?;
        let needed = json!({"requiredCapabilities": {capability: {}}});
        let fault = "the server asks what this client did not offer to answer";
        Some(Fault::new(FaultKind::ClientCapabilityMissing, fault).with_data(needed.into()))
    }

    /// Tells breaker, book and histogram how it went.
    fn settle(&mut self, fault: Option<&Fault>) {
        let Stage::Flying(airborne) = &mut self.stage else { return };
        let admission = airborne.admission.take();
        let live = airborne.held.live();
        match fault {
            Some(fault) if is_loss(fault) => {
                // The breaker is not told: a new session begins with a new one.
                self.core.counts.failed.fetch_add(1, Ordering::Relaxed);
                self.core.lost(live, fault);
            }
            Some(fault) if shows_illness(fault) => {
                self.core.counts.failed.fetch_add(1, Ordering::Relaxed);
                if let Some(admission) = admission {
                    admission.failed(fault);
                }
                if fault.kind() == FaultKind::ConnectionLost {
                    self.core.doubt(live);
                }
            }
            _ => {
                if !live.served.swap(true, Ordering::Relaxed) {
                    self.core.book().failures = 0;
                }
                let now = Instant::now();
                if let Some(admission) = admission {
                    admission.succeeded();
                    let began = self.began.map_or(now, Beginning::instant);
                    self.core.latency.record(now.duration_since(began), now);
                }
                airborne.held.left_at(now);
                self.ended = Some(now);
            }
        }
    }

    /// How long to wait before the call is made again, if it is.
    fn pause(&self, fault: &Fault) -> Option<Duration> {
        let repeatable = fault.peer().is_none()
            && match fault.kind() {
                // It was never sent.
                FaultKind::CannotConnect | FaultKind::UrlUnreachable | FaultKind::NotReady => true,
                FaultKind::ConnectionLost | FaultKind::ServerExited | FaultKind::Unavailable => {
                    self.may_repeat()
                }
                _ => false,
            };
        let left = self.attempts < self.core.options.retry.attempts
            && self.began.is_none_or(|began| began.instant().elapsed() < self.core.options.retry.budget);
        // Whoever listens has to know that something may have been missed.
        (repeatable && left && !self.asked && !self.lasting).then(|| self.core.retry.backoff(self.attempts))
    }

    /// Whether making the call twice does the same as making it once.
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

    /// Whether the server says that the tool is idempotent or only reads.
    fn is_marked(&self, tool: &str) -> bool {
        let Some(offer) = self.core.offer.load_full() else { return false };
        let named = |item: &&Raw| item.member_as::<String>("name").as_deref() == Some(tool);
        let annotations = offer.tools.iter().find(named).and_then(|item| item.member("annotations"));
        annotations.is_some_and(|annotations| {
            ["idempotentHint", "readOnlyHint"].iter().any(|hint| annotations.member_as(hint) == Some(true))
        })
    }

    fn tell(&self, fault: Fault) -> Fault {
        let broke = matches!(fault.kind(), FaultKind::ConnectionLost | FaultKind::ServerExited);
        if fault.peer().is_none() && broke && !self.may_repeat() {
            return told::may_have_run(&self.core.name, &self.call.method, &fault);
        }
        told::named(&self.core.name, fault)
    }

    fn end(&mut self, outcome: Outcome) -> Part {
        self.stage = Stage::Ended;
        self.slot = None;
        Part::Final(outcome)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if self.began.is_some() {
            self.core.touch(self.ended.unwrap_or_else(Instant::now));
        }
    }
}

/// Whether a failure says something about the server's health, and not about the request.
fn shows_illness(fault: &Fault) -> bool {
    fault.peer().is_none()
        && matches!(
            fault.kind(),
            FaultKind::Unavailable | FaultKind::Timeout | FaultKind::ConnectionLost | FaultKind::BadAnswer
        )
}

/// Whether the caller's client can be asked this. One that says nothing about itself is not ours to judge.
fn may_be_asked(call: &Call, question: &str) -> bool {
    let Some(capability) = method::capability_for(question) else { return true };
    let meta = call.params.as_ref().and_then(|params| params.member("_meta"));
    let declared = meta.and_then(|meta| meta.member(meta::CLIENT_CAPABILITIES));
    declared.is_none_or(|declared| declared.member(capability).is_some())
}
