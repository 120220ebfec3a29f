//! A shared handle that queues frames for one writer task, which sends many of them with few writes.

use std::{io, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use thiserror::Error;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::{Notify, Semaphore, TryAcquireError, mpsc, watch},
    time::timeout,
};

use super::queue_limits::{Price, QueueLimits};

/// Frames are gathered up to this size, which is what a pipe holds, and then written at once.
const GATHER: usize = 64 * 1024;

/// Frames from this size on are written as they are: copying them would cost more than a system call.
const LARGE: usize = 32 * 1024;

/// Frames taken from the queue in one go.
const TAKE: usize = 512;

/// Why a frame was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SendError {
    /// The peer closed its end, or it broke.
    #[error("the peer no longer takes input ({0})")]
    Closed(io::ErrorKind),
    /// This side closed the writer.
    #[error("the input of the peer was closed by this side")]
    Finished,
    /// The peer reads nothing, or too slowly.
    #[error("the peer did not read its input for {0:?}")]
    Stalled(Duration),
    /// The frame holds a newline and would be read as two; compact it first.
    #[error("a frame must not contain a newline")]
    RawNewline,
}

/// Writes frames, one line each, to a peer. Clones share one queue and one order.
///
/// A frame is *taken* when there is room in the queue; that says nothing about its being read. A peer that does
/// not read for [`QueueLimits::stall`] makes every send fail with [`SendError::Stalled`] and [`Self::stalled`]
/// resolve, but the stream stays whole: if the peer reads again, sending works again.
/// When the last clone goes, what is queued is written and the stream is closed.
#[derive(Debug, Clone)]
pub struct FrameWriter {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Unbounded by itself: every entry but the single `Close` holds room in `room`.
    queue: mpsc::UnboundedSender<Entry>,
    room: Arc<Semaphore>,
    price: Price,
    stall: Duration,
    flow: watch::Receiver<Flow>,
    abort: Arc<Notify>,
}

#[derive(Debug)]
enum Entry {
    Frame(Bytes),
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Moving,
    Stalled,
    /// The write half is closed; the value tells why.
    Ended(SendError),
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.room.close();
    }
}

impl FrameWriter {
    /// Starts the writer task on the current runtime.
    pub fn new<W>(sink: W, limits: QueueLimits) -> Self
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let price = Price::of(&limits);
        let (queue, entries) = mpsc::unbounded_channel();
        let room = Arc::new(Semaphore::new(price.total()));
        let (flow_in, flow) = watch::channel(Flow::Moving);
        let abort = Arc::new(Notify::new());
        let worker = Worker {
            sink,
            entries,
            price,
            gauge: Gauge { stall: limits.stall, flow: flow_in, room: room.clone() },
            gathered: Vec::new(),
            spent: 0,
        };
        tokio::spawn(worker.run_until(abort.clone()));
        Self { shared: Arc::new(Shared { queue, room, price, stall: limits.stall, flow, abort }) }
    }

    /// Queues one frame, waiting for room at most [`QueueLimits::stall`].
    ///
    /// Cancel safe: a dropped call has not queued its frame.
    pub async fn send(&self, frame: Bytes) -> Result<(), SendError> {
        if memchr::memchr(b'\n', &frame).is_some() {
            return Err(SendError::RawNewline);
        }
        self.check_flow(*self.shared.flow.borrow())?;
        let cost = self.shared.price.of_frame(frame.len());
        match self.shared.room.try_acquire_many(cost) {
            Ok(permit) => permit.forget(),
            Err(TryAcquireError::NoPermits) => self.wait_for_room(cost).await?,
            Err(TryAcquireError::Closed) => return Err(self.ending()),
        }
        self.shared.queue.send(Entry::Frame(frame)).map_err(|_| self.ending())
    }

    /// Refuses further frames, writes those that are queued, and closes the write half, which the peer sees as
    /// the end of its input. Fails with `Stalled` if the peer does not read; then only [`Self::abort`] helps.
    pub async fn close(&self) -> Result<(), SendError> {
        self.shared.room.close();
        if self.shared.queue.send(Entry::Close).is_err() {
            return self.closed_well();
        }
        let mut flow = self.shared.flow.clone();
        match flow.wait_for(|flow| *flow != Flow::Moving).await {
            Ok(flow) if *flow == Flow::Stalled => Err(SendError::Stalled(self.shared.stall)),
            _ => self.closed_well(),
        }
    }

    /// Closes the write half at once and drops what is queued.
    pub fn abort(&self) {
        self.shared.room.close();
        self.shared.abort.notify_one();
    }

    /// Waits until the peer has left its input unread for [`QueueLimits::stall`] while something was waiting
    /// to be written, or until the write half is closed, and tells which.
    pub async fn stalled(&self) -> SendError {
        let mut flow = self.shared.flow.clone();
        match flow.wait_for(|flow| *flow != Flow::Moving).await.as_deref() {
            Ok(Flow::Stalled) => SendError::Stalled(self.shared.stall),
            Ok(Flow::Ended(why)) => *why,
            Ok(Flow::Moving) | Err(_) => SendError::Finished,
        }
    }

    async fn wait_for_room(&self, cost: u32) -> Result<(), SendError> {
        let room = async {
            tokio::select! {
                biased;
                permit = self.shared.room.acquire_many(cost) => match permit {
                    Ok(permit) => {
                        permit.forget();
                        Ok(())
                    }
                    Err(_) => Err(self.ending()),
                },
                why = self.stalled() => Err(why),
            }
        };
        timeout(self.shared.stall, room).await.unwrap_or(Err(SendError::Stalled(self.shared.stall)))
    }

    fn check_flow(&self, flow: Flow) -> Result<(), SendError> {
        match flow {
            Flow::Moving => Ok(()),
            Flow::Stalled => Err(SendError::Stalled(self.shared.stall)),
            Flow::Ended(why) => Err(why),
        }
    }

    fn ending(&self) -> SendError {
        match *self.shared.flow.borrow() {
            Flow::Ended(why) => why,
            Flow::Moving | Flow::Stalled => SendError::Finished,
        }
    }

    fn closed_well(&self) -> Result<(), SendError> {
        match self.ending() {
            SendError::Finished => Ok(()),
            other => Err(other),
        }
    }
}

