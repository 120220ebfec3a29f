//! Airborne: one try of a call, under way on a session.

use super::{core::Core, live::Held, told};
use crate::timers::Timer;
use futures_util::Stream;
use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::time::Instant;
use trunkline_protocol::{Call, Fault, FaultKind, Outcome, Part, Question, Reply, method};
use trunkline_resilience::{Admission, Deadline, Expired};

/// Room for a session that is gone to say by itself what became of a call.
const LAST_WORDS: Duration = Duration::from_millis(100);

pub(super) struct Airborne {
    pub(super) reply: Reply,
    pub(super) held: Held,
    pub(super) admission: Option<Admission>,
    /// Absent for a call that may last.
    pub(super) clock: Option<Arc<Clock>>,
    /// Why the session is gone, and until when it may still speak.
    pub(super) lost: Option<(Fault, Instant)>,
}

/// The time of a call.
pub(super) struct Clock {
    pub(super) deadline: Deadline,
    /// Questions that somebody thinks about.
    pub(super) open: AtomicU32,
}

/// What became of one try.
pub(super) enum Arrival {
    Part(Part),
    Ended(Outcome),
    Expired(Fault),
}

impl Airborne {
    pub(super) fn poll(
        &mut self,
        (call, core): (&Call, &Core),
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<Arrival> {
        if let Poll::Ready(part) = Pin::new(&mut self.reply).poll_next(cx) {
            return Poll::Ready(self.arrive(part));
        }
        if self.lost.is_none() {
            if let Poll::Ready(fault) = self.poll_clock((call, core), timer, cx) {
                return Poll::Ready(Arrival::Expired(fault));
            }
            let why = ready!(self.held.poll_gone(cx));
            self.lost = Some((why, Instant::now() + LAST_WORDS));
        }
        if let Some((_, until)) = &self.lost {
            ready!(core.timers.poll(timer, *until, cx));
        }
        match self.lost.take() {
            Some((why, _)) => Poll::Ready(Arrival::Ended(Err(why))),
            None => Poll::Pending,
        }
    }

    /// Waits for the end of the call's time, or of its caller's. While somebody thinks about a question, only the ceiling
    /// counts.
    fn poll_clock(
        &self,
        (call, core): (&Call, &Core),
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<Fault> {
        let callers = call.deadline.map(Instant::from);
        loop {
            let ours = self.clock.as_ref().map(|clock| clock.deadline.expires_at());
            let Some(at) = [callers, ours].into_iter().flatten().min() else { return Poll::Pending };
            ready!(core.timers.poll(timer, at, cx));
            if ours != Some(at) {
                let why = "the caller's time was over";
                return Poll::Ready(told::timed_out(&core.name, &call.method, &why));
            }
            if let Some(expired) = self.clock.as_ref().and_then(|clock| clock.strike()) {
                return Poll::Ready(told::timed_out(&core.name, &call.method, &expired));
            }
        }
    }

    fn arrive(&self, part: Option<Part>) -> Arrival {
        match part {
            Some(Part::Final(outcome)) => Arrival::Ended(outcome),
            Some(Part::Question(question)) => Arrival::Part(Part::Question(self.track(question))),
            Some(part) => {
                if let (Part::Notification(notification), Some(clock)) = (&part, &self.clock)
                    && notification.method == method::PROGRESS
                {
                    clock.deadline.progress();
                }
                Arrival::Part(part)
            }
            None => {
                let fault = "the answer ended before it was complete";
                Arrival::Ended(Err(Fault::new(FaultKind::ConnectionLost, fault)))
            }
        }
    }

    /// Counts a question until it is answered: meanwhile it is not the server that takes its time.
    fn track(&self, mut question: Question) -> Question {
        let Some(clock) = self.clock.clone() else { return question };
        clock.open.fetch_add(1, Ordering::AcqRel);
        let (method, params, key) = (question.method.clone(), question.params.clone(), question.key.take());
        let tracked = Question::new(method, params, move |outcome| {
            clock.deadline.renew();
            clock.open.fetch_sub(1, Ordering::AcqRel);
            question.answer(outcome);
        });
        match key {
            Some(key) => tracked.named(key),
            None => tracked,
        }
    }
}

impl Clock {
    /// Which limit it was that ended; `None` when there is time again.
    fn strike(&self) -> Option<Expired> {
        let expired = self.deadline.struck()?;
        if matches!(expired, Expired::Call { .. }) && self.open.load(Ordering::Acquire) > 0 {
            self.deadline.renew();
            return None;
        }
        Some(expired)
    }
}
