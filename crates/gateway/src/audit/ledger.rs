//! Ledger: the queue and its writer, and who of all that come and go does the writing.

use super::{
    queue::{Entry, Heard, Next, Place, Queue, Turn, Unwritten},
    writer::Writer,
};
use std::{
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};
use tokio::{sync::oneshot::error::TryRecvError, task::yield_now};
use trunkline_resilience::{Moment, Timer};

/// Most writes in one turn. Then the thread goes on, so that nobody writes for others without end.
const ROUNDS: usize = 16;

/// How often others are let run before a record is waited for in a way that takes somebody to wake us.
const YIELDS: u8 = 3;

#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) queue: Arc<Queue>,
    /// Locked only by whoever has the turn, so nobody waits for it.
    writer: Mutex<Writer>,
}

/// A record that is waited for: until it is written, or synced if it needs that, or until patience is over. However this goes
/// away, the record is written.
#[derive(Debug)]
pub(super) struct Writing {
    ledger: Arc<Ledger>,
    step: Step,
    heard: Heard,
    patience: Duration,
    /// When patience is over; known once there is something to wait for.
    until: Option<Moment>,
    timer: Timer,
}

/// How a record is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Others run meanwhile, and did so many times; then whoever is first writes.
    Among(u8),
    /// Whoever has it wakes us.
    Waiting,
    Over,
}

impl Ledger {
    pub(super) fn new(queue: Arc<Queue>, writer: Writer) -> Self {
        Self { queue, writer: Mutex::new(writer) }
    }

    /// Puts a record in that nobody waits for.
    pub(super) fn put(&self, entry: Entry) {
        if self.queue.push(entry) == Turn::Mine {
            self.drain();
        }
    }

    /// Puts a record in that is waited for as long as `patience` lasts; `None` when it is written by now.
    pub(super) fn write(self: &Arc<Self>, entry: Entry, patience: Duration) -> Option<Writing> {
        let (step, heard) = match self.queue.enter(entry) {
            Place::Mine(entry, before) => (Step::Waiting, self.write_now(entry, before)?),
            Place::Among(heard) => (Step::Among(0), heard),
            Place::Threads(heard) => (Step::Waiting, heard),
        };
        Some(Writing {
            ledger: Arc::clone(self),
            step,
            heard,
            patience,
            until: None,
            timer: Timer::default(),
        })
    }

    /// Writes a record with the turn that was just taken, after what gathered before it. Where that is left to the thread,
    /// there is something to wait for.
    fn write_now(&self, entry: Entry, mut before: Vec<Entry>) -> Option<Heard> {
        self.with(|writer| {
            if writer.needs_thread() {
                let (entry, heard) = entry.awaited();
                before.push(entry);
                self.queue.leave(before);
                return Some(heard);
            }
            let heard = writer.write_quickly(before, Some(entry));
            self.end_turn(writer);
            heard
        })
    }

    /// What the trail's thread does, until the queue is closed and empty.
    pub(super) fn run(&self) {
        loop {
            let syncing = match self.queue.next() {
                Next::Write(entries) => self.with(|writer| writer.commit(entries)),
                Next::Sync => self.with(|writer| writer.commit(Vec::new())),
                Next::Stop => return self.with(Writer::finish),
            };
            if let Some(syncing) = syncing {
                // Nobody has to wait for this disk but those who want to.
                self.drain();
                let result = syncing.run();
                self.queue.retake();
                self.with(|writer| writer.end_sync(syncing, result));
            }
            self.queue.sync_by(self.with(|writer| writer.due()));
            self.drain();
        }
    }

    /// Writes what gathered, if it is nobody's turn.
    fn lead(&self) {
        if self.queue.take_turn() == Turn::Mine {
            self.drain();
        }
    }

    fn drain(&self) {
        self.with(|writer| self.end_turn(writer));
    }

    /// Writes until nothing is left, or only what the thread must do, and gives the turn back.
    fn end_turn(&self, writer: &mut Writer) {
        for _ in 0..ROUNDS {
            if writer.needs_thread() {
                break;
            }
            match self.queue.take() {
                Some(entries) => writer.write_quickly(entries, None),
                None => return,
            };
        }
        self.queue.leave(Vec::new());
    }

    fn with<T>(&self, work: impl FnOnce(&mut Writer) -> T) -> T {
        work(&mut self.writer.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Writing {
    /// What became of the record by now.
    fn result(&mut self) -> Option<Result<(), Unwritten>> {
        match self.heard.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Closed) => Some(Err(Unwritten)),
            Err(TryRecvError::Empty) => None,
        }
    }

    /// What became of the record after others ran: written by one of them, or by us.
    fn result_among(&mut self) -> Option<Result<(), Unwritten>> {
        self.result().or_else(|| {
            self.ledger.lead();
            self.result()
        })
    }
}

impl Future for Writing {
    type Output = Result<(), Unwritten>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Unwritten>> {
        let this = &mut *self;
        while let Step::Among(yields) = this.step {
            if let Some(result) = (yields > 0).then(|| this.result_among()).flatten() {
                this.step = Step::Over;
                return Poll::Ready(result);
            }
            this.step = if yields < YIELDS { Step::Among(yields + 1) } else { Step::Waiting };
            // Pending once; then it has yielded.
            if yields < YIELDS && pin!(yield_now()).poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
        if let Poll::Ready(heard) = Pin::new(&mut this.heard).poll(cx) {
            return Poll::Ready(heard.unwrap_or(Err(Unwritten)));
        }
        let until = *this.until.get_or_insert_with(|| Moment::now() + this.patience);
        this.timer.poll(until, cx).map(|()| Err(Unwritten))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        if matches!(self.step, Step::Among(_)) {
            self.ledger.lead();
        }
    }
}
