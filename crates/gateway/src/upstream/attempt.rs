//! One attempt of a call, in flight on a session.

use super::live_session::SessionLease;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use trunkline_protocol::{Fault, FaultKind, Outcome, Part, Question, Reply, method};
use trunkline_resilience::{Admission, CallTimer, Expired, Moment};

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
    /// Sorts what the session delivered.
    pub(super) fn arrive(&self, part: Option<Part>) -> Arrival {
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
    /// The limit that was reached; `None` if it was extended meanwhile. While the caller has an
    /// unanswered question, only the ceiling counts.
    pub(super) fn expired(&self) -> Option<Expired> {
        let expired = self.timer.expired()?;
        if matches!(expired, Expired::Call { .. }) && self.open.load(Ordering::Acquire) > 0 {
            self.timer.renew();
            return None;
        }
        Some(expired)
    }
}
