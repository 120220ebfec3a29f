//! Frames: any input is rejected or parsed, and a parsed message survives a round trip.
//!
//! `serde_json` is the reference for what is JSON and for the content of a message.

use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use trunkline_protocol::{Defect, Envelope, Frame, Malformed};

/// The only defect reported as bad JSON that the grammar allows.
const HALF_A_PAIR: Defect = Defect::Json("half a surrogate pair in a member name");

pub fn holds(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    match Frame::parse(&bytes) {
        Ok(Frame::One(envelope)) => {
            assert!(is_json(data), "accepted, though it is not JSON");
            survives(&envelope, data);
        }
        Ok(Frame::Batch(messages)) => {
            assert!(is_json(data), "accepted, though it is not JSON");
            for message in messages {
                match message {
                    Ok(envelope) => survives(&envelope, &envelope.to_bytes()),
                    Err(malformed) => {
                        assert!(!says_no_json(&malformed), "{malformed} in a batch that is JSON");
                    }
                }
            }
        }
        Err(malformed) => refused(&malformed, data),
    }
}

fn is_json(data: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(data).is_ok()
}

fn refused(malformed: &Malformed, data: &[u8]) {
    assert!(malformed.offset <= data.len());
    match malformed.defect {
        // Found before the end, so the rest of the text was not parsed.
        Defect::Depth | Defect::LongBatch | Defect::DuplicateKey | HALF_A_PAIR => {}
        _ => assert_eq!(is_json(data), !says_no_json(malformed), "{malformed}"),
    }
}

fn says_no_json(malformed: &Malformed) -> bool {
    matches!(malformed.defect, Defect::Utf8 | Defect::Json(_)) && malformed.defect != HALF_A_PAIR
}

/// Checks that a parsed message survives a round trip, for us and for `serde_json`.
fn survives(envelope: &Envelope, data: &[u8]) {
    let bytes = envelope.to_bytes();
    assert_eq!(Envelope::parse(&bytes).as_ref(), Ok(envelope));
    same_to_others(data, &bytes);

    let line = envelope.to_line();
    assert!(!line.iter().any(|byte| matches!(byte, b'\n' | b'\r')));
    assert_eq!(line.len(), bytes.len());
    let again = Envelope::parse(&line).expect("a line of ours is a message");
    assert_eq!(again.to_bytes(), line, "a line is written as it was read");
    same_to_others(&bytes, &line);
}

/// Compares the messages as `serde_json` parses them, unless they have numbers beyond a double or
/// lone surrogates, which it cannot represent.
fn same_to_others(before: &[u8], after: &[u8]) {
    let read = |text: &[u8]| serde_json::from_slice::<Map<String, Value>>(text).ok();
    let (Some(mut before), Some(after)) = (read(before), read(after)) else { return };
    // An error without a request may omit `id`; we write it as null.
    if before.contains_key("error") {
        before.entry("id").or_insert(Value::Null);
    }
    assert_eq!(before, after);
}
