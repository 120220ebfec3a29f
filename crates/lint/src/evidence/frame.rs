//! Frame: one message or output line in one direction.

use super::surrogates;
use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;
use std::{borrow::Cow, sync::OnceLock, time::Duration};

/// Bytes kept per frame; longer frames are cut.
pub(super) const FRAME_LIMIT: usize = 4 * 1024 * 1024;

/// The direction of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Sent,
    Received,
    /// Output of the server that is not JSON.
    Noise,
}

/// The position of a frame in the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct FrameRef {
    pub line: usize,
    pub frame: usize,
}

#[derive(Debug)]
pub struct Frame {
    pub direction: Direction,
    /// Time since the line was opened.
    pub at: Duration,
    /// At most `FRAME_LIMIT` bytes.
    pub bytes: Bytes,
    /// The full length in bytes.
    pub length: usize,
    parsed: OnceLock<Option<Value>>,
}

impl Frame {
    pub fn new(direction: Direction, at: Duration, bytes: &Bytes) -> Self {
        let length = bytes.len();
        let bytes = bytes.slice(..length.min(FRAME_LIMIT));
        Self { direction, at, bytes, length, parsed: OnceLock::new() }
    }

    /// The frame as JSON; `None` if it is not JSON or was cut. Half of a surrogate pair reads as
    /// U+FFFD, as many parsers have it; the rule `lone-surrogates` reports it.
    pub fn json(&self) -> Option<&Value> {
        let parse = || {
            let strict = serde_json::from_slice(&self.bytes).ok();
            strict.or_else(|| serde_json::from_slice(&surrogates::mended(&self.bytes)?).ok())
        };
        self.parsed.get_or_init(parse).as_ref()
    }

    /// True if the frame is JSON but for half a surrogate pair.
    pub fn has_lone_surrogate(&self) -> bool {
        surrogates::mended(&self.bytes).is_some() && self.json().is_some()
    }

    pub fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    pub fn is_cut(&self) -> bool {
        self.length > self.bytes.len()
    }
}
