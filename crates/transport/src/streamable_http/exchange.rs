//! One request and the messages that answer it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::response::Parts;
use http::{HeaderMap, Response, StatusCode};

use super::endpoint::Endpoint;
use super::resume::{Progress, Purpose, WentAway};
use crate::body::Collector;
use crate::http::{Arriving, EventStream, HttpError, drain};
use crate::sse::Line;

/// An answer being received. Dropping it closes its stream.
#[derive(Debug)]
pub struct Exchange {
    pub status: StatusCode,
    pub headers: HeaderMap,
    state: State,
    progress: Option<Progress>,
    endpoint: Option<Endpoint>,
}

enum State {
    Json { body: Arriving, collector: Collector },
    Events(EventStream),
    Reopening(Reopening),
    Done,
}

type Reopening = Pin<Box<dyn Future<Output = Result<Option<EventStream>, HttpError>> + Send>>;

impl Exchange {
    /// The next message; none when there are no more. Nothing is lost if the future is dropped and asked for again.
    ///
    /// A caller that has what it came for stops asking: only then is an early end not an error.
    pub async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As [`next`](Self::next), for those who poll. After an error or none, it stays at none.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, HttpError>> {
        let next = ready!(self.poll_frame(cx));
        if !matches!(next, Ok(Some(_))) {
            self.state = State::Done;
        }
        Poll::Ready(next)
    }

    /// Where a stream opened later could go on.
    pub fn last_event_id(&self) -> Option<&Line> {
        self.progress.as_ref().and_then(Progress::last_id)
    }

    /// Ends an exchange whose last message was received. A server may take a moment to end the stream behind it;
    /// this lets it, so that the connection can be used again, where a drop would close it.
    pub fn finish(self) {
        if let State::Events(stream) = self.state {
            tokio::spawn(drain(stream.into_body()));
        }
    }

    pub(super) fn empty(head: Parts) -> Self {
        Self {
            status: head.status,
            headers: head.headers,
            state: State::Done,
            progress: None,
            endpoint: None,
        }
    }

    pub(super) fn json(response: Response<Arriving>, limit: usize) -> Self {
        let (head, body) = response.into_parts();
        Self { state: State::Json { body, collector: Collector::new(limit) }, ..Self::empty(head) }
    }

    pub(super) fn events(
        endpoint: Endpoint,
        response: Response<Arriving>,
        progress: Option<Progress>,
    ) -> Self {
        let (head, body) = response.into_parts();
        let state = State::Events(endpoint.event_stream(body));
        Self { state, progress, endpoint: Some(endpoint), ..Self::empty(head) }
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, HttpError>> {
        loop {
            match &mut self.state {
                State::Done => return Poll::Ready(Ok(None)),
                State::Json { body, collector } => {
                    let whole = ready!(collector.poll(Pin::new(body), cx))?;
                    self.state = State::Done;
                    return Poll::Ready(Ok((!whole.is_empty()).then_some(whole)));
                }
                State::Events(stream) => match ready!(stream.poll_next(cx)) {
                    Ok(Some(event)) => {
                        if let Some(progress) = &mut self.progress {
                            progress.saw(&event);
                        }
                        if event.is("message") && !event.data.is_empty() {
                            return Poll::Ready(Ok(Some(event.data)));
                        }
                    }
                    Ok(None) => {
                        if !self.stream_ended(None)? {
                            return Poll::Ready(Ok(None));
                        }
                    }
                    Err(error) => {
                        self.stream_ended(Some(error))?;
                    }
                },
                State::Reopening(reopening) => match ready!(reopening.as_mut().poll(cx)) {
                    Ok(Some(stream)) => {
                        self.state = State::Events(stream);
                        if let Some(progress) = &mut self.progress {
                            progress.opened();
                        }
                    }
                    Ok(None) => return Poll::Ready(Ok(None)),
                    Err(error) => self.reopen_or(error)?,
                },
            }
        }
    }

    /// Decides what an ended stream means: true if it is being taken up again, false if that was all.
    fn stream_ended(&mut self, error: Option<HttpError>) -> Result<bool, HttpError> {
        let Some(progress) = self.progress.as_mut().filter(|progress| progress.resumable()) else {
            return error.map_or(Ok(false), Err);
        };
        progress.ended();
        if let Some(error) = error {
            return self.reopen_or(error).map(|()| true);
        }
        match progress.next_wait(None) {
            Some(wait) => self.reopen(wait),
            None if progress.purpose() == Purpose::Answer => {
                return Err(HttpError::broken(progress.gave_up()));
            }
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Tries again if the error may pass and there are attempts left; otherwise the error stands.
    fn reopen_or(&mut self, error: HttpError) -> Result<(), HttpError> {
        let asked = error.status().and_then(crate::http::StatusError::retry_after);
        let progress = self.progress.as_mut().filter(|_| error.is_transient());
        let Some(wait) = progress.and_then(|progress| progress.next_wait(asked)) else {
            return Err(match error {
                // That nobody listens now says nothing of the request, which was taken before.
                HttpError::Connect(_) => HttpError::broken(WentAway(error)),
                other => other,
            });
        };
        tracing::debug!(%error, ?wait, "the stream broke and will be resumed");
        self.reopen(wait);
        Ok(())
    }

    fn reopen(&mut self, wait: Duration) {
        let (Some(progress), Some(endpoint)) = (&self.progress, self.endpoint.clone()) else { return };
        let headers = progress.request_headers();
        self.state = State::Reopening(Box::pin(async move {
            tokio::time::sleep(wait).await;
            endpoint.reopen(headers).await
        }));
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json { .. } => "Json",
            Self::Events(_) => "Events",
            Self::Reopening(_) => "Reopening",
            Self::Done => "Done",
        })
    }
}
