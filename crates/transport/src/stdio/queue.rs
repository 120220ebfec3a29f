//! Queue: what waits to be written, gathered into pieces that are worth one write each.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use tokio::sync::{Semaphore, TryAcquireError};

use super::{queue_limits::Price, writer::SendError};

/// Frames are gathered up to this size, which is what a pipe holds.
const GATHER: usize = 64 * 1024;

/// Frames from this size on are written as they are: copying them would cost more than a system call.
const LARGE: usize = 32 * 1024;

/// What all handles put frames into and one worker takes pieces out of.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    /// Every frame that waits holds room here.
    pub(super) room: Semaphore,
    price: Price,
}

/// How far things are with the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Moving,
    Stalled,
    /// The write half is closed; the value tells why.
    Ended(SendError),
}

/// What is written at once, and the room that it gives back.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) text: Text,
    pub(super) cost: usize,
}

#[derive(Debug)]
pub(super) enum Text {
    Gathered(Vec<u8>),
    Large(Bytes),
}

/// How much there is to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    One,
    Several,
    /// And nothing more will come.
    Nothing,
}

/// What became of a frame that would not wait.
#[derive(Debug)]
pub(super) enum Put {
    Taken,
    /// There is no room now; the frame comes back.
    Full(Bytes),
}

#[derive(Debug)]
struct Waiting {
    /// Pieces that nothing is added to any more.
    pieces: VecDeque<Piece>,
    /// The last piece, to which frames are added.
    gathered: Vec<u8>,
    cost: usize,
    /// Frames since all was taken.
    frames: usize,
    flow: Flow,
    closing: bool,
    /// The worker, while it has nothing to do.
    idle: Option<Waker>,
}

impl Queue {
    pub(super) fn new(price: Price) -> Self {
        let waiting = Waiting {
            pieces: VecDeque::new(),
            gathered: Vec::new(),
            cost: 0,
            frames: 0,
            flow: Flow::Moving,
            closing: false,
            idle: None,
        };
        Self { waiting: Mutex::new(waiting), room: Semaphore::new(price.total()), price }
    }

    pub(super) fn cost_of(&self, frame: &Bytes) -> u32 {
        self.price.of_frame(frame.len())
    }

    /// Takes a frame if there is room for it.
    pub(super) fn try_put(&self, frame: Bytes) -> Result<Put, Flow> {
        let waiting = self.lock();
        if waiting.flow != Flow::Moving {
            return Err(waiting.flow);
        }
        match self.room.try_acquire_many(self.cost_of(&frame)) {
            Ok(permit) => permit.forget(),
            Err(TryAcquireError::NoPermits) => return Ok(Put::Full(frame)),
            Err(TryAcquireError::Closed) => return Err(waiting.flow),
        }
        self.add(waiting, frame)
    }

    /// Takes a frame whose room was acquired before.
    pub(super) fn put(&self, frame: Bytes) -> Result<Put, Flow> {
        self.add(self.lock(), frame)
    }

    fn add(&self, mut waiting: MutexGuard<'_, Waiting>, frame: Bytes) -> Result<Put, Flow> {
        if waiting.closing {
            return Err(waiting.flow);
        }
        let cost = self.cost_of(&frame) as usize;
        waiting.add(frame, cost);
        let idle = waiting.idle.take();
        drop(waiting);
        if let Some(worker) = idle {
            worker.wake();
        }
        Ok(Put::Taken)
    }

    /// Waits until there is something to write.
    pub(super) fn poll_load(&self, cx: &Context<'_>) -> Poll<Load> {
        let mut waiting = self.lock();
        match waiting.frames {
            0 if waiting.closing => return Poll::Ready(Load::Nothing),
            0 => {}
            1 => return Poll::Ready(Load::One),
            _ => return Poll::Ready(Load::Several),
        }
        if !waiting.idle.as_ref().is_some_and(|idle| idle.will_wake(cx.waker())) {
            waiting.idle = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// The next piece, if there is one. `spare` is what the last one was gathered in.
    pub(super) fn take(&self, spare: &mut Vec<u8>) -> Option<Piece> {
        let mut waiting = self.lock();
        if let Some(piece) = waiting.pieces.pop_front() {
            return Some(piece);
        }
        waiting.frames = 0;
        if waiting.gathered.is_empty() {
            return None;
        }
        let text = std::mem::replace(&mut waiting.gathered, std::mem::take(spare));
        let cost = std::mem::take(&mut waiting.cost);
        Some(Piece { text: Text::Gathered(text), cost })
    }

    /// Nothing more is taken; what waits is still written.
    pub(super) fn close(&self) {
        self.room.close();
        let mut waiting = self.lock();
        waiting.closing = true;
        let idle = waiting.idle.take();
        drop(waiting);
        if let Some(worker) = idle {
            worker.wake();
        }
    }

    pub(super) fn flow(&self) -> Flow {
        self.lock().flow
    }

    /// Notes how things are with the other end; says whether that is new.
    pub(super) fn show(&self, now: Flow) -> bool {
        std::mem::replace(&mut self.lock().flow, now) != now
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn add(&mut self, frame: Bytes, cost: usize) {
        self.frames += 1;
        if frame.len() >= LARGE {
            self.seal();
            self.pieces.push_back(Piece { text: Text::Large(frame), cost });
            self.gathered.push(b'\n');
            return;
        }
        if self.gathered.len() + frame.len() >= GATHER {
            self.seal();
        }
        self.gathered.extend_from_slice(&frame);
        self.gathered.push(b'\n');
        self.cost += cost;
    }

    fn seal(&mut self) {
        if !self.gathered.is_empty() {
            let text = Text::Gathered(std::mem::take(&mut self.gathered));
            self.pieces.push_back(Piece { text, cost: std::mem::take(&mut self.cost) });
        }
    }
}

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Gathered(text) => text,
            Self::Large(text) => text,
        }
    }
}
