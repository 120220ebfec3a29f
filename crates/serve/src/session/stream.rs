//! Resumable streams of a legacy session. Recent events are kept, so that a client can resume
//! after a lost connection.

use crate::outgoing::held;
use bytes::{Bytes, BytesMut};
use parking_lot::Mutex;
use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};
use tokio::sync::Notify;
use trunkline_protocol::Envelope;
use trunkline_resilience::{Backlog, Purpose, hold};
use trunkline_transport::sse::{Event, Line, encode};

/// Above this number of call streams, a session forgets the oldest ended ones.
const ENDED_STREAMS: usize = 16;
/// Reconnection delay sent to the client (SSE `retry`).
const RETRY: Duration = Duration::from_millis(500);

/// The number of the session's own stream.
const OWN: u64 = 0;

/// The streams of one session, created on demand: the session's own, and one per streamed
/// response.
pub(crate) struct Streams {
    logs: Mutex<Logs>,
    events: usize,
    bytes: usize,
    /// The memory of all events that are kept for this session.
    backlog: Arc<Backlog>,
}

#[derive(Default)]
struct Logs {
    /// The number of the newest stream.
    last: u64,
    by_number: HashMap<u64, Arc<StreamLog>>,
    /// Call streams, oldest first; the session's own stream is not included.
    order: VecDeque<u64>,
    /// The session has ended; streams opened from now on are created as ended.
    closed: bool,
}

/// The event log of one stream.
pub(crate) struct StreamLog {
    number: u64,
    state: Mutex<Log>,
    changed: Notify,
    most_events: usize,
    most_bytes: usize,
    backlog: Arc<Backlog>,
}

#[derive(Default)]
struct Log {
    kept: VecDeque<Bytes>,
    /// The number of the first event that is kept.
    first: u64,
    size: usize,
    ended: bool,
    /// The number of the first event that no reader has got.
    unread: u64,
    /// Readers that exist.
    readers: usize,
    /// No memory is left for replay: events are kept only until they are read.
    transient: bool,
    /// Generation of the current reader; older readers end.
    reader: u64,
    /// The reader ends before this event, to disconnect a client that may resume later.
    away_at: Option<u64>,
}

/// A position in a stream, written as the event id `stream-event`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventId {
    stream: u64,
    event: u64,
}

/// Reads a stream. A stream has one reader: a new one ends the previous.
pub(crate) struct Reader {
    log: Arc<StreamLog>,
    next: u64,
    turn: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Event(Bytes),
    End,
}

impl Item {
    pub(crate) fn event(self) -> Option<Bytes> {
        match self {
            Self::Event(event) => Some(event),
            Self::End => None,
        }
    }
}

impl Streams {
    pub(crate) fn new(events: usize, bytes: usize) -> Self {
        let backlog = Arc::new(Backlog::new(Purpose::Replay));
        Self { logs: Mutex::default(), events, bytes, backlog }
    }

    /// The session's own stream.
    pub(crate) fn standalone(&self) -> Arc<StreamLog> {
        let mut logs = self.logs.lock();
        let known = logs.by_number.get(&OWN).cloned();
        known.unwrap_or_else(|| self.add(&mut logs, OWN))
    }

    /// Opens a stream for the response to a request.
    pub(crate) fn open(&self) -> Arc<StreamLog> {
        let mut logs = self.logs.lock();
        logs.last += 1;
        let number = logs.last;
        let log = self.add(&mut logs, number);
        logs.order.push_back(number);
        logs.forget_old();
        log
    }

    fn add(&self, logs: &mut Logs, number: u64) -> Arc<StreamLog> {
        let log = Arc::new(StreamLog {
            number,
            state: Mutex::new(Log { ended: logs.closed, ..Log::default() }),
            changed: Notify::new(),
            most_events: self.events,
            most_bytes: self.bytes,
            backlog: self.backlog.clone(),
        });
        logs.by_number.insert(number, log.clone());
        log
    }

    /// Reads the stream of an event, starting after that event.
    pub(crate) fn resume(&self, id: EventId) -> Option<Reader> {
        let log = self.logs.lock().by_number.get(&id.stream).cloned()?;
        Some(log.read_from(id.event + 1))
    }

