//! The record of one line, shared by the task that reads it and the probe that waits for answers.

use crate::evidence::{Direction, Ending, Frame, Line};
use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;
use std::{sync::Arc, time::Duration};
use tokio::{sync::watch, time::Instant};
use trunkline_client::raw;

/// Maximum number of frames kept per line; further ones are only counted.
const MAX_FRAMES: usize = 20_000;

/// Maximum number of bytes kept per line.
const MAX_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug, Clone)]
pub(crate) struct Inbox(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    record: Mutex<Record>,
    changed: watch::Sender<()>,
    opened: Instant,
}

#[derive(Debug)]
struct Record {
    line: Line,
    bytes: usize,
    ended: bool,
}

impl Inbox {
    pub(crate) fn new(purpose: &'static str) -> Self {
        let record = Record { line: Line::new(purpose), bytes: 0, ended: false };
        let (changed, _) = watch::channel(());
        Self(Arc::new(Shared { record: Mutex::new(record), changed, opened: Instant::now() }))
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.opened.elapsed()
    }

    /// Records a frame. Returns its index, or `None` if the record is full.
    pub(crate) fn keep(&self, direction: Direction, bytes: &Bytes) -> Option<usize> {
        let mut record = self.record();
        let full = record.line.frames.len() >= MAX_FRAMES || record.bytes >= MAX_BYTES;
        if full && direction != Direction::Sent {
            record.line.dropped += 1;
            return None;
        }
        record.bytes += bytes.len();
        record.line.frames.push(Frame::new(direction, self.elapsed(), bytes));
        let index = record.line.frames.len() - 1;
        drop(record);
        self.0.changed.send_replace(());
        Some(index)
    }

    /// Records that the server ended the line.
    pub(crate) fn end(&self, how: impl Into<String>) {
        let mut record = self.record();
        record.ended = true;
        let at = self.elapsed();
        record.line.ended.get_or_insert(Ending { at, how: how.into() });
        drop(record);
        self.0.changed.send_replace(());
    }

    /// Records that we end the line.
    pub(crate) fn close(&self) {
        let mut record = self.record();
        record.ended = true;
        let at = self.elapsed();
        record.line.closed.get_or_insert(at);
        drop(record);
        self.0.changed.send_replace(());
    }

    pub(crate) fn edit<T>(&self, edit: impl FnOnce(&mut Line) -> T) -> T {
        edit(&mut self.record().line)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.record().ended
    }

    /// The number of frames so far.
    pub(crate) fn mark(&self) -> usize {
        self.record().line.frames.len()
    }

    /// Waits for a frame that satisfies `found`, from index `from` on. Fails at the deadline
    /// `until` or when the line ends.
    pub(crate) async fn wait_for(
        &self,
        from: usize,
        until: Instant,
        found: impl Fn(&Frame) -> bool,
    ) -> Result<usize, Missing> {
        let mut changes = self.0.changed.subscribe();
        let mut next = from;
        loop {
            {
                let record = self.record();
                let frames = &record.line.frames;
                while next < frames.len() {
                    if frames[next].direction != Direction::Sent && found(&frames[next]) {
                        return Ok(next);
                    }
                    next += 1;
                }
                if record.ended {
                    return Err(Missing::Ended);
                }
            }
            if tokio::time::timeout_at(until, changes.changed()).await.is_err() {
                return Err(Missing::Late);
            }
        }
    }

    /// The indices of the server's frames between two marks.
    pub(crate) fn received(&self, from: usize, to: usize) -> Vec<usize> {
        let record = self.record();
        let frames = &record.line.frames;
        (from..to.min(frames.len())).filter(|at| frames[*at].direction != Direction::Sent).collect()
    }

    /// Takes the record and leaves an empty one.
    pub(crate) fn take(&self) -> Line {
        let mut record = self.record();
        let purpose = record.line.purpose;
        std::mem::replace(&mut record.line, Line::new(purpose))
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.0.record.lock()
    }
}

/// The reason why a frame is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Late,
    Ended,
}

/// True if a frame holds a response to this id. An id of another type (1 and "1") matches, too:
/// rules report that error, and the probe need not wait longer.
pub(crate) fn answers(frame: &Frame, id: &Value) -> bool {
    holds(frame, |message| is_like(message.get("id").unwrap_or(&Value::Null), id))
}

/// True if a frame holds a response without an id.
pub(crate) fn has_no_id(frame: &Frame) -> bool {
    holds(frame, |message| message.get("id").is_none_or(Value::is_null))
}

/// True if a frame holds any response.
pub(crate) fn is_response(frame: &Frame) -> bool {
    holds(frame, |_| true)
}

fn holds(frame: &Frame, fits: impl Fn(&Value) -> bool) -> bool {
    let is = |message: &Value| raw::is_response(message) && fits(message);
    match frame.json() {
        Some(Value::Array(batch)) => batch.iter().any(is),
        Some(message) => is(message),
        None => false,
    }
}

/// True if two ids are equal apart from their type: 1, "1" and 1.0.
fn is_like(one: &Value, other: &Value) -> bool {
    let text = |id: &Value| match id {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string().trim_end_matches(".0").to_owned(),
        id => id.to_string(),
    };
    one == other || text(one) == text(other)
}
