//! One attempt of a call, in flight on a session.

use super::{core::Core, faults, live_session::SessionLease};
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
use trunkline_protocol::{Call, Fault, FaultKind, Outcome, Part, Question, Reply, method};
use trunkline_resilience::{Admission, CallTimer, Expired, Moment, Timer};

/// Grace period in which a lost session may still deliver its own error.
const LOSS_GRACE: Duration = Duration::from_millis(100);

pub(super) struct Attempt {
    pub(super) reply: Reply,
    pub(super) lease: SessionLease,
    pub(super) admission: Option<Admission>,
    /// Absent for a subscription.
    pub(super) clock: Option<Arc<AttemptClock>>,
    /// The reason for the loss of the session, and the end of its grace period.
    pub(super) lost: Option<(Fault, Moment)>,
}

/// The time limits of an attempt.
pub(super) struct AttemptClock {
    pub(super) timer: CallTimer,
    /// Questions that the caller has not answered yet.
    pub(super) open: AtomicU32,
}

/// The next event of an attempt.
pub(super) enum Arrival {
    Part(Part),
    Ended(Outcome),
    Expired(Fault),
}

impl Attempt {
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
            let why = ready!(self.lease.poll_lost(cx));
            self.lost = Some((why, Moment::now() + LOSS_GRACE));
        }
        if let Some((_, until)) = &self.lost {
            ready!(timer.poll(*until, cx));
        }
        match self.lost.take() {
            Some((why, _)) => Poll::Ready(Arrival::Ended(Err(why))),
            None => Poll::Pending,
        }
    }

    /// Waits for the call's time limit or the caller's deadline. While the caller has an
    /// unanswered question, only the ceiling counts.
    fn poll_clock(
        &self,
        (call, core): (&Call, &Core),
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<Fault> {
        let callers = call.deadline.map(Moment::from);
        loop {
            let ours = self.clock.as_ref().map(|clock| clock.timer.expires_at());
            let Some(at) = [callers, ours].into_iter().flatten().min() else { return Poll::Pending };
            ready!(timer.poll(at, cx));
            if ours != Some(at) {
                let why = "the caller's time was over";
                return Poll::Ready(faults::timed_out(&core.name, &call.method, &why));
            }
            if let Some(expired) = self.clock.as_ref().and_then(|clock| clock.expired()) {
                return Poll::Ready(faults::timed_out(&core.name, &call.method, &expired));
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
                    clock.timer.progress();
                }
                Arrival::Part(part)
            }
            None => {
                let fault = "the connection closed in the middle of the answer";
                Arrival::Ended(Err(Fault::new(FaultKind::ConnectionLost, fault)))
            }
        }
    }

    /// Counts a question as open until it is answered. Meanwhile the call's time limit is renewed.
    fn track(&self, mut question: Question) -> Question {
        let Some(clock) = self.clock.clone() else { return question };
        clock.open.fetch_add(1, Ordering::AcqRel);
        let (method, params, key) = (question.method.clone(), question.params.clone(), question.key.take());
        let tracked = Question::new(method, params, move |outcome| {
            clock.timer.renew();
            clock.open.fetch_sub(1, Ordering::AcqRel);
            question.answer(outcome);
        });
        match key {
            Some(key) => tracked.named(key),
            None => tracked,
        }
    }
}

impl AttemptClock {
    /// The limit that was reached; `None` if it was extended meanwhile.
    fn expired(&self) -> Option<Expired> {
        let expired = self.timer.expired()?;
        if matches!(expired, Expired::Call { .. }) && self.open.load(Ordering::Acquire) > 0 {
            self.timer.renew();
            return None;
        }
        Some(expired)
    }
}
