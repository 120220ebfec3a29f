//! A line that all messages share: a pipe to a process, or HTTP+SSE.

use super::{OnDrop, Outbound, farewell::Farewells};
use crate::{
    frame_tap::{Direction, Tap},
    inbox::{Arrival, Loss, LossKind},
    switchboard::{Outlet, Switchboard, Ticket},
};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
};
use tokio::{sync::Mutex as AsyncMutex, task::AbortHandle};
use trunkline_process::Patience;
use trunkline_protocol::{
    Defect, Envelope, Fault, FaultKind, Frame, Malformed, Notification, Object, Raw, Revision, method,
};
use trunkline_resilience::timeout;
use trunkline_transport::{
    child::ChildProcess,
    legacy_sse,
    stdio::{FrameWriter, TrySendError},
};

/// The process behind a line, where there is one.
pub(crate) struct Process {
    pub(crate) child: ChildProcess,
    pub(crate) patience: Patience,
}

pub(crate) struct Duplex {
    board: Arc<Switchboard>,
    sender: Sender,
    tap: Option<Tap>,
    /// Whether the negotiated revision has batches.
    batches: AtomicBool,
    process: AsyncMutex<Option<Process>>,
    reader: Mutex<Option<AbortHandle>>,
    farewells: Farewells,
}

pub(super) enum Sender {
    Pipe(FrameWriter),
    Sse(legacy_sse::Sender),
}

impl Duplex {
    pub(super) fn new(
        board: Arc<Switchboard>,
        sender: Sender,
        tap: Option<Tap>,
        process: Option<Process>,
    ) -> Arc<Self> {
        Arc::new(Self {
            board,
            sender,
            tap,
            batches: AtomicBool::new(false),
            process: AsyncMutex::new(process),
            reader: Mutex::default(),
            farewells: Farewells::default(),
        })
    }

    pub(super) fn board(&self) -> &Arc<Switchboard> {
        &self.board
    }

    pub(super) fn attach(&self, reader: AbortHandle) {
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(reader);
    }

    pub(super) fn settle(&self, revision: Revision) {
        self.batches.store(revision.has_batches(), Ordering::Relaxed);
    }

    pub(super) async fn send(&self, envelope: &Envelope) -> Result<(), Fault> {
        let frame = envelope.to_line();
        Tap::see(self.tap.as_ref(), Direction::Sent, &frame);
        self.deliver(frame).await
    }

    async fn deliver(&self, frame: Bytes) -> Result<(), Fault> {
        match &self.sender {
            Sender::Pipe(writer) => writer.send(frame).await.map_err(|e| super::report::fault_of_send(&e)),
            // Boxed, so that calls over a pipe need not carry the room for a POST.
            Sender::Sse(sender) => {
                Box::pin(sender.send(frame)).await.map_err(|e| super::report::fault_of_http(&e))
            }
        }
    }

    /// Whether a frame may reach the server although its sending was given up: a pipe takes a frame whole or not at all,
    /// while a POST that is under way may have arrived.
    fn may_deliver_unfinished(&self) -> bool {
        match &self.sender {
            Sender::Pipe(_) => false,
            Sender::Sse(_) => true,
        }
    }

    /// The way answers take. It does not keep the line alive.
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

    /// A frame has arrived.
    pub(super) fn receive(&self, frame: &Bytes, outlet: &Outlet) {
        Tap::see(self.tap.as_ref(), Direction::Received, frame);
        match Frame::parse(frame) {
            Ok(Frame::One(envelope)) => self.board.dispatch(envelope, outlet),
            Ok(Frame::Batch(messages)) if self.batches.load(Ordering::Relaxed) => {
                for message in messages {
                    match message {
                        Ok(envelope) => self.board.dispatch(envelope, outlet),
                        Err(malformed) => self.board.malformed(&malformed),
                    }
                }
            }
            Ok(Frame::Batch(_)) => {
                self.board.malformed(&Malformed { defect: Defect::NotAnObject, offset: 0, id: None });
            }
            Err(malformed) => self.board.malformed(&malformed),
        }
    }

    pub(super) fn hear_noise(&self, line: &[u8]) {
        self.board.count_noise();
        Tap::see(self.tap.as_ref(), Direction::Noise, line);
    }

