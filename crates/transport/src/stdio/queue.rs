//! The write queue: small frames are joined into chunks of one write each.

use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::VecDeque,
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use tokio::sync::{Semaphore, TryAcquireError};

use super::{queue_limits::Price, writer::SendError};

/// Largest chunk of joined frames: the capacity of a pipe.
const GATHER: usize = 64 * 1024;

/// Frames from this size on are not joined: copying them would cost more than a system call.
const LARGE: usize = 32 * 1024;

/// All handles put frames in, and one worker takes chunks out.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<QueueState>,
    /// Every queued frame holds permits for its cost.
    pub(super) room: Semaphore,
    price: Price,
}

/// The state of the connection to the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Moving,
    Stalled,
    /// The write half is closed, for this reason.
    Ended(SendError),
}

/// Bytes for one write, and the permits to return after it.
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

/// The number of queued frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    One,
    Several,
    /// The queue is empty and closed.
    Nothing,
}

/// The result of an attempt to queue a frame without waiting.
#[derive(Debug)]
pub(super) enum Put {
    Taken,
    /// The queue is full; returns the frame.
    Full(Bytes),
}

#[derive(Debug)]
struct QueueState {
    /// Complete pieces.
    pieces: VecDeque<Piece>,
    /// The last piece, to which frames are added.
    gathered: Vec<u8>,
    cost: usize,
    /// Frames queued since the queue was last empty.
    frames: usize,
    flow: Flow,
    closing: bool,
    /// The waker of the worker, while it waits for frames.
    idle: Option<Waker>,
}

impl Queue {
    pub(super) fn new(price: Price) -> Self {
        let state = QueueState {
            pieces: VecDeque::new(),
            gathered: Vec::new(),
            cost: 0,
            frames: 0,
            flow: Flow::Moving,
            closing: false,
            idle: None,
        };
        Self { state: Mutex::new(state), room: Semaphore::new(price.total()), price }
    }

    pub(super) fn cost_of(&self, frame: &Bytes) -> u32 {
        self.price.of_frame(frame.len())
    }

    /// Queues a frame if there is room for it.
    pub(super) fn try_put(&self, frame: Bytes) -> Result<Put, Flow> {
        let state = self.lock();
        if state.flow != Flow::Moving {
            return Err(state.flow);
        }
        match self.room.try_acquire_many(self.cost_of(&frame)) {
            Ok(permit) => permit.forget(),
            Err(TryAcquireError::NoPermits) => return Ok(Put::Full(frame)),
            Err(TryAcquireError::Closed) => return Err(state.flow),
        }
        self.add(state, frame)
    }

    /// Queues a frame whose permits were acquired before.
    pub(super) fn put(&self, frame: Bytes) -> Result<Put, Flow> {
        self.add(self.lock(), frame)
    }

    fn add(&self, mut state: MutexGuard<'_, QueueState>, frame: Bytes) -> Result<Put, Flow> {
        if state.closing {
            return Err(state.flow);
        }
        let cost = self.cost_of(&frame) as usize;
        state.add(frame, cost);
        let idle = state.idle.take();
        drop(state);
        if let Some(worker) = idle {
            worker.wake();
        }
        Ok(Put::Taken)
    }

    /// Waits until there is something to write.
    pub(super) fn poll_load(&self, cx: &Context<'_>) -> Poll<Load> {
        let mut state = self.lock();
        match state.frames {
            0 if state.closing => return Poll::Ready(Load::Nothing),
            0 => {}
            1 => return Poll::Ready(Load::One),
            _ => return Poll::Ready(Load::Several),
        }
        if !state.idle.as_ref().is_some_and(|idle| idle.will_wake(cx.waker())) {
            state.idle = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// The next piece, if there is one. `spare` is an empty buffer to collect the next frames in.
    pub(super) fn take(&self, spare: &mut Vec<u8>) -> Option<Piece> {
        let mut state = self.lock();
        if let Some(piece) = state.pieces.pop_front() {
            return Some(piece);
        }
        state.frames = 0;
        if state.gathered.is_empty() {
            return None;
        }
        let text = std::mem::replace(&mut state.gathered, std::mem::take(spare));
        let cost = std::mem::take(&mut state.cost);
        Some(Piece { text: Text::Gathered(text), cost })
    }

    /// Refuses further frames; those in the queue are still written.
    pub(super) fn close(&self) {
        self.room.close();
        let mut state = self.lock();
        state.closing = true;
        let idle = state.idle.take();
        drop(state);
        if let Some(worker) = idle {
            worker.wake();
        }
    }

    pub(super) fn flow(&self) -> Flow {
        self.lock().flow
    }

    /// Sets the state of the connection; returns true if it changed.
    pub(super) fn set_flow(&self, now: Flow) -> bool {
        std::mem::replace(&mut self.lock().flow, now) != now
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock()
    }
}

impl QueueState {
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
