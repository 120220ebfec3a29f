//! Flight: one call on its way through an upstream.
//!
//! ```text
//! Waiting ⇒ Flying     there is room, a session, and the breaker lets it through
//! Flying ⇒ Flying      notifications and questions pass to the caller
//! Flying ⇒ Pausing     it got lost, may be repeated, and another try is left
//! Pausing ⇒ Waiting    the next try
//! Waiting, Flying ⇒ Ended
//! ```

use super::{
    airborne::{Airborne, Arrival},
    core::Core,
    options::Annotations,
    told,
};
use futures_util::stream;
use std::{
    borrow::Cow,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, sleep},
};
use trunkline_protocol::{Call, Fault, FaultKind, Outcome, Part, Raw, Reply, message::meta, method};
use trunkline_resilience::{BreakerState, Deadline, Safety};

/// Starts a call; nothing happens before the reply is polled.
pub(super) fn begin(core: Arc<Core>, call: Call) -> Reply {
    let flight = Flight {
        lasting: call.method == method::LISTEN,
        core,
        call,
        stage: Stage::Waiting,
        began: Instant::now(),
        attempts: 0,
        slot: None,
        asked: false,
        busy: None,
    };
    Reply::new(stream::unfold(flight, |mut flight| async move {
        let part = flight.next().await;
        Some((part, flight))
    }))
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
    began: Instant,
    attempts: u32,
    /// A call that lasts as long as somebody listens takes nobody's place and has no time limit.
    lasting: bool,
    slot: Option<OwnedSemaphorePermit>,
    /// Whether somebody was asked something: then the call is not repeated.
    asked: bool,
    /// Held until the call is dropped.
    busy: Option<Busy>,
}

enum Stage {
    Waiting,
    Flying(Box<Airborne>),
    Pausing(Duration),
    Ended,
}

/// Notes when a call begins and ends, so that an idle server is known.
struct Busy(Arc<Core>);

impl Flight {
    async fn next(&mut self) -> Part {
        loop {
            match &mut self.stage {
                Stage::Waiting => match self.take_off().await {
                    Ok(airborne) => self.stage = Stage::Flying(Box::new(airborne)),
                    Err(fault) => {
                        self.core.counts.refused.fetch_add(1, Ordering::Relaxed);
                        return self.end(Err(fault));
                    }
                },
                Stage::Flying(_) => {
                    if let Some(part) = self.fly().await {
                        return part;
                    }
                }
                Stage::Pausing(pause) => {
                    sleep(*pause).await;
                    self.stage = Stage::Waiting;
                }
                Stage::Ended => {
                    return Part::Final(Err(Fault::new(FaultKind::NotReady, "the call has ended")));
                }
            }
        }
    }

    async fn take_off(&mut self) -> Result<Airborne, Fault> {
        let core = self.core.clone();
        if self.attempts == 0 {
            self.admit().await?;
        }
        self.attempts += 1;
        let held = match self.call.deadline {
            None => core.session_for(&self.call).await?,
            Some(deadline) => {
                let waited = timeout_at(deadline, core.session_for(&self.call)).await;
                waited.unwrap_or_else(|| Err(self.too_late()))?
            }
        };
        let admission = if self.lasting {
            None
        } else {
            let breaker = &held.live().breaker;
            Some(breaker.admit().map_err(|refused| told::resting(&core.name, &refused))?)
        };
        let reply = held.live().session.call(self.call.clone());
        let deadline = self.limit().map(Arc::new);
        Ok(Airborne { reply, held, admission, deadline, open: Arc::default() })
    }

    /// Rate and room, once for all tries.
    async fn admit(&mut self) -> Result<(), Fault> {
        let core = &self.core;
        if let Some(rate) = &core.rate {
            rate.check("").map_err(|soon| told::too_often(&core.name, soon.retry_after))?;
        }
        if !self.lasting {
            let entering = core.bulkhead.enter();
            let entered = match self.call.deadline {
                None => entering.await,
                Some(deadline) => match timeout_at(deadline, entering).await {
                    Some(entered) => entered,
                    None => return Err(self.too_late()),
                },
            };
            self.slot = Some(entered.map_err(|full| told::full(&core.name, full))?);
        }
        core.counts.total.fetch_add(1, Ordering::Relaxed);
        self.began = Instant::now();
        self.busy = Some(Busy::begin(core));
        Ok(())
    }

