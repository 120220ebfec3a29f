//! The rest of a body whose request is answered without it.

use super::{reading::Reading, wire::Wire};
use ::http::StatusCode;
use bytes::{Bytes, BytesMut};
use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use trunkline_resilience::Alarm;
use trunkline_transport::framing::{Framing, Taken};

/// How much is passed over, so that the connection can be kept, and how long that may take.
const SHORT: u64 = 64 * 1024;
const A_MOMENT: Duration = Duration::from_secs(5);

/// What nobody reads.
pub(super) struct Remainder {
    framing: Framing,
    input: BytesMut,
    left: u64,
    alarm: Alarm,
}

/// What stands behind it.
pub(super) enum Behind {
    /// The next request, or its beginning, or nothing yet.
    Next(Bytes),
    /// Where that begins cannot be told, or not in time.
    Unknown,
}

impl Remainder {
    /// Whether the connection can go on behind an answer that came before all of the body did.
    pub(super) fn can_be_passed_over(reading: &Reading, answer: StatusCode) -> bool {
        // Who sends too much, or too slowly, would go on with it.
        let stops = matches!(answer, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::REQUEST_TIMEOUT);
        !stops && reading.is_on_its_way() && reading.framing().announced().is_none_or(|left| left <= SHORT)
    }

    pub(super) fn of(reading: Reading) -> Self {
        let (framing, input) = reading.into_rest();
        Self { framing, input, left: SHORT, alarm: Alarm::after(A_MOMENT) }
    }

    pub(super) fn poll(&mut self, wire: &mut Wire, cx: &mut Context<'_>) -> Poll<io::Result<Behind>> {
        loop {
            match self.framing.take(&mut self.input) {
                Ok(Taken::Data(data)) if data.len() as u64 <= self.left => self.left -= data.len() as u64,
                Ok(Taken::End) => {
                    return Poll::Ready(Ok(Behind::Next(std::mem::take(&mut self.input).freeze())));
                }
                Ok(Taken::Nothing) => {
                    if Pin::new(&mut self.alarm).poll(cx).is_ready()
                        || ready!(wire.poll_read_on(&mut self.input, self.framing.announced(), cx))? == 0
                    {
                        return Poll::Ready(Ok(Behind::Unknown));
                    }
                }
                Ok(Taken::Data(_)) | Err(_) => return Poll::Ready(Ok(Behind::Unknown)),
            }
        }
    }
}
