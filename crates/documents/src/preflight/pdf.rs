//! Checks PDF files: deep nesting overflows the stack of parsers.

use super::{Limits, Refused};
use memchr::memmem;

/// Counts open arrays and dictionaries outside streams. The noise of a compressed stream opens and
/// closes brackets at random, so in streams only runs of opening brackets count.
pub(super) fn check(bytes: &[u8], limits: &Limits) -> Result<(), Refused> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let start = memmem::find(rest, b"stream").unwrap_or(rest.len());
        let (objects, stream) = rest.split_at(start);
        let end = memmem::find(stream, b"endstream").map_or(stream.len(), |end| end + 9);
        if deepest(objects) > limits.nesting || longest_run(&stream[..end]) > limits.nesting {
            return Err(Refused::Nesting { limit: limits.nesting });
        }
        rest = &stream[end..];
    }
    Ok(())
}

fn deepest(objects: &[u8]) -> usize {
    let mut deepest = 0;
    let mut depth: usize = 0;
    for (at, byte) in objects.iter().enumerate() {
        let doubled = objects.get(at + 1) == Some(byte);
        match byte {
            b'[' => depth += 1,
            b'<' if doubled => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            b'>' if doubled => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn longest_run(stream: &[u8]) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for byte in stream {
        match byte {
            b'[' | b'<' => run += 1,
            b' ' | b'\r' | b'\n' | b'\t' => {}
            _ => run = 0,
        }
        longest = longest.max(run);
    }
    longest
}
