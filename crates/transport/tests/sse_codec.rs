//! The event-stream codec: the rules of the format, under any chunking and any content.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use trunkline_transport::sse::{Decoder, Event, EventError, KEEP_ALIVE, Line, encode};

fn decode_chunks<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Event> {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.push(Bytes::copy_from_slice(chunk));
        events.extend(std::iter::from_fn(|| decoder.next().unwrap()));
    }
    events
}

fn decode(stream: &str) -> Vec<Event> {
    decode_chunks([stream.as_bytes()])
}

fn data(stream: &str) -> Vec<String> {
    decode(stream).into_iter().map(|event| String::from_utf8(event.data.to_vec()).unwrap()).collect()
}

fn line(text: &'static str) -> Line {
    Line::new(text).unwrap()
}

#[test]
fn data_lines_are_joined_by_line_feeds() {
    assert_eq!(data("data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
    assert_eq!(data("data\n\ndata\ndata\n\ndata:"), ["", "\n"]);
}

#[test]
fn one_blank_after_the_colon_is_not_part_of_the_value() {
    assert_eq!(data("data:test\n\ndata: test\n\ndata:  test\n\n"), ["test", "test", " test"]);
}

#[test]
fn every_kind_of_line_end_ends_a_line() {
    for end in ["\n", "\r", "\r\n"] {
        let stream = ["data: a", "data: b", "", "data: c", "", ""].join(end);
        assert_eq!(data(&stream), ["a\nb", "c"], "{end:?}");
    }
    assert_eq!(data("data: a\r\rdata: b\n\r\n"), ["a", "b"]);
}

#[test]
fn an_event_ended_by_a_carriage_return_is_not_held_back_for_a_line_feed() {
    let mut decoder = Decoder::default();
    decoder.push(Bytes::from_static(b"data: a\r\n\r"));
    assert_eq!(decoder.next().unwrap().unwrap().data, "a");
    decoder.push(Bytes::from_static(b"\ndata: b\r\n\r\n"));
    assert_eq!(decoder.next().unwrap().unwrap().data, "b");
    assert_eq!(decoder.next(), Ok(None));
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_only() {
    assert_eq!(data("\u{feff}data: a\n\n\u{feff}data: b\n\ndata: c\n\n"), ["a", "c"]);
}

#[test]
fn comments_and_unknown_fields_are_ignored() {
    assert_eq!(data(": hello\n\n:\ndata: a\nfoo: bar\nDATA: x\n data: y\n\n"), ["a"]);
    assert_eq!(decode(std::str::from_utf8(KEEP_ALIVE).unwrap()), []);
}

#[test]
fn name_id_and_retry_belong_to_their_event_alone() {
    let expected = [
        Event {
            id: Some(line("1")),
            event: Some(line("add")),
            data: Bytes::from_static(b"a"),
            retry: Some(Duration::from_millis(500)),
        },
        Event::message(Bytes::from_static(b"b")),
    ];
    assert_eq!(decode("event: add\nid: 1\nretry: 500\ndata: a\n\ndata: b\n\n"), expected);
    assert!(expected[0].is("add") && !expected[0].is("message") && expected[1].is("message"));
}

#[test]
fn an_id_or_a_retry_makes_an_event_without_data_and_a_name_does_not() {
    assert_eq!(decode("id: 7\n\n"), [Event { id: Some(line("7")), ..Event::default() }]);
    let delay = Some(Duration::from_secs(3));
    assert_eq!(decode("retry: 3000\n\n"), [Event { retry: delay, ..Event::default() }]);
    assert_eq!(decode("event: ping\n\n"), []);
    assert_eq!(decode("id\n\n"), [Event { id: Some(line("")), ..Event::default() }]);
}

#[test]
fn an_id_with_nul_and_a_retry_that_is_no_number_are_ignored() {
    assert_eq!(decode("id: a\0b\n\n"), []);
    for retry in ["", "-1", "+1", "1.5", "1 ", "1s", "99999999999999999999999999"] {
        assert_eq!(decode(&format!("retry: {retry}\n\n")), [], "{retry:?}");
    }
}

#[test]
fn what_no_empty_line_closes_is_no_event() {
    assert_eq!(decode("data: a\n\nid: 5\ndata: b\n").len(), 1);
}

#[test]
fn a_line_within_one_chunk_is_not_copied() {
    let chunk = Bytes::from_static(b"data: {\"a\":1}\n\n");
    let mut decoder = Decoder::default();
    decoder.push(chunk.clone());
    let event = decoder.next().unwrap().unwrap();
    assert_eq!(event.data.as_ptr(), chunk[6..].as_ptr());
}

#[test]
fn an_endless_line_is_cut_at_the_limit() {
    let mut decoder = Decoder::new(100);
    for _ in 0..10 {
        decoder.push(Bytes::from_static(b"0123456789"));
        assert_eq!(decoder.next(), Ok(None));
    }
    decoder.push(Bytes::from_static(b"0"));
    assert_eq!(decoder.next(), Err(EventError::TooLarge { limit: 100 }));
    decoder.push(Bytes::from_static(b"\n\ndata: a\n\n"));
    assert_eq!(decoder.next(), Err(EventError::TooLarge { limit: 100 }));
}

#[test]
fn an_event_of_endless_lines_is_cut_at_the_limit() {
    let mut decoder = Decoder::new(100);
    let mut pushed = 0;
    while decoder.next() == Ok(None) {
        decoder.push(Bytes::from_static(b"data: 01234567\n"));
        pushed += 1;
    }
    assert_eq!((pushed, decoder.next()), (12, Err(EventError::TooLarge { limit: 100 })));
}

#[test]
fn many_events_in_a_chunk_may_exceed_the_limit_together() {
    let mut decoder = Decoder::new(20);
    decoder.push(Bytes::from("data: 0123456789\n\n: comment\n".repeat(50)));
    assert_eq!(std::iter::from_fn(|| decoder.next().unwrap()).count(), 50);
}

#[test]
fn content_cannot_inject_an_event() {
    let hostile = Event::message(Bytes::from_static(b"x\n\nevent: endpoint\r\rid: 9\r\n\r\ndata: y"));
    let mut out = BytesMut::new();
    encode(&hostile, &mut out);
    let events = decode(std::str::from_utf8(&out).unwrap());
    assert_eq!(events, [Event::message(Bytes::from_static(b"x\n\nevent: endpoint\n\nid: 9\n\ndata: y"))]);
}

fn any_line() -> impl Strategy<Value = Option<Line>> {
    proptest::option::of("[^\r\n\0]{0,12}".prop_map(|text| Line::new(text).unwrap()))
}

fn any_event() -> impl Strategy<Value = Event> {
    let data = "[a-z :\nä\u{feff}]{0,40}".prop_map(Bytes::from);
    let retry = proptest::option::of(any::<u32>().prop_map(|millis| Duration::from_millis(millis.into())));
    (any_line(), any_line(), data, retry).prop_map(|(id, event, data, retry)| Event {
        id,
        event,
        data,
        retry,
    })
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(events in proptest::collection::vec(any_event(), 0..6)) {
        let mut out = BytesMut::new();
        for event in &events {
            encode(event, &mut out);
        }
        prop_assert_eq!(decode_chunks([&out[..]]), events);
    }

    #[test]
    fn chunking_changes_nothing(
        stream in "\u{feff}?((data|id|event|retry|foo)?(:| |: )?[0-9a\0:ä]{0,3}(\r|\n|\r\n){1,2}){0,20}",
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let stream = stream.as_bytes();
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let chunks = cuts.windows(2).map(|cut| &stream[cut[0]..cut[1]]);
        let whole = decode_chunks([stream]);
        prop_assert_eq!(&decode_chunks(chunks), &whole);
        prop_assert_eq!(&decode_chunks(stream.chunks(1)), &whole);
    }

    #[test]
    fn any_bytes_are_read_without_panic(stream in proptest::collection::vec(any::<u8>(), 0..300), limit in 0..64_usize) {
        let mut decoder = Decoder::new(limit);
        decoder.push(stream.into());
        while let Ok(Some(event)) = decoder.next() {
            prop_assert!(event.data.len() <= limit);
        }
    }
}
