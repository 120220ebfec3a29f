//! The body of a request: usually received with its head, otherwise handed over piece by piece.

use crate::framing::FramingError;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use parking_lot::{Mutex, MutexGuard};
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

/// The body as the service reads it.
#[derive(Debug)]
pub enum RequestBody {
    Whole(Bytes),
    Streaming(Arc<BodyChannel>),
}

/// Holds the next piece of a body between the connection and the service.
#[derive(Debug, Default)]
pub struct BodyChannel(Mutex<ChannelState>);

#[derive(Debug, Default)]
struct ChannelState {
    next: Option<Result<Bytes, FramingError>>,
    finished: bool,
    /// The reader that waits for the next piece.
    reader: Option<Waker>,
    /// Bytes to come, with a `Content-Length`.
    remaining: Option<u64>,
    /// Bytes certain to come, set when they exceed the limit of a body.
    at_least: u64,
}

impl BodyChannel {
    pub(super) fn new(remaining: Option<u64>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(ChannelState { remaining, ..ChannelState::default() })))
    }

    /// True if the reader waits. Nothing is read from the client before.
    pub(super) fn is_wanted(&self) -> bool {
        let state = self.state();
        state.reader.is_some() && state.next.is_none() && !state.finished
    }

    pub(super) fn put(&self, next: Result<Bytes, FramingError>) {
        let mut state = self.state();
        state.finished |= next.is_err();
        state.next = Some(next);
        state.wake();
    }

    /// Tells the reader that at least so many bytes will come.
    pub(super) fn announce(&self, at_least: u64) {
        let mut state = self.state();
        state.at_least = at_least;
        state.wake();
    }

    /// The body ends after the last piece that was put.
    pub(super) fn finish(&self) {
        let mut state = self.state();
        state.finished = true;
        state.wake();
    }

    fn state(&self) -> MutexGuard<'_, ChannelState> {
        self.0.lock()
    }
}

impl ChannelState {
    fn wake(&mut self) {
        if let Some(waker) = self.reader.take() {
            waker.wake();
        }
    }
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = FramingError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, FramingError>>> {
        let channel = match &mut *self {
            Self::Whole(bytes) if bytes.is_empty() => return Poll::Ready(None),
            Self::Whole(bytes) => return Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Streaming(channel) => channel,
        };
        let mut state = channel.state();
        match state.next.take() {
            Some(next) => {
                if let (Some(remaining), Ok(data)) = (&mut state.remaining, &next) {
                    *remaining = remaining.saturating_sub(data.len() as u64);
                }
                Poll::Ready(Some(next.map(Frame::data)))
            }
            None if state.finished => Poll::Ready(None),
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Streaming(channel) => {
                let state = channel.state();
                let mut hint = state.remaining.map_or_else(SizeHint::new, SizeHint::with_exact);
                if state.remaining.is_none() {
                    hint.set_lower(state.at_least);
                }
                hint
            }
        }
    }
}
