//! Airborne: one try of a call, under way on a session.

use super::{core::Core, live::Held, told};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};
use tokio::time::{sleep_until, timeout};
use trunkline_protocol::{Call, Fault, FaultKind, Outcome, Part, Question, Reply, method};
use trunkline_resilience::{Admission, Deadline, Expired};

/// Room for a session that is gone to say by itself what became of a call.
const LAST_WORDS: Duration = Duration::from_millis(100);

pub(super) struct Airborne {
    pub(super) reply: Reply,
    pub(super) held: Held,
    pub(super) admission: Option<Admission>,
    pub(super) deadline: Option<Arc<Deadline>>,
    /// Questions that somebody thinks about.
    pub(super) open: Arc<AtomicU32>,
}

/// What became of one try.
pub(super) enum Arrival {
    Part(Part),
    Ended(Outcome),
    Expired(Fault),
}

impl Airborne {
    pub(super) async fn next(&mut self, call: &Call, core: &Core) -> Arrival {
        let Self { reply, held, deadline, open, .. } = self;
        let part = tokio::select! {
            biased;
            part = reply.next() => part,
            expired = expired(deadline.as_deref(), open) => {
                return Arrival::Expired(told::timed_out(&core.name, &call.method, &expired));
            }
            () = reached(call.deadline) => {
                return Arrival::Expired(told::timed_out(&core.name, &call.method, &"the caller's time was over"));
            }
            why = held.live().gone() => match timeout(LAST_WORDS, reply.next()).await {
                Ok(part) => part,
                Err(_) => return Arrival::Ended(Err(why)),
            },
        };
        match part {
            Some(Part::Final(outcome)) => Arrival::Ended(outcome),
            Some(Part::Question(question)) => Arrival::Part(Part::Question(self.track(question))),
            Some(part) => {
                if let (Part::Notification(notification), Some(deadline)) = (&part, &self.deadline)
                    && notification.method == method::PROGRESS
                {
                    deadline.progress();
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
        let (open, deadline) = (self.open.clone(), self.deadline.clone());
        open.fetch_add(1, Ordering::AcqRel);
        let (method, params, key) = (question.method.clone(), question.params.clone(), question.key.take());
        let tracked = Question::new(method, params, move |outcome| {
            open.fetch_sub(1, Ordering::AcqRel);
            if let Some(deadline) = deadline {
                deadline.progress();
            }
            question.answer(outcome);
        });
        match key {
            Some(key) => tracked.named(key),
            None => tracked,
        }
    }
}

/// Waits for the end of the call's time. While somebody thinks about a question, only the ceiling counts.
async fn expired(deadline: Option<&Deadline>, open: &AtomicU32) -> Expired {
    let Some(deadline) = deadline else { return std::future::pending().await };
    loop {
        let expired = deadline.expired().await;
        if !matches!(expired, Expired::Call { .. }) || open.load(Ordering::Acquire) == 0 {
            return expired;
        }
        deadline.progress();
    }
}

async fn reached(at: Option<std::time::Instant>) {
    match at {
        Some(at) => sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}
