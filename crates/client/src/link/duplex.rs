//! A line that all messages share: a pipe to a process, or HTTP+SSE.

use super::{OnDrop, Outbound, cancellations::Cancellations};
use crate::{
    frame_tap::{Direction, FrameTap},
    inbox::{Arrival, Loss, LossKind},
    switchboard::{Outlet, Switchboard, Ticket},
};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};
use tokio::{sync::Mutex as AsyncMutex, task::AbortHandle};
use trunkline_process::GracePeriods;
use trunkline_protocol::{Envelope, Fault, FaultKind, Notification, Object, Raw, Revision, method};
use trunkline_resilience::timeout;
use trunkline_transport::{
    child::ChildProcess,
    legacy_sse,
    stdio::{FrameWriter, TrySendError},
};

/// The process behind a line, where there is one.
pub(crate) struct Process {
    pub(crate) child: ChildProcess,
    pub(crate) patience: GracePeriods,
}

pub(crate) struct Duplex {
    board: Arc<Switchboard>,
    sender: Sender,
    tap: Option<FrameTap>,
    /// True if the negotiated revision has batches.
    batches: AtomicBool,
    process: AsyncMutex<Option<Process>>,
    reader: Mutex<Option<AbortHandle>>,
    cancellations: Cancellations,
}

pub(super) enum Sender {
    Pipe(FrameWriter),
    Sse(legacy_sse::Sender),
}

impl Duplex {
    pub(super) fn new(
        board: Arc<Switchboard>,
        sender: Sender,
        tap: Option<FrameTap>,
        process: Option<Process>,
    ) -> Arc<Self> {
        Arc::new(Self {
            board,
            sender,
            tap,
            batches: AtomicBool::new(false),
            process: AsyncMutex::new(process),
            reader: Mutex::default(),
            cancellations: Cancellations::default(),
        })
    }

    pub(super) fn board(&self) -> &Arc<Switchboard> {
        &self.board
    }

    pub(super) fn attach(&self, reader: AbortHandle) {
        *self.reader.lock() = Some(reader);
    }

    pub(super) fn settle(&self, revision: Revision) {
        self.batches.store(revision.has_batches(), Ordering::Relaxed);
    }

    pub(super) async fn send(&self, envelope: &Envelope) -> Result<(), Fault> {
        let frame = envelope.to_line();
        FrameTap::observe(self.tap.as_ref(), Direction::Sent, &frame);
        self.deliver(frame).await
    }

    async fn deliver(&self, frame: Bytes) -> Result<(), Fault> {
        match &self.sender {
            Sender::Pipe(writer) => writer.send(frame).await.map_err(|e| super::report::fault_of_send(&e)),
            // Boxed, so that the future of a pipe call is not as large as that of a POST.
            Sender::Sse(sender) => {
                Box::pin(sender.send(frame)).await.map_err(|e| super::report::fault_of_http(&e))
            }
        }
    }

    /// True if a frame may reach the server although its sending was cancelled: a pipe writes a
    /// frame whole or not at all, but a POST in flight may have arrived.
    fn may_deliver_unfinished(&self) -> bool {
        match &self.sender {
            Sender::Pipe(_) => false,
            Sender::Sse(_) => true,
        }
    }

    /// Sends answers to the server's questions. It does not keep the line alive.
    pub(super) fn outlet(self: &Arc<Self>) -> Outlet {
        let link = Arc::downgrade(self);
        Arc::new(move |envelope| {
            let link = link.upgrade();
            Box::pin(async move {
                let closed = || Fault::new(FaultKind::NotReady, "the connection is closed");
                link.ok_or_else(closed)?.send(&envelope).await
            })
        })
    }

    /// Dispatches a frame from the server.
    pub(super) fn receive(&self, frame: &Bytes, outlet: &Outlet) {
        FrameTap::observe(self.tap.as_ref(), Direction::Received, frame);
        super::dispatch(&self.board, frame, outlet, || self.batches.load(Ordering::Relaxed));
    }

    pub(super) fn skip_noise(&self, line: &[u8]) {
        self.board.count_noise();
        FrameTap::observe(self.tap.as_ref(), Direction::Noise, line);
    }

    pub(super) async fn close(&self) {
        self.cancellations.flush().await;
        self.board.lose(&Fault::new(FaultKind::NotReady, "the connection was closed"));
        if let Some(process) = self.process.lock().await.take() {
            let ending = process.child.shutdown(process.patience).await;
            tracing::debug!(?ending, "the server's process has ended");
        }
        if let Some(reader) = self.reader.lock().take() {
            reader.abort();
        }
    }