    pub(crate) fn close(&self) {
        let mut logs = self.logs.lock();
        logs.closed = true;
        let open: Vec<_> = logs.by_number.drain().map(|(_, log)| log).collect();
        drop(logs);
        for log in open {
            log.end();
        }
    }
}

impl Logs {
    fn forget_old(&mut self) {
        let ended = |log: &Arc<StreamLog>| log.state.lock().ended;
        while self.order.len() > ENDED_STREAMS {
            let oldest = self.order.iter().position(|number| self.by_number.get(number).is_none_or(ended));
            let Some(index) = oldest else { return };
            if let Some(number) = self.order.remove(index) {
                self.by_number.remove(&number);
            }
        }
    }
}

impl StreamLog {
    /// Appends an empty event, whose id lets the client resume from the start.
    pub(crate) fn prime(&self) {
        let mut state = self.state.lock();
        let event = self.id_after(&state).write(Event { retry: Some(RETRY), ..Event::default() });
        let event = self.backlog.hold(event.clone()).unwrap_or(event);
        self.append(&mut state, event);
    }

    /// Appends a message. If no memory is left for replay, the stream can no longer be resumed; if
    /// none is left at all, a response is replaced by an error, and another message is dropped.
    pub(crate) fn push(&self, envelope: &Envelope) {
        let mut state = self.state.lock();
        let id = self.id_after(&state);
        let write = |envelope: &Envelope| id.write(Event::message(envelope.to_line()));
        let keep = |event: Bytes| {
            self.backlog.hold(event.clone()).or_else(|full| {
                if state.readers == 0 {
                    return Err(full);
                }
                state.transient = true;
                self.evict_read(&mut state);
                hold(event)
            })
        };
        if let Some(event) = held(envelope, write, keep) {
            self.append(&mut state, event);
        }
    }

    pub(crate) fn end(&self) {
        self.state.lock().ended = true;
        self.changed.notify_waiters();
    }

    /// Ends the reader after the events so far. The client can resume to get the rest.
    pub(crate) fn detach(&self) {
        let mut state = self.state.lock();
        state.away_at = Some(state.next());
        drop(state);
        self.changed.notify_waiters();
    }

    pub(crate) fn read(self: &Arc<Self>) -> Reader {
        let first = self.state.lock().first;
        self.read_from(first)
    }

    fn read_from(self: &Arc<Self>, next: u64) -> Reader {
        let mut state = self.state.lock();
        state.reader += 1;
        state.readers += 1;
        state.away_at = None;
        let turn = state.reader;
        drop(state);
        self.changed.notify_waiters();
        Reader { log: self.clone(), next, turn }
    }

    fn id_after(&self, state: &Log) -> EventId {
        EventId { stream: self.number, event: state.next() }
    }

    fn append(&self, state: &mut Log, event: Bytes) {
        state.size += event.len();
        state.kept.push_back(event);
        while state.kept.len() > self.most_events || state.size > self.most_bytes && state.kept.len() > 1 {
            self.evict(state);
        }
        self.changed.notify_waiters();
    }

    fn evict_read(&self, state: &mut Log) {
        while state.first < state.unread {
            self.evict(state);
        }
    }

    fn evict(&self, state: &mut Log) {
        state.first += 1;
        if let Some(oldest) = state.kept.pop_front() {
            state.size -= oldest.len();
            self.backlog.release(&oldest);
        }
    }
}

impl Drop for StreamLog {
    fn drop(&mut self) {
        for event in &self.state.get_mut().kept {
            self.backlog.release(event);
        }
    }
}

impl EventId {
    /// The text of an event with this id.
    fn write(self, mut event: Event) -> Bytes {
        event.id = Line::new(self.to_string()).ok();
        let mut text = BytesMut::new();
        encode(&event, &mut text);
        text.freeze()
    }
}

impl Log {
    /// The number of the next event.
    fn next(&self) -> u64 {
        self.first + self.kept.len() as u64
    }
}

impl Reader {
    /// Waits for the next event. A reader ends early if its next event was already evicted, or if
    /// a newer reader replaced it.
    pub(crate) async fn next(&mut self) -> Item {
        loop {
            let log = self.log.clone();
            let changed = log.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if let Some(item) = self.look() {
                return item;
            }
            changed.await;
        }
    }

