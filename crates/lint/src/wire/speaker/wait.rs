//! Waits for the answer to a message.

use super::Speaker;
use crate::{
    evidence::{Direction, Frame, Settled},
    wire::{
        deadline::{CpuQueue, Deadline},
        inbox::{Missing, answers, has_no_id, is_response},
        say::Expect,
    },
};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// Timeout for the first answer once the server has written noise.
const AFTER_NOISE: Duration = Duration::from_secs(10);

/// The moment at which an exchange began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beginning {
    /// Number of frames before it.
    pub(super) mark: usize,
    pub(super) at: Instant,
    pub(super) queue: CpuQueue,
}

impl Speaker {
    pub(super) async fn wait(&self, began: Beginning, expect: &Expect) -> (Option<usize>, Settled) {
        let mark = began.mark;
        let earlier = self.earlier_ids(mark);
        let any = |frame: &Frame| {
            frame.json().is_some_and(|message| {
                // A response to an earlier request is late, and no answer to this message.
                let late = message.get("id").is_some_and(|id| earlier.contains(id));
                let response = message.get("result").is_some() || message.get("error").is_some();
                message.get("method").is_none() && !late && (response || message.is_array())
            })
        };
        let (found, limit) = match expect {
            Expect::NoWait => return (None, Settled::Quiet),
            Expect::FirstMessage => {
                let received = |frame: &Frame| frame.direction == Direction::Received;
                self.wait_until(began, began.at + self.answer, received).await.ok();
                return (None, Settled::Quiet);
            }
            Expect::Answer(id) => {
                // The first response on a line can only answer the first message.
                let first = self.is_first(mark);
                let fits = |frame: &Frame| answers(frame, id) || (first && is_response(frame));
                let until =
                    if first { self.first_until(began.at, fits).await } else { began.at + self.answer };
                (self.wait_until(began, until, fits).await, until - began.at)
            }
            Expect::Any => (self.wait_until(began, began.at + self.answer, any).await, self.answer),
            Expect::Nothing => (self.wait_until(began, began.at + self.quiet, any).await, self.quiet),
        };
        let found = match (found, expect) {
            // A response without an id counts only after the timeout: it may answer an earlier
            // message that the server could not parse.
            (Err(missing), Expect::Answer(_)) => self.without_id(mark).ok_or(missing),
            (found, _) => found,
        };
        match (found, expect) {
            (Ok(at), _) => (Some(at), Settled::Answered),
            (Err(Missing::Ended), _) => (None, Settled::Gone),
            (Err(Missing::Late), Expect::Nothing) => (None, Settled::Quiet),
            (Err(Missing::Late), _) => (None, Settled::Silent(limit)),
        }
    }

    /// Waits for a frame. The time in which the server waited for a CPU does not count.
    async fn wait_until(
        &self,
        began: Beginning,
        until: Instant,
        found: impl Fn(&Frame) -> bool,
    ) -> Result<usize, Missing> {
        let mut deadline = Deadline::new(until, until.max(began.at + self.longest), began.queue);
        loop {
            match self.inbox.wait_for(began.mark, deadline.until(), &found).await {
                Err(Missing::Late) if deadline.extend() => {}
                ended => return ended,
            }
        }
    }

    /// The ids of the requests before this mark, without those that the message at the mark has.
    fn earlier_ids(&self, mark: usize) -> Vec<Value> {
        let id = |frame: &Frame| frame.json().and_then(|message| message.get("id").cloned());
        self.inbox.edit(|line| {
            let sent = |frame: &&Frame| frame.direction == Direction::Sent;
            let now: Vec<Value> = line.frames[mark..].iter().filter(sent).filter_map(id).collect();
            let before = line.frames[..mark].iter().filter(sent).filter_map(id);
            before.filter(|id| !id.is_null() && !now.contains(id)).collect()
        })
    }

    /// True if nothing was sent before this mark.
    fn is_first(&self, mark: usize) -> bool {
        self.inbox.edit(|line| line.frames.iter().take(mark).all(|frame| frame.direction != Direction::Sent))
    }

    /// The deadline for the answer to the first message of a line. It is shortened once the server
    /// writes noise: then it has started, and needs no start-up time.
    async fn first_until(&self, began: Instant, fits: impl Fn(&Frame) -> bool) -> Instant {
        let until = began + self.answer;
        let spoke = |frame: &Frame| fits(frame) || frame.direction == Direction::Noise;
        match self.inbox.wait_for(0, until, spoke).await {
            Ok(_) => until.min(Instant::now() + AFTER_NOISE),
            Err(_) => until,
        }
    }

    fn without_id(&self, mark: usize) -> Option<usize> {
        let came = self.inbox.received(mark, self.inbox.mark());
        self.inbox.edit(|line| came.into_iter().find(|at| has_no_id(&line.frames[*at])))
    }

    pub(super) fn response_among(&self, frames: &[usize]) -> Option<usize> {
        self.inbox.edit(|line| {
            let response = |at: &&usize| {
                line.frames[**at].json().is_some_and(|message| {
                    message.get("result").is_some() || message.get("error").is_some() || message.is_array()
                })
            };
            frames.iter().find(response).copied()
        })
    }
}