    /// The exit status of the process and its last error output; `None` if there is no process.
    pub(super) async fn exit_report(&self) -> Option<String> {
        let process = self.process.lock().await;
        let child = &process.as_ref()?.child.process;
        let ending = child.wait().await;
        Some(super::report::exit_report(ending, child.stderr()))
    }
}

impl Drop for Duplex {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.get_mut().take() {
            reader.abort();
        }
    }
}

/// One request on a shared line.
pub(crate) struct DuplexCall {
    link: Arc<Duplex>,
    ticket: Ticket,
    on_drop: OnDrop,
    stage: SendStage,
}

/// The sending state of a request.
enum SendStage {
    /// Not sent; the server cannot have received it.
    Unsent(Bytes),
    /// Waiting for room in the pipe, or being sent.
    Sending(BoxFuture<'static, Result<(), Fault>>),
    /// Sent; waiting for the response.
    Open,
    /// Could not be sent; waits a moment for the reason of the loss.
    Failing(BoxFuture<'static, Arrival>),
    Done,
}

impl DuplexCall {
    pub(super) fn new(link: &Arc<Duplex>, outbound: Outbound) -> Self {
        let ticket = link.board.expect(outbound.request.id.clone(), outbound.standing);
        let frame = Envelope::from(outbound.request).to_line();
        Self { link: link.clone(), ticket, on_drop: outbound.on_drop, stage: SendStage::Unsent(frame) }
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Arrival> {
        loop {
            match &mut self.stage {
                SendStage::Unsent(frame) => {
                    let frame = std::mem::take(frame);
                    self.stage = self.begin(frame);
                }
                SendStage::Sending(sending) => {
                    self.stage = match ready!(sending.as_mut().poll(cx)) {
                        Ok(()) => SendStage::Open,
                        Err(fault) => self.failing(fault),
                    };
                }
                SendStage::Failing(failing) => {
                    let arrival = ready!(failing.as_mut().poll(cx));
                    self.stage = SendStage::Done;
                    return Poll::Ready(arrival);
                }
                SendStage::Open | SendStage::Done => {
                    let arrival = ready!(self.ticket.poll_next(cx));
                    if arrival.is_last() {
                        self.stage = SendStage::Done;
                    }
                    return Poll::Ready(arrival);
                }
            }
        }
    }

    /// Sends the request, immediately if the pipe's queue has room.
    fn begin(&self, frame: Bytes) -> SendStage {
        let link = &self.link;
        FrameTap::observe(link.tap.as_ref(), Direction::Sent, &frame);
        let frame = match &link.sender {
            Sender::Pipe(writer) => match writer.try_send(frame) {
                Ok(()) => return SendStage::Open,
                Err(TrySendError::Refused(why)) => return self.failing(super::report::fault_of_send(&why)),
                Err(TrySendError::Full(frame)) => frame,
            },
            Sender::Sse(_) => frame,
        };
        let link = link.clone();
        SendStage::Sending(Box::pin(async move { link.deliver(frame).await }))
    }

    /// After a failed write the line is usually lost, and the reason of that loss is more specific
    /// than the write error. So we wait for it a moment.
    fn failing(&self, fault: Fault) -> SendStage {
        let inbox = self.ticket.inbox.clone();
        SendStage::Failing(Box::pin(async move {
            match timeout(super::pipe::EXIT_WAIT, inbox.next()).await {
                Some(arrival @ Arrival::Lost(_)) => arrival,
                _ => Arrival::Lost(Loss { fault, how: LossKind::Line }),
            }
        }))
    }

    /// True if the server may have received the request and still works on it.
    fn may_be_processed(&self) -> bool {
        match &self.stage {
            SendStage::Open => true,
            SendStage::Sending(_) => self.link.may_deliver_unfinished(),
            SendStage::Unsent(_) | SendStage::Failing(_) | SendStage::Done => false,
        }
    }
}

impl Drop for DuplexCall {
    fn drop(&mut self) {
        if !self.may_be_processed() || self.on_drop == OnDrop::Leave {
            return;
        }
        let mut params = Object::new();
        params.set("requestId", self.ticket.id.raw().clone());
        params.set("reason", Raw::string("the caller no longer waits"));
        let notification = Notification::new(method::CANCELLED, Some(params.to_raw()));
        let link = self.link.clone();
        self.link.cancellations.send(async move { link.send(&notification.into()).await });
    }
}