    /// True for the session's own stream, false for a call's.
    pub(crate) fn is_of_session(&self) -> bool {
        self.log.number == OWN
    }

    fn look(&mut self) -> Option<Item> {
        let mut state = self.log.state.lock();
        let away = state.away_at.is_some_and(|event| self.next >= event);
        if away || self.next < state.first || self.turn != state.reader {
            return Some(Item::End);
        }
        let index = usize::try_from(self.next - state.first).unwrap_or(usize::MAX);
        match state.kept.get(index).cloned() {
            Some(event) => {
                self.next += 1;
                state.unread = state.unread.max(self.next);
                if state.transient {
                    self.log.evict_read(&mut state);
                }
                Some(Item::Event(event))
            }
            None if state.ended => Some(Item::End),
            None => None,
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.log.state.lock();
        state.readers -= 1;
        if state.transient && state.readers == 0 {
            state.unread = state.next();
            self.log.evict_read(&mut state);
        }
    }
}

impl std::fmt::Display for EventId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.stream, self.event)
    }
}

impl std::str::FromStr for EventId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (stream, event) = text.split_once('-').ok_or(())?;
        Ok(Self { stream: stream.parse().map_err(drop)?, event: event.parse().map_err(drop)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use trunkline_protocol::Notification;

    fn note(text: &str) -> Envelope {
        Notification::new(text.to_owned(), None).into()
    }

    fn events(reader: &mut Reader) -> Vec<String> {
        let mut seen = Vec::new();
        while let Some(Item::Event(event)) = reader.next().now_or_never() {
            seen.push(String::from_utf8(event.to_vec()).unwrap());
        }
        seen
    }

    #[test]
    fn h16_a_client_that_comes_back_gets_the_rest_of_its_own_stream() {
        let streams = Streams::new(8, 10_000);
        let (one, two) = (streams.open(), streams.open());
        one.prime();
        one.push(&note("a"));
        two.push(&note("other"));
        one.push(&note("b"));
        one.end();
        let mut reader = streams.resume("1-1".parse().unwrap()).unwrap();
        let rest = events(&mut reader);
        assert_eq!(rest.len(), 1);
        assert!(rest[0].contains("id: 1-2") && rest[0].contains("\"b\""), "{rest:?}");
        assert_eq!(reader.next().now_or_never(), Some(Item::End));
        assert!(streams.resume("9-0".parse().unwrap()).is_none());
    }

    #[test]
    fn what_is_kept_is_bounded_and_a_gap_ends_the_stream() {
        let streams = Streams::new(2, 10_000);
        let log = streams.open();
        let mut slow = log.read();
        for text in ["a", "b", "c"] {
            log.push(&note(text));
        }
        assert_eq!(slow.next().now_or_never(), Some(Item::End));
        assert_eq!(events(&mut log.read()).len(), 2);
    }

    #[test]
    fn a_reader_that_is_sent_away_gets_what_was_there_and_the_rest_later() {
        let streams = Streams::new(8, 10_000);
        let log = streams.open();
        let mut reader = log.read();
        log.prime();
        log.detach();
        log.push(&note("late"));
        assert_eq!(events(&mut reader).len(), 1);
        assert_eq!(reader.next().now_or_never(), Some(Item::End));
        assert!(events(&mut streams.resume("1-0".parse().unwrap()).unwrap())[0].contains("late"));
    }

    #[test]
    fn a_stream_of_a_session_that_is_over_has_ended() {
        let streams = Streams::new(8, 10_000);
        let mut reader = streams.standalone().read();
        streams.close();
        assert_eq!(reader.next().now_or_never(), Some(Item::End));
        for late in [streams.standalone(), streams.open()] {
            assert_eq!(late.read().next().now_or_never(), Some(Item::End));
        }
    }

    #[test]
    fn a_newer_reader_takes_the_place_of_the_older() {
        let streams = Streams::new(8, 10_000);
        let mut old = streams.standalone().read();
        let mut new = streams.standalone().read();
        streams.standalone().push(&note("a"));
        assert_eq!(old.next().now_or_never(), Some(Item::End));
        assert_eq!(events(&mut new).len(), 1);
    }
}