    pub(super) async fn close(&self) {
        self.farewells.said().await;
        self.board.lose(&Fault::new(FaultKind::NotReady, "the connection was closed"));
        if let Some(process) = self.process.lock().await.take() {
            let departure = process.child.shutdown(process.patience).await;
            tracing::debug!(?departure, "the server's process has ended");
        }
        if let Some(reader) = self.reader.lock().unwrap_or_else(PoisonError::into_inner).take() {
            reader.abort();
        }
    }

    /// How the process ended and what it said last; `None` when there is no process.
    pub(super) async fn obituary(&self) -> Option<String> {
        let process = self.process.lock().await;
        let child = &process.as_ref()?.child.process;
        let ending = child.wait().await;
        Some(super::report::obituary(ending, child.stderr()))
    }
}

impl Drop for Duplex {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            reader.abort();
        }
    }
}

/// One request on a shared line.
pub(crate) struct DuplexCall {
    link: Arc<Duplex>,
    ticket: Ticket,
    on_drop: OnDrop,
    stage: Stage,
}

/// How far a request got.
enum Stage {
    /// The server has certainly not heard of it.
    Unsent(Bytes),
    /// It waits to be taken, or is on its way.
    Sending(BoxFuture<'static, Result<(), Fault>>),
    /// The server has heard of it.
    Open,
    /// It could not be sent, and whoever knows why may still say so.
    Failing(BoxFuture<'static, Arrival>),
    Done,
}

impl DuplexCall {
    pub(super) fn new(link: &Arc<Duplex>, outbound: Outbound) -> Self {
        let ticket = link.board.expect(outbound.request.id.clone(), outbound.standing);
        let frame = Envelope::from(outbound.request).to_line();
        Self { link: link.clone(), ticket, on_drop: outbound.on_drop, stage: Stage::Unsent(frame) }
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Arrival> {
        loop {
            match &mut self.stage {
                Stage::Unsent(frame) => {
                    let frame = std::mem::take(frame);
                    self.stage = self.begin(frame);
                }
                Stage::Sending(sending) => {
                    self.stage = match ready!(sending.as_mut().poll(cx)) {
                        Ok(()) => Stage::Open,
                        Err(fault) => self.failing(fault),
                    };
                }
                Stage::Failing(last_words) => {
                    let arrival = ready!(last_words.as_mut().poll(cx));
                    self.stage = Stage::Done;
                    return Poll::Ready(arrival);
                }
                Stage::Open | Stage::Done => {
                    let arrival = ready!(self.ticket.poll_next(cx));
                    if arrival.is_last() {
                        self.stage = Stage::Done;
                    }
                    return Poll::Ready(arrival);
                }
            }
        }
    }

    /// Sends the request, at once where there is room.
    fn begin(&self, frame: Bytes) -> Stage {
        let link = &self.link;
        Tap::see(link.tap.as_ref(), Direction::Sent, &frame);
        let frame = match &link.sender {
            Sender::Pipe(writer) => match writer.try_send(frame) {
                Ok(()) => return Stage::Open,
                Err(TrySendError::Refused(why)) => return self.failing(super::report::fault_of_send(&why)),
                Err(TrySendError::Full(frame)) => frame,
            },
            Sender::Sse(_) => frame,
        };
        let link = link.clone();
        Stage::Sending(Box::pin(async move { link.deliver(frame).await }))
    }

    /// A line that cannot be written to has mostly been lost already, and the loss says why better than the write does.
    fn failing(&self, fault: Fault) -> Stage {
        let inbox = self.ticket.inbox.clone();
        Stage::Failing(Box::pin(async move {
            match timeout(super::pipe::LAST_WORDS, inbox.next()).await {
                Some(arrival @ Arrival::Lost(_)) => arrival,
                _ => Arrival::Lost(Loss { fault, how: LossKind::Line }),
            }
        }))
    }

    /// Whether the server may have heard of the request and still work on it.
    fn is_heard(&self) -> bool {
        match &self.stage {
            Stage::Open => true,
            Stage::Sending(_) => self.link.may_deliver_unfinished(),
            Stage::Unsent(_) | Stage::Failing(_) | Stage::Done => false,
        }
    }
}

impl Drop for DuplexCall {
    fn drop(&mut self) {
        if !self.is_heard() || self.on_drop == OnDrop::Leave {
            return;
        }
        let mut params = Object::new();
        params.set("requestId", self.ticket.id.raw().clone());
        params.set("reason", Raw::string("the caller no longer waits"));
        let notification = Notification::new(method::CANCELLED, Some(params.to_raw()));
        let link = self.link.clone();
        self.link.farewells.say(async move { link.send(&notification.into()).await });
    }
}
