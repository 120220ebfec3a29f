//! A request's body on its way to whoever reads it.

use super::{Broken, head::Expects, incoming::Arriving, wire::Wire};
use bytes::{Bytes, BytesMut};
use std::{
    sync::Arc,
    task::{Context, Poll, ready},
};
use trunkline_transport::framing::{BadFraming, Framing, Taken};

/// Says that the body is welcome.
const CONTINUE: Bytes = Bytes::from_static(b"HTTP/1.1 100 Continue\r\n\r\n");

/// A body that was not there with its head. Nothing of it is read before it is asked for.
pub(super) struct Reading {
    framing: Framing,
    to: Arc<Arriving>,
    input: BytesMut,
    expects: Expects,
    broken: bool,
    /// How much is read at most, and how much was.
    limit: u64,
    passed: u64,
}

/// What came of looking after the body.
pub(super) enum Fed {
    /// There is something new to read.
    More,
    /// All of it was handed over. This came behind it.
    End(Bytes),
}

impl Reading {
    pub(super) fn new(framing: Framing, input: Bytes, expects: Expects, limit: usize) -> Self {
        let to = Arriving::new(framing.announced());
        Self { framing, to, input: input.into(), expects, broken: false, limit: limit as u64, passed: 0 }
    }

    pub(super) fn framing(&self) -> &Framing {
        &self.framing
    }

    /// Whether the rest of it comes, as far as can be told: it was fine so far, and its sender does not wait to be asked for it.
    pub(super) fn is_on_its_way(&self) -> bool {
        !self.broken && self.expects == Expects::Nothing
    }

    /// What is left of it, and what of that is there.
    pub(super) fn into_rest(self) -> (Framing, BytesMut) {
        (self.framing, self.input)
    }

    pub(super) fn reader(&self) -> Arc<Arriving> {
        self.to.clone()
    }

    /// Hands over the next piece, if somebody waits for it.
    pub(super) fn poll(&mut self, wire: &mut Wire, cx: &mut Context<'_>) -> Poll<Result<Fed, Broken>> {
        loop {
            if self.broken || Arc::strong_count(&self.to) == 1 || !self.to.is_wanted() {
                return Poll::Pending;
            }
            match self.framing.take(&mut self.input) {
                Ok(Taken::Data(data)) => {
                    self.passed += data.len() as u64;
                    self.to.put(Ok(data));
                    return Poll::Ready(Ok(if self.framing.is_over() { self.end() } else { Fed::More }));
                }
                Ok(Taken::End) => return Poll::Ready(Ok(self.end())),
                Ok(Taken::Nothing) if self.is_too_much() => return Poll::Ready(Ok(Fed::More)),
                Ok(Taken::Nothing) => {}
                Err(error) => return Poll::Ready(Ok(self.fail(error))),
            }
            if std::mem::replace(&mut self.expects, Expects::Nothing) == Expects::Continue {
                wire.outbox.add(CONTINUE);
            }
            ready!(wire.poll_flush(cx))?;
            if ready!(wire.poll_read_on(&mut self.input, self.framing.announced(), cx))? == 0 {
                return Poll::Ready(Ok(self.fail(BadFraming::Early)));
            }
        }
    }

    /// Tells the reader once, if more is said to come than it takes.
    fn is_too_much(&mut self) -> bool {
        let least = self.framing.at_least();
        let too_much = self.passed.saturating_add(least) > self.limit;
        if too_much {
            self.limit = u64::MAX;
            self.to.expect(least);
        }
        too_much
    }

    fn end(&mut self) -> Fed {
        self.to.end();
        Fed::End(std::mem::take(&mut self.input).freeze())
    }

    fn fail(&mut self, error: BadFraming) -> Fed {
        self.broken = true;
        self.to.put(Err(error));
        Fed::More
    }
}
