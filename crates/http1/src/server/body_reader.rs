//! Reads a request body that did not arrive with its head: hands it to the service, or skips it.

use super::{
    connection::ConnectionError,
    head::Expect,
    io::BufferedIo,
    request_body::{BodyChannel, RequestBody},
};
use crate::framing::{Decoded, Framing, FramingError};
use ::http::StatusCode;
use bytes::{Bytes, BytesMut};
use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_resilience::Deadline;

const CONTINUE: Bytes = Bytes::from_static(b"HTTP/1.1 100 Continue\r\n\r\n");

/// Most bytes of an unread body that are skipped to keep its connection, and the time for it.
const SKIP_LIMIT: u64 = 64 * 1024;
const SKIP_TIMEOUT: Duration = Duration::from_secs(5);

/// Nothing is read before the service asks for it.
pub(super) struct BodyReader {
    framing: Framing,
    to: Arc<BodyChannel>,
    input: BytesMut,
    expect: Expect,
    failed: bool,
    max_body: u64,
    received: u64,
}

/// An unread body that is skipped after its response.
pub(super) struct SkippedBody {
    framing: Framing,
    input: BytesMut,
    left: u64,
    timeout: Deadline,
}

/// The result of handing on a part of the body.
pub(super) enum Fed {
    More,
    /// All of it was handed over; these bytes follow it.
    End(Bytes),
}

/// The result of skipping a body.
pub(super) enum Skipped {
    /// The bytes that follow it.
    End(Bytes),
    /// It is invalid, too long or too slow: the connection cannot be kept.
    GivenUp,
}

impl BodyReader {
    pub(super) fn new(framing: Framing, input: Bytes, expect: Expect, max_body: usize) -> Self {
        let to = BodyChannel::new(framing.remaining());
        let max_body = max_body as u64;
        Self { framing, to, input: input.into(), expect, failed: false, max_body, received: 0 }
    }

    pub(super) fn body(&self) -> RequestBody {
        RequestBody::Streaming(self.to.clone())
    }

    /// True if the connection can be kept when this body stays unread.
    pub(super) fn can_be_skipped(&self, response: StatusCode) -> bool {
        // A client that sends too much or too slowly would go on doing so; one that waits for
        // `100 Continue` may or may not send the body.
        !matches!(response, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT)
            && !self.failed
            && self.expect == Expect::Nothing
            && self.framing.remaining().is_none_or(|left| left <= SKIP_LIMIT)
    }

    pub(super) fn skip(self) -> SkippedBody {
        let Self { framing, input, .. } = self;
        SkippedBody { framing, input, left: SKIP_LIMIT, timeout: Deadline::after(SKIP_TIMEOUT) }
    }

    /// Hands over the next piece if the service waits for it.
    pub(super) fn poll<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        io: &mut BufferedIo<S>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Fed, ConnectionError>> {
        loop {
            if self.failed || Arc::strong_count(&self.to) == 1 || !self.to.is_wanted() {
                return Poll::Pending;
            }
            match self.framing.decode(&mut self.input) {
                Ok(Decoded::Data(data)) => {
                    self.received += data.len() as u64;
                    self.to.put(Ok(data));
                    return Poll::Ready(Ok(if self.framing.is_finished() { self.end() } else { Fed::More }));
                }
                Ok(Decoded::End) => return Poll::Ready(Ok(self.end())),
                Ok(Decoded::NeedMore) if self.announce_excess() => return Poll::Ready(Ok(Fed::More)),
                Ok(Decoded::NeedMore) => {}
                Err(error) => return Poll::Ready(Ok(self.fail(error))),
            }
            if std::mem::replace(&mut self.expect, Expect::Nothing) == Expect::Continue {
                io.output.push(CONTINUE);
            }
            ready!(io.poll_flush(cx))?;
            if ready!(io.poll_read_body(&mut self.input, self.framing.remaining(), cx))? == 0 {
                return Poll::Ready(Ok(self.fail(FramingError::Truncated)));
            }
        }
    }

    /// Tells the service once if more is certain to come than it accepts.
    fn announce_excess(&mut self) -> bool {
        let at_least = self.framing.at_least();
        let exceeds = self.received.saturating_add(at_least) > self.max_body;
        if exceeds {
            self.max_body = u64::MAX;
            self.to.announce(at_least);
        }
        exceeds
    }

    fn end(&mut self) -> Fed {
        self.to.finish();
        Fed::End(std::mem::take(&mut self.input).freeze())
    }

    fn fail(&mut self, error: FramingError) -> Fed {
        self.failed = true;
        self.to.put(Err(error));
        Fed::More
    }
}

impl SkippedBody {
    pub(super) fn poll<S: AsyncRead + AsyncWrite + Unpin>(
        &mut self,
        io: &mut BufferedIo<S>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Skipped>> {
        loop {
            match self.framing.decode(&mut self.input) {
                Ok(Decoded::Data(data)) if data.len() as u64 <= self.left => self.left -= data.len() as u64,
                Ok(Decoded::End) => {
                    return Poll::Ready(Ok(Skipped::End(std::mem::take(&mut self.input).freeze())));
                }
                Ok(Decoded::NeedMore) => {
                    if Pin::new(&mut self.timeout).poll(cx).is_ready()
                        || ready!(io.poll_read_body(&mut self.input, self.framing.remaining(), cx))? == 0
                    {
                        return Poll::Ready(Ok(Skipped::GivenUp));
                    }
                }
                Ok(Decoded::Data(_)) | Err(_) => return Poll::Ready(Ok(Skipped::GivenUp)),
            }
        }
    }
}
