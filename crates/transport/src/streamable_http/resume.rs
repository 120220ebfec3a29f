//! Resumes broken streams, with backoff.
//!
//! The wait before a reconnect is the server's `retry`, or the default. Each further attempt
//! without a new event doubles it. An event resets the number of attempts, and so does a
//! standalone stream that stayed open for a while.

use std::time::Duration;

use http::HeaderValue;
use tokio::time::Instant;

use crate::headers::LAST_EVENT_ID;
use crate::http::{Fields, HttpError};
use crate::sse::{Event, Line};

/// Default limit of attempts in a row without a new event.
pub const DEFAULT_RESUME_ATTEMPTS: u32 = 5;
/// Default wait before a reconnect, if the server sent no `retry`.
pub const DEFAULT_RETRY: Duration = Duration::from_secs(1);
/// Default longest wait, unless the server asks for more.
pub const DEFAULT_MAX_RETRY: Duration = Duration::from_secs(30);
/// A standalone stream that was open for this long counts as healthy, even without events.
pub const STEADY: Duration = Duration::from_secs(10);

/// Tells if the response stream of a POST may be resumed when it ends too early.
#[derive(Debug, Clone)]
pub enum Resume {
    /// A broken stream is lost (2026-07-28, or no session).
    Never,
    /// Once an event with an id was seen: GET with `Last-Event-ID` and these headers.
    LastEventId { headers: Fields, reconnect: Reconnect },
}

/// Retry settings of a reconnect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconnect {
    pub attempts: u32,
    pub default_retry: Duration,
    pub max_retry: Duration,
}

/// Resuming the stream failed too often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stream ended early, and {attempts} attempts to resume it returned no new event")]
pub struct GaveUp {
    pub attempts: u32,
}

/// The server became unreachable during its response. It had received the request.
#[derive(Debug, thiserror::Error)]
#[error("the connection was lost during the call, and the server can no longer be reached: {0}")]
pub(super) struct LostDuringResponse(#[source] pub(super) HttpError);

/// The state of a stream that may have to be reconnected.
#[derive(Debug)]
pub(super) struct Progress {
    purpose: Purpose,
    reconnect: Reconnect,
    headers: Fields,
    last_id: Option<Line>,
    retry: Option<Duration>,
    failed_attempts: u32,
    opened: Instant,
}

/// The purpose of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The response to one message: it can only be resumed after an event with an id, and its
    /// early end is a failure.
    Answer,
    /// Messages that belong to no request: it can be opened again at any time.
    Standalone,
}

impl Default for Reconnect {
    fn default() -> Self {
        Self { attempts: DEFAULT_RESUME_ATTEMPTS, default_retry: DEFAULT_RETRY, max_retry: DEFAULT_MAX_RETRY }
    }
}

impl Progress {
    pub(super) fn new(purpose: Purpose, mut headers: Fields, reconnect: Reconnect) -> Self {
        let last_id = headers.remove(&LAST_EVENT_ID);
        let last_id = last_id.and_then(|id| Line::new(id.as_bytes().to_vec()).ok());
        let opened = Instant::now();
        Self { purpose, reconnect, headers, last_id, retry: None, failed_attempts: 0, opened }
    }

    pub(super) fn purpose(&self) -> Purpose {
        self.purpose
    }

    pub(super) fn last_id(&self) -> Option<&Line> {
        self.last_id.as_ref()
    }

    pub(super) fn gave_up(&self) -> GaveUp {
        GaveUp { attempts: self.failed_attempts }
    }

    pub(super) fn saw(&mut self, event: &Event) {
        if let Some(id) = &event.id {
            self.last_id = (!id.is_empty()).then(|| id.clone());
        }
        self.retry = event.retry.or(self.retry);
        if event.id.is_some() || !event.data.is_empty() {
            self.failed_attempts = 0;
        }
    }

    pub(super) fn opened(&mut self) {
        self.opened = Instant::now();
    }

    pub(super) fn ended(&mut self) {
        if self.purpose == Purpose::Standalone && self.opened.elapsed() >= STEADY {
            self.failed_attempts = 0;
        }
    }

    /// True if the stream can be resumed.
    pub(super) fn resumable(&self) -> bool {
        self.purpose == Purpose::Standalone || self.last_id_header().is_some()
    }

    /// The wait before the next attempt; `None` if there are no attempts left. `asked` is the
    /// `Retry-After` of an error response.
    pub(super) fn next_wait(&mut self, asked: Option<Duration>) -> Option<Duration> {
        if self.failed_attempts >= self.reconnect.attempts {
            return None;
        }
        let base = self.retry.unwrap_or(self.reconnect.default_retry);
        let ceiling = self.reconnect.max_retry.max(base);
        let wait = base.saturating_mul(1 << self.failed_attempts.min(31)).min(ceiling);
        self.failed_attempts += 1;
        Some(wait.max(asked.unwrap_or_default().min(ceiling)))
    }