    fn limit(&self) -> Option<Deadline> {
        if self.lasting {
            return None;
        }
        let options = &self.core.options;
        let own = options.tools.find(|| self.tool()).timeouts;
        Some(
            Deadline::start(&own.unwrap_or(options.timeouts), None)
                .expect("the limits were checked when they were made"),
        )
    }

    /// The tool that is called, if it is one.
    fn tool(&self) -> Option<Cow<'static, str>> {
        (self.call.method == method::TOOLS_CALL)
            .then(|| self.call.params.as_ref()?.member_as::<Cow<'static, str>>("name"))
            .flatten()
    }

    async fn fly(&mut self) -> Option<Part> {
        let Stage::Flying(airborne) = &mut self.stage else { return None };
        let arrival = airborne.next(&self.call, &self.core).await;
        match arrival {
            // Dropped unanswered, it is declined.
            Arrival::Part(Part::Question(question)) if !may_be_asked(&self.call, &question.method) => None,
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
                Some(self.end(Ok(result)))
            }
            Arrival::Ended(Err(fault)) => {
                self.settle(Some(&fault));
                if let Some(pause) = self.pause(&fault) {
                    tracing::debug!(upstream = %self.core.name, %fault, ?pause, "the call is repeated");
                    self.stage = Stage::Pausing(pause);
                    return None;
                }
                let told = self.tell(fault);
                Some(self.end(Err(told)))
            }
        }
    }

    /// Tells breaker, book and histogram how it went.
    fn settle(&mut self, fault: Option<&Fault>) {
        let Stage::Flying(airborne) = &mut self.stage else { return };
        let live = airborne.held.live().clone();
        let admission = airborne.admission.take();
        match fault {
            Some(fault) if is_loss(fault) => {
                // The breaker is not told: a new session begins with a new one.
                self.core.counts.failed.fetch_add(1, Ordering::Relaxed);
                self.core.lost(&live, fault);
            }
            Some(fault) if shows_illness(fault) => {
                self.core.counts.failed.fetch_add(1, Ordering::Relaxed);
                if let Some(admission) = admission {
                    admission.failed(fault);
                }
                if fault.kind() == FaultKind::ConnectionLost {
                    self.core.doubt(&live);
                }
            }
            _ => {
                if !live.served.swap(true, Ordering::Relaxed) {
                    self.core.book().failures = 0;
                }
                if let Some(admission) = admission {
                    admission.succeeded();
                    self.core.latency.record(self.began.elapsed());
                }
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
            && self.began.elapsed() < self.core.options.retry.budget;
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

    fn too_late(&self) -> Fault {
        told::timed_out(&self.core.name, &self.call.method, &"the caller's time was over")
    }

    fn end(&mut self, outcome: Outcome) -> Part {
        self.stage = Stage::Ended;
        self.slot = None;
        Part::Final(outcome)
    }
}

impl Busy {
    fn begin(core: &Arc<Core>) -> Self {
        core.touch();
        Self(core.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.touch();
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

async fn timeout_at<T>(at: std::time::Instant, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout_at(at.into(), work).await.ok()
}

/// Whether the caller's client can be asked this. One that says nothing about itself is not ours to judge.
fn may_be_asked(call: &Call, question: &str) -> bool {
    let capability = match question {
        method::CREATE_MESSAGE => "sampling",
        method::ELICIT => "elicitation",
        method::ROOTS_LIST => "roots",
        _ => return true,
    };
    let meta = call.params.as_ref().and_then(|params| params.member("_meta"));
    let declared = meta.and_then(|meta| meta.member(meta::CLIENT_CAPABILITIES));
    declared.is_none_or(|declared| declared.member(capability).is_some())
}
