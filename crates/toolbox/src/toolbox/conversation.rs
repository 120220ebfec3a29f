//! Conversation: a running call as a stream of its messages, followed by its outcome.

use crate::context::{Item, Outbox};
use futures_core::Stream;
use futures_util::{FutureExt, future::BoxFuture};
use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};
use trunkline_protocol::{Outcome, Part};

/// Takes over a conversation that becomes a task, and returns the answer for the caller.
pub(crate) type Adopt = Box<dyn FnOnce(Conversation) -> Outcome + Send>;

pub(crate) struct Conversation {
    outbox: Arc<Outbox>,
    work: Option<BoxFuture<'static, Outcome>>,
    outcome: Option<Outcome>,
    adopt: Option<Adopt>,
}

impl Conversation {
    pub(crate) fn new<Fut>(start: impl FnOnce(Arc<Outbox>) -> Fut + Send + 'static) -> Self
    where
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let outbox = Arc::new(Outbox::default());
        let work = start(Arc::clone(&outbox)).boxed();
        Self { outbox, work: Some(work), outcome: None, adopt: None }
    }

    /// Lets the conversation become a task.
    pub(crate) fn adoptable(mut self, adopt: impl FnOnce(Self) -> Outcome + Send + 'static) -> Self {
        self.adopt = Some(Box::new(adopt));
        self
    }

    fn hand_over(&mut self) -> Option<Outcome> {
        let adopt = self.adopt.take()?;
        let rest = Self {
            outbox: Arc::clone(&self.outbox),
            work: self.work.take(),
            outcome: self.outcome.take(),
            adopt: None,
        };
        Some(adopt(rest))
    }
}

impl Stream for Conversation {
    type Item = Part;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Part>> {
        loop {
            self.outbox.listen(cx);
            match self.outbox.pop() {
                Some(Item::Notification(notification)) => {
                    return Poll::Ready(Some(Part::Notification(notification)));
                }
                Some(Item::Question(question)) => return Poll::Ready(Some(Part::Question(question))),
                Some(Item::Detach) => return Poll::Ready(Some(Part::Detach)),
                Some(Item::BecomeTask) => match self.hand_over() {
                    Some(outcome) => return Poll::Ready(Some(Part::Final(outcome))),
                    None => continue,
                },
                None => {}
            }
            if let Some(outcome) = self.outcome.take() {
                return Poll::Ready(Some(Part::Final(outcome)));
            }
            let Some(work) = &mut self.work else { return Poll::Ready(None) };
            match work.as_mut().poll(cx) {
                Poll::Ready(outcome) => {
                    self.work = None;
                    self.outcome = Some(outcome);
                }
                Poll::Pending if self.outbox.is_empty() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation").field("open", &self.work.is_some()).finish_non_exhaustive()
    }
}