    /// The headers of the next attempt.
    pub(super) fn request_headers(&self) -> Fields {
        let mut headers = self.headers.clone();
        if let Some(id) = self.last_id_header() {
            headers.set(LAST_EVENT_ID, id);
        }
        headers
    }

    fn last_id_header(&self) -> Option<HeaderValue> {
        self.last_id.as_ref().and_then(Line::to_header)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    const RECONNECT: Reconnect =
        Reconnect { attempts: 4, default_retry: Duration::from_secs(1), max_retry: Duration::from_secs(3) };

    fn progress(purpose: Purpose) -> Progress {
        Progress::new(purpose, Fields::default(), RECONNECT)
    }

    fn waits(progress: &mut Progress) -> Vec<u128> {
        std::iter::from_fn(|| progress.next_wait(None)).map(|wait| wait.as_millis()).collect()
    }

    fn with_id(id: &'static str) -> Event {
        Event { id: Some(Line::new(id).unwrap()), ..Event::default() }
    }

    fn with_retry(millis: u64) -> Event {
        Event { retry: Some(Duration::from_millis(millis)), ..Event::default() }
    }

    #[tokio::test]
    async fn the_first_wait_is_the_default_and_later_ones_double_up_to_the_ceiling() {
        assert_eq!(waits(&mut progress(Purpose::Answer)), [1000, 2000, 3000, 3000]);
    }

    #[tokio::test]
    async fn what_the_server_asks_for_is_waited_exactly_even_beyond_the_ceiling() {
        let mut progress = progress(Purpose::Answer);
        progress.saw(&with_retry(500));
        assert_eq!(progress.next_wait(None), Some(Duration::from_millis(500)));
        progress.saw(&with_retry(60_000));
        assert_eq!(waits(&mut progress), [60_000, 60_000, 60_000]);
    }

    #[tokio::test]
    async fn a_refusal_may_ask_for_more_within_the_ceiling() {
        let mut progress = progress(Purpose::Answer);
        assert_eq!(progress.next_wait(Some(Duration::from_secs(2))), Some(Duration::from_secs(2)));
        assert_eq!(progress.next_wait(Some(Duration::from_secs(9999))), Some(Duration::from_secs(3)));
    }

    #[tokio::test]
    async fn an_event_starts_the_count_again_but_a_bare_retry_does_not() {
        let mut progress = progress(Purpose::Answer);
        assert_eq!(waits(&mut progress).len(), 4);
        progress.saw(&with_retry(1));
        assert_eq!(progress.next_wait(None), None);
        progress.saw(&with_id("a"));
        assert_eq!(waits(&mut progress).len(), 4);
        progress.saw(&Event::message(Bytes::from_static(b"{}")));
        assert_eq!(waits(&mut progress).len(), 4);
    }

    #[tokio::test]
    async fn an_answer_needs_an_id_to_be_resumable_and_a_standalone_stream_does_not() {
        let mut answer = progress(Purpose::Answer);
        assert!(!answer.resumable());
        answer.saw(&with_id("a"));
        assert!(answer.resumable());
        assert_eq!(answer.request_headers().get(&LAST_EVENT_ID).unwrap(), "a");
        answer.saw(&with_id(""));
        assert!(!answer.resumable());
        answer.saw(&with_id("\u{7}"));
        assert!(!answer.resumable());
        assert!(progress(Purpose::Standalone).resumable());
    }

    #[tokio::test]
    async fn an_id_given_by_the_caller_is_where_it_starts() {
        let mut headers = Fields::default();
        headers.set(LAST_EVENT_ID, HeaderValue::from_static("old"));
        let mut progress = Progress::new(Purpose::Standalone, headers, RECONNECT);
        assert_eq!(progress.request_headers().get(&LAST_EVENT_ID).unwrap(), "old");
        progress.saw(&with_id("new"));
        assert_eq!(progress.request_headers().get(&LAST_EVENT_ID).unwrap(), "new");
    }

    #[tokio::test(start_paused = true)]
    async fn a_standalone_stream_that_lasted_is_no_failed_attempt() {
        let mut listening = progress(Purpose::Standalone);
        assert_eq!(waits(&mut listening).len(), 4);
        listening.opened();
        tokio::time::advance(STEADY.saturating_sub(Duration::from_millis(1))).await;
        listening.ended();
        assert_eq!(listening.next_wait(None), None);
        tokio::time::advance(Duration::from_millis(1)).await;
        listening.ended();
        assert_eq!(waits(&mut listening).len(), 4);
    }
}
