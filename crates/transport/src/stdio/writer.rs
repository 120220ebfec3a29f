//! A shared handle that queues frames for one writer task, which sends many of them with few
//! writes.

use std::{future::poll_fn, io, pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use thiserror::Error;
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::{Notify, watch},
};
use trunkline_resilience::{OutOfMemory, hold, timeout};

use super::{
    queue::{Flow, Load, Piece, Put, Queue, Text},
    queue_limits::{Price, QueueLimits},
};

/// A buffer larger than this is freed instead of reused.
const KEEP: usize = 128 * 1024;

/// The reason why a frame was not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SendError {
    /// The peer closed its end, or it broke.
    #[error("the peer closed its input ({0})")]
    Closed(io::ErrorKind),
    /// This side closed the writer.
    #[error("this side closed the peer's input")]
    Finished,
    /// The peer reads nothing, or too slowly.
    #[error("the peer did not read its input for {0:?}")]
    Stalled(Duration),
    /// The frame contains a newline and would be read as two; the caller must remove it.
    #[error("a frame must not contain a newline")]
    RawNewline,
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

/// The reason why a frame was not queued immediately.
#[derive(Debug, Error)]
pub enum TrySendError {
    /// The queue is full; returns the frame. [`FrameWriter::send`] would wait.
    #[error("the write queue is full")]
    Full(Bytes),
    /// Waiting would not help.
    #[error(transparent)]
    Refused(SendError),
}

/// Writes frames, one line each, to a peer. Clones share one queue and one order.
///
/// A send completes when the frame is queued, not when the peer has read it. If the peer does not
/// read for [`QueueLimits::stall`], every send fails with [`SendError::Stalled`] and
/// [`Self::stalled`] resolves, but the stream stays intact: if the peer reads again, sending works
/// again. When the last clone is dropped, the queued frames are written and the stream is closed.
#[derive(Debug, Clone)]
pub struct FrameWriter {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    queue: Arc<Queue>,
    stall: Duration,
    /// Wakes waiting calls on a change; the current value is in the queue.
    flow: watch::Receiver<Flow>,
    abort: Arc<Notify>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl FrameWriter {
    /// Starts the writer task on the current runtime.
    pub fn new<W>(sink: W, limits: QueueLimits) -> Self
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let queue = Arc::new(Queue::new(Price::of(&limits)));
        let (flow_in, flow) = watch::channel(Flow::Moving);
        let abort = Arc::new(Notify::new());
        let publisher = FlowPublisher { stall: limits.stall, flow: flow_in, queue: queue.clone() };
        let worker = Worker { sink, publisher, spare: Vec::new() };
        tokio::spawn(worker.run_until(abort.clone()));
        Self { shared: Arc::new(Shared { queue, stall: limits.stall, flow, abort }) }
    }

    /// Queues one frame, waiting for room at most [`QueueLimits::stall`].
    ///
    /// Cancel safe: a dropped call has not queued its frame.
    pub async fn send(&self, frame: Bytes) -> Result<(), SendError> {
        match self.try_send(frame) {
            Ok(()) => Ok(()),
            Err(TrySendError::Refused(why)) => Err(why),
            // Boxed, so that the rare wait does not enlarge the future of every send.
            Err(TrySendError::Full(frame)) => Box::pin(self.send_later(frame)).await,
        }
    }

    /// Queues one frame if there is room for it now.
    pub fn try_send(&self, frame: Bytes) -> Result<(), TrySendError> {
        if memchr::memchr(b'\n', &frame).is_some() {
            return Err(TrySendError::Refused(SendError::RawNewline));
        }
        let frame = hold(frame).map_err(|full| TrySendError::Refused(full.into()))?;
        match self.shared.queue.try_put(frame) {
            Ok(Put::Taken) => Ok(()),
            Ok(Put::Full(frame)) => Err(TrySendError::Full(frame)),
            Err(flow) => Err(TrySendError::Refused(self.refusal(flow))),
        }
    }

    /// Refuses further frames, writes the queued ones, and closes the write half, which the peer
    /// sees as EOF. Fails with `Stalled` if the peer does not read; then only [`Self::abort`]
    /// helps.
    pub async fn close(&self) -> Result<(), SendError> {
        self.shared.queue.close();
        let mut flow = self.shared.flow.clone();
        match flow.wait_for(|flow| *flow != Flow::Moving).await {
            Ok(flow) if *flow == Flow::Stalled => Err(SendError::Stalled(self.shared.stall)),
            _ => self.closed_well(),
        }
    }

    /// Closes the write half at once and drops the queued frames.
    pub fn abort(&self) {
        self.shared.queue.room.close();
        self.shared.abort.notify_one();
    }

    /// Waits until the write half is closed, by the peer or by this side.
    pub async fn ended(&self) -> SendError {
        let mut flow = self.shared.flow.clone();
        match flow.wait_for(|flow| matches!(flow, Flow::Ended(_))).await.as_deref() {
            Ok(Flow::Ended(why)) => *why,
            Ok(Flow::Moving | Flow::Stalled) | Err(_) => SendError::Finished,
        }
    }