/// The only owner of the sink.
struct Worker<W> {
    sink: W,
    entries: mpsc::UnboundedReceiver<Entry>,
    price: Price,
    gauge: Gauge,
    gathered: Vec<u8>,
    /// Room to give back once `gathered` is written.
    spent: usize,
}

/// What the handles see of the worker.
struct Gauge {
    stall: Duration,
    flow: watch::Sender<Flow>,
    room: Arc<Semaphore>,
}

impl<W: AsyncWrite + Unpin> Worker<W> {
    async fn run_until(mut self, abort: Arc<Notify>) {
        let why = tokio::select! {
            biased;
            () = abort.notified() => SendError::Finished,
            result = self.run() => result.err().unwrap_or(SendError::Finished),
        };
        let Self { sink, entries, gauge, .. } = self;
        // Whoever sees the end may rely on the stream being closed, and nobody may wait for room after it.
        drop(sink);
        gauge.flow.send_replace(Flow::Ended(why));
        gauge.room.close();
        drop(entries);
    }

    async fn run(&mut self) -> Result<(), SendError> {
        let mut batch = Vec::with_capacity(TAKE);
        while self.entries.recv_many(&mut batch, TAKE).await > 0 {
            for entry in batch.drain(..) {
                match entry {
                    Entry::Frame(frame) => self.put(&frame).await?,
                    // What was queued meanwhile still comes out of the closed channel.
                    Entry::Close => self.entries.close(),
                }
            }
            self.write_gathered().await?;
            if self.entries.is_empty() {
                self.gauge.patiently(self.sink.flush()).await?;
            }
        }
        self.gauge.patiently(self.sink.shutdown()).await
    }

    async fn put(&mut self, frame: &Bytes) -> Result<(), SendError> {
        let cost = self.price.of_frame(frame.len()) as usize;
        if self.gathered.len() + frame.len() >= GATHER {
            self.write_gathered().await?;
        }
        if frame.len() >= LARGE {
            self.write_gathered().await?;
            self.write(frame).await?;
        } else {
            self.gathered.extend_from_slice(frame);
        }
        self.gathered.push(b'\n');
        self.spent += cost;
        Ok(())
    }

    async fn write_gathered(&mut self) -> Result<(), SendError> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.gathered);
        let written = self.write(&bytes).await;
        self.gathered = bytes;
        self.gathered.clear();
        self.gauge.room.add_permits(std::mem::take(&mut self.spent));
        written
    }

    async fn write(&mut self, mut bytes: &[u8]) -> Result<(), SendError> {
        while !bytes.is_empty() {
            let count = self.gauge.patiently(self.sink.write(bytes)).await?;
            if count == 0 {
                return Err(SendError::Closed(io::ErrorKind::WriteZero));
            }
            bytes = &bytes[count..];
        }
        Ok(())
    }
}

impl Gauge {
    /// Waits for one step of the sink, telling the handles when it takes longer than `stall`. A stall ends the
    /// writer only when nobody can send through it any more: otherwise a server that is merely busy would be lost.
    async fn patiently<T>(&self, step: impl Future<Output = io::Result<T>>) -> Result<T, SendError> {
        let mut step = pin!(step);
        loop {
            match timeout(self.stall, step.as_mut()).await {
                Ok(result) => {
                    self.show(Flow::Moving);
                    return result.map_err(|error| SendError::Closed(error.kind()));
                }
                Err(_) => self.show(Flow::Stalled),
            }
            if self.room.is_closed() {
                return Err(SendError::Stalled(self.stall));
            }
        }
    }

    fn show(&self, now: Flow) {
        self.flow.send_if_modified(|flow| std::mem::replace(flow, now) != now);
    }
}
