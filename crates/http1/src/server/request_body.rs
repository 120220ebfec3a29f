//! The body of a request: there from the beginning, as nearly always, or handed over piece by piece while it arrives.

use crate::session::lock;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};
use trunkline_transport::framing::BadFraming;

/// What whoever answers a request reads.
pub(crate) enum Incoming {
    Whole(Bytes),
    Arriving(Arc<Arriving>),
}

/// Where the connection puts the next piece once it is asked for.
#[derive(Debug, Default)]
pub(crate) struct Arriving(Mutex<Piece>);

#[derive(Debug, Default)]
struct Piece {
    next: Option<Result<Bytes, BadFraming>>,
    over: bool,
    /// Whoever waits for it.
    wanted: Option<Waker>,
    /// What is to come, where that was said.
    announced: Option<u64>,
    /// What is to come at least, where it is more than is taken.
    least: u64,
}

impl Arriving {
    pub(super) fn new(announced: Option<u64>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Piece { announced, ..Piece::default() })))
    }

    /// Whether somebody waits for a piece.
    pub(super) fn is_wanted(&self) -> bool {
        let piece = lock(&self.0);
        piece.wanted.is_some() && piece.next.is_none() && !piece.over
    }

    pub(super) fn put(&self, next: Result<Bytes, BadFraming>) {
        let mut piece = lock(&self.0);
        piece.over |= next.is_err();
        piece.next = Some(next);
        piece.wake();
    }

    /// So much comes at least.
    pub(super) fn expect(&self, least: u64) {
        let mut piece = lock(&self.0);
        piece.least = least;
        piece.wake();
    }

    /// Nothing comes behind what was put.
    pub(super) fn end(&self) {
        let mut piece = lock(&self.0);
        piece.over = true;
        piece.wake();
    }
}

impl Piece {
    fn wake(&mut self) {
        if let Some(waker) = self.wanted.take() {
            waker.wake();
        }
    }
}

impl http_body::Body for Incoming {
    type Data = Bytes;
    type Error = BadFraming;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BadFraming>>> {
        let arriving = match &mut *self {
            Self::Whole(bytes) if bytes.is_empty() => return Poll::Ready(None),
            Self::Whole(bytes) => return Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Arriving(arriving) => arriving,
        };
        let mut piece = lock(&arriving.0);
        match piece.next.take() {
            Some(next) => {
                if let (Some(announced), Ok(data)) = (&mut piece.announced, &next) {
                    *announced = announced.saturating_sub(data.len() as u64);
                }
                Poll::Ready(Some(next.map(Frame::data)))
            }
            None if piece.over => Poll::Ready(None),
            None => {
                piece.wanted = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Arriving(arriving) => {
                let piece = lock(&arriving.0);
                let mut hint = piece.announced.map_or_else(SizeHint::new, SizeHint::with_exact);
                if piece.announced.is_none() {
                    hint.set_lower(piece.least);
                }
                hint
            }
        }
    }
}
