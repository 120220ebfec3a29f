//! Event streams: chunk boundaries must not matter, and the decoder's memory is bounded.
//!
//! The first line of an input gives the chunk lengths, see [`cutting`](super::cutting).

use super::cutting::{cut, cutting};
use bytes::{Bytes, BytesMut};
use trunkline_transport::sse::{Decoder, Event, EventError, Line, encode};

const LIMITS: [usize; 3] = [8, 64, 1 << 20];
/// Maximum length of a decoder's `Debug` output besides its buffered text.
const SHOWN: usize = 1024;

pub fn holds(data: &[u8]) {
    let (lengths, stream) = cutting(data);
    for limit in LIMITS {
        let whole = decode([stream.clone()], limit);
        assert_eq!(decode(cut(&stream, lengths), limit), whole, "cut as the input says, limit {limit}");
        assert_eq!(decode(cut(&stream, &[1]), limit), whole, "cut at every byte, limit {limit}");
        assert_eq!(decode_late(cut(&stream, lengths), limit), whole, "taken at the end, limit {limit}");
        for event in &whole.0 {
            assert!(size(event) <= limit);
            comes_back(event);
        }
    }
}

/// The decoded events, and the final result.
type Read = (Vec<Event>, Result<(), EventError>);

fn decode(chunks: impl IntoIterator<Item = Bytes>, limit: usize) -> Read {
    let mut decoder = Decoder::new(limit);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.push(chunk);
        let end = take(&mut decoder, &mut events);
        if end.is_err() {
            assert!(decoder.next().is_err(), "a stream that failed stays failed");
            return (events, end);
        }
    }
    // The decoder buffers an unfinished line and an unfinished event; `Debug` prints a byte with
    // at most four characters. A check at the end is enough, as every prefix of a stream is a
    // stream.
    assert!(format!("{decoder:?}").len() <= limit.saturating_mul(2 * 4).saturating_add(SHOWN));
    (events, Ok(()))
}

fn decode_late(chunks: impl IntoIterator<Item = Bytes>, limit: usize) -> Read {
    let mut decoder = Decoder::new(limit);
    chunks.into_iter().for_each(|chunk| decoder.push(chunk));
    let mut events = Vec::new();
    let end = take(&mut decoder, &mut events);
    (events, end)
}

fn take(decoder: &mut Decoder, events: &mut Vec<Event>) -> Result<(), EventError> {
    while let Some(event) = decoder.next()? {
        events.push(event);
    }
    Ok(())
}

fn size(event: &Event) -> usize {
    event.data.len() + [&event.id, &event.event].into_iter().flatten().map(Line::len).sum::<usize>()
}

/// Checks that a decoded event survives a round trip.
fn comes_back(event: &Event) {
    let mut written = BytesMut::new();
    encode(event, &mut written);
    let (events, end) = decode([written.freeze()], usize::MAX);
    assert_eq!(end, Ok(()));
    assert_eq!(events, std::slice::from_ref(event));
}
