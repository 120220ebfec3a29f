//! Ledger: the queue and its writer, and who of all that come and go does the writing.

use super::{
    queue::{Entry, Next, Queue, Turn, Unwritten},
    writer::Writer,
};
use crate::timers::{Timer, Timers};
use std::{
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};
use tokio::{sync::oneshot, task::yield_now, time::Instant};

#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) queue: Arc<Queue>,
    /// Locked only by whoever has the turn, so nobody waits for it.
    writer: Mutex<Writer>,
    timers: Timers,
}

/// A record that somebody waits for: until it is written, or synced if it needs that, or until patience is over. However this goes
/// away, what gathered is written by whoever has the turn.
#[derive(Debug)]
pub(super) struct Writing {
    ledger: Arc<Ledger>,
    lead: Lead,
    heard: oneshot::Receiver<Result<(), Unwritten>>,
    patience: Duration,
    /// When patience is over; known once there is something to wait for.
    until: Option<Instant>,
    timer: Timer,
}

/// Whether it is this one's turn to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    No,
    /// At once.
    Now,
    /// After others who are ready to run put their records in, so that one write does for all.
    Soon,
}

impl Ledger {
    pub(super) fn new(queue: Arc<Queue>, writer: Writer) -> Self {
        Self { queue, writer: Mutex::new(writer), timers: Timers::default() }
    }

    /// Puts a record in that nobody waits for.
    pub(super) fn put(&self, entry: Entry) {
        if self.queue.push(entry) == Turn::Mine {
            self.drain();
        }
    }

    /// Puts a record in that somebody waits for, for as long as `patience` lasts.
    pub(super) fn write(self: &Arc<Self>, mut entry: Entry, patience: Duration) -> Writing {
        let (told, heard) = oneshot::channel();
        entry.told = Some(told);
        let lead = match self.queue.push(entry) {
            Turn::Mine if self.queue.is_for_one() => Lead::Now,
            Turn::Mine => Lead::Soon,
            Turn::Anothers => Lead::No,
        };
        Writing { ledger: Arc::clone(self), lead, heard, patience, until: None, timer: Timer::default() }
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

    /// Writes until nothing is left, or only what the thread must do, and gives the turn back.
    fn drain(&self) {
        self.with(|writer| {
            loop {
                if writer.needs_thread() {
                    return self.queue.leave();
                }
                match self.queue.take() {
                    Some(entries) => writer.write_quickly(entries),
                    None => return,
                }
            }
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut Writer) -> T) -> T {
        work(&mut self.writer.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Writing {
    fn use_turn(&mut self) {
        if self.lead != Lead::No {
            self.lead = Lead::No;
            self.ledger.drain();
        }
    }
}

impl Future for Writing {
    type Output = Result<(), Unwritten>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Unwritten>> {
        let this = &mut *self;
        if this.lead == Lead::Soon {
            this.lead = Lead::Now;
            // Pending once; then it has yielded.
            if pin!(yield_now()).poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
        this.use_turn();
        if let Poll::Ready(heard) = Pin::new(&mut this.heard).poll(cx) {
            return Poll::Ready(heard.unwrap_or(Err(Unwritten)));
        }
        let until = *this.until.get_or_insert_with(|| Instant::now() + this.patience);
        this.ledger.timers.poll(&mut this.timer, until, cx).map(|()| Err(Unwritten))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.use_turn();
        self.ledger.timers.give_back(&mut self.timer);
    }
}
