//! Reply: any number of interim parts, then exactly one final part.

use super::Question;
use crate::{Fault, FaultKind, Notification, Raw};
use futures_core::Stream;
use futures_util::{FutureExt, StreamExt, stream};
use std::{
    fmt, future, mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

/// The result of a call, or the fault that ended it.
pub type Outcome = Result<Raw, Fault>;

/// One element of a reply.
#[derive(Debug)]
pub enum Part {
    Notification(Notification),
    Question(Question),
    /// No part is expected for a while; a caller that can resume its stream may disconnect.
    Detach,
    Final(Outcome),
}

/// The answer to a call: notifications and questions, then one [`Part::Final`]. Dropping it
/// cancels the call.
#[must_use = "a call does nothing until its reply is polled, and dropping the reply cancels it"]
pub struct Reply {
    parts: Parts,
}

enum Parts {
    Stream(Pin<Box<dyn Stream<Item = Part> + Send>>),
    /// Already resolved; no stream is needed.
    Ready(Outcome),
    Over,
}

impl Reply {
    /// A reply from a stream of parts. The stream is not polled again after its final part; if it
    /// ends without one, the reply ends with a fault.
    pub fn new(parts: impl Stream<Item = Part> + Send + 'static) -> Self {
        Self { parts: Parts::Stream(Box::pin(parts)) }
    }

    /// A reply with only a final part, the output of a future.
    pub fn from_future(outcome: impl Future<Output = Outcome> + Send + 'static) -> Self {
        Self::new(stream::once(outcome.map(Part::Final)))
    }

    pub fn ready(outcome: Outcome) -> Self {
        Self { parts: Parts::Ready(outcome) }
    }

    /// This reply, with `done` called when the final part is returned. If the reply is dropped
    /// before that, `done` is dropped without being called.
    pub fn on_final(self, done: impl FnOnce(&Outcome) + Send + 'static) -> Self {
        let mut done = Some(done);
        Self::new(self.inspect(move |part| {
            if let Part::Final(outcome) = part
                && let Some(done) = done.take()
            {
                done(outcome);
            }
        }))
    }

    /// The next part; `None` after the final one.
    pub async fn next(&mut self) -> Option<Part> {
        future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Waits for the final part. Notifications are dropped and questions are refused.
    pub async fn outcome(mut self) -> Outcome {
        while let Some(part) = self.next().await {
            if let Part::Final(outcome) = part {
                return outcome;
            }
        }
        Err(ended_early())
    }
}

impl Stream for Reply {
    type Item = Part;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Part>> {
        let part = match &mut self.parts {
            Parts::Stream(parts) => ready!(parts.as_mut().poll_next(cx)),
            Parts::Ready(_) | Parts::Over => match mem::replace(&mut self.parts, Parts::Over) {
                Parts::Ready(outcome) => Some(Part::Final(outcome)),
                _ => return Poll::Ready(None),
            },
        };
        let part = part.unwrap_or_else(|| Part::Final(Err(ended_early())));
        if matches!(part, Part::Final(_)) {
            self.parts = Parts::Over;
        }
        Poll::Ready(Some(part))
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("open", &!matches!(self.parts, Parts::Over)).finish()
    }
}

fn ended_early() -> Fault {
    Fault::new(FaultKind::ConnectionLost, "the connection closed in the middle of the answer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_follows_the_final_part() {
        let parts = stream::iter([Part::Final(Ok(Raw::null())), Part::Final(Ok(Raw::empty_object()))]);
        let mut reply = Reply::new(parts);
        assert!(matches!(reply.next().now_or_never(), Some(Some(Part::Final(Ok(_))))));
        assert!(reply.next().now_or_never().unwrap().is_none());
    }

    #[test]
    fn an_end_without_a_final_part_is_a_fault() {
        let outcome = Reply::new(stream::empty()).outcome().now_or_never().unwrap();
        assert_eq!(outcome.unwrap_err().kind(), FaultKind::ConnectionLost);
    }

    #[test]
    fn the_final_part_is_reported_once_and_a_dropped_reply_reports_nothing() {
        let (tell, heard) = std::sync::mpsc::channel();
        let told = tell.clone();
        let mut reply =
            Reply::ready(Ok(Raw::null())).on_final(move |outcome| told.send(outcome.is_ok()).unwrap());
        while reply.next().now_or_never().unwrap().is_some() {}
        drop(Reply::ready(Ok(Raw::null())).on_final(move |outcome| tell.send(outcome.is_ok()).unwrap()));
        assert_eq!(heard.iter().collect::<Vec<_>>(), [true]);
    }

    #[test]
    fn a_question_nobody_answers_is_refused() {
        let (tell, heard) = std::sync::mpsc::channel();
        let question = Question::new("roots/list", None, move |outcome| tell.send(outcome).unwrap());
        let parts = stream::iter([Part::Question(question), Part::Final(Ok(Raw::null()))]);
        assert!(Reply::new(parts).outcome().now_or_never().unwrap().is_ok());
        assert_eq!(heard.try_recv().unwrap().unwrap_err().kind(), FaultKind::Declined);
    }
}