    /// Waits until the peer has not read for [`QueueLimits::stall`] while frames were queued, or
    /// until the write half is closed. Returns which of them happened.
    pub async fn stalled(&self) -> SendError {
        let mut flow = self.shared.flow.clone();
        match flow.wait_for(|flow| *flow != Flow::Moving).await.as_deref() {
            Ok(Flow::Stalled) => SendError::Stalled(self.shared.stall),
            Ok(Flow::Ended(why)) => *why,
            Ok(Flow::Moving) | Err(_) => SendError::Finished,
        }
    }

    async fn send_later(&self, frame: Bytes) -> Result<(), SendError> {
        let queue = &self.shared.queue;
        let room = async {
            tokio::select! {
                biased;
                permit = queue.room.acquire_many(queue.cost_of(&frame)) => match permit {
                    Ok(permit) => {
                        permit.forget();
                        Ok(())
                    }
                    Err(_) => Err(self.refusal(queue.flow())),
                },
                why = self.stalled() => Err(why),
            }
        };
        let stalled = SendError::Stalled(self.shared.stall);
        timeout(self.shared.stall, room).await.unwrap_or(Err(stalled))?;
        queue.put(frame).map(drop).map_err(|flow| self.refusal(flow))
    }

    /// The error of a send in this state.
    fn refusal(&self, flow: Flow) -> SendError {
        match flow {
            Flow::Moving => SendError::Finished,
            Flow::Stalled => SendError::Stalled(self.shared.stall),
            Flow::Ended(why) => why,
        }
    }

    fn closed_well(&self) -> Result<(), SendError> {
        match self.shared.queue.flow() {
            Flow::Ended(SendError::Finished) | Flow::Moving | Flow::Stalled => Ok(()),
            Flow::Ended(other) => Err(other),
        }
    }
}

/// The only owner of the sink.
struct Worker<W> {
    sink: W,
    publisher: FlowPublisher,
    /// The buffer of the last piece, for reuse.
    spare: Vec<u8>,
}

/// Publishes the worker's state to the handles.
struct FlowPublisher {
    stall: Duration,
    flow: watch::Sender<Flow>,
    queue: Arc<Queue>,
}

impl<W: AsyncWrite + Unpin> Worker<W> {
    async fn run_until(mut self, abort: Arc<Notify>) {
        let why = tokio::select! {
            biased;
            () = abort.notified() => SendError::Finished,
            result = self.run() => result.err().unwrap_or(SendError::Finished),
        };
        let Self { sink, publisher, .. } = self;
        // Closed before the end is published, so that callers can rely on it. Closing the queue
        // then wakes all that wait for room.
        drop(sink);
        publisher.set_flow(Flow::Ended(why));
        publisher.queue.close();
    }

    async fn run(&mut self) -> Result<(), SendError> {
        let queue = self.publisher.queue.clone();
        loop {
            match poll_fn(|cx| queue.poll_load(cx)).await {
                // Let other tasks run, which may queue more frames for the same write.
                Load::One => tokio::task::yield_now().await,
                Load::Several => {}
                Load::Nothing => break,
            }
            while let Some(Piece { text, cost }) = queue.take(&mut self.spare) {
                self.write(text.as_ref()).await?;
                queue.room.add_permits(cost);
                if let Text::Gathered(mut text) = text
                    && text.capacity() <= KEEP
                {
                    text.clear();
                    self.spare = text;
                }
            }
            self.publisher.watch_stall(self.sink.flush()).await?;
        }
        self.publisher.watch_stall(self.sink.shutdown()).await
    }

    async fn write(&mut self, mut bytes: &[u8]) -> Result<(), SendError> {
        while !bytes.is_empty() {
            let count = self.publisher.watch_stall(self.sink.write(bytes)).await?;
            if count == 0 {
                return Err(SendError::Closed(io::ErrorKind::WriteZero));
            }
            bytes = &bytes[count..];
        }
        Ok(())
    }
}

impl FlowPublisher {
    /// Waits for one operation of the sink, and publishes a stall if it takes longer than `stall`.
    /// A stall ends the writer only if the queue is closed; otherwise the peer may just be busy.
    async fn watch_stall<T>(&self, step: impl Future<Output = io::Result<T>>) -> Result<T, SendError> {
        let mut step = pin!(step);
        loop {
            match timeout(self.stall, step.as_mut()).await {
                Some(result) => {
                    self.set_flow(Flow::Moving);
                    return result.map_err(|error| SendError::Closed(error.kind()));
                }
                None => self.set_flow(Flow::Stalled),
            }
            if self.queue.room.is_closed() {
                return Err(SendError::Stalled(self.stall));
            }
        }
    }

    fn set_flow(&self, now: Flow) {
        if self.queue.set_flow(now) {
            self.flow.send_replace(now);
        }
    }
}
