//! One request and the messages that answer it.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode};
use hyper::body::Body as _;

use super::endpoint::Endpoint;
use super::resume::{LostDuringResponse, Progress, Purpose, Resume};
use crate::body::Collector;
use crate::http::{
    Answer, Arriving, EventStream, Head, HttpError, Media, Request, Sending, StatusError, drain, unexpected,
};
use crate::sse::Line;

/// A message and its response. Dropping it cancels the request, or closes the stream.
#[derive(Debug)]
pub struct Exchange {
    endpoint: Endpoint,
    head: Option<Head>,
    state: State,
    resume: Resume,
    progress: Option<Progress>,
}

enum State {
    Sending(Sending),
    /// Reads a body to reuse its connection, or to report an error response.
    Settling(BoxFuture<Result<(), HttpError>>),
    Json {
        body: Arriving,
        collector: Collector,
    },
    Events(EventStream),
    Reopening(BoxFuture<Result<Option<EventStream>, HttpError>>),
    Done,
}

/// Frames after the last message that are read without waiting, before a task is spawned for it.
const MAX_READY_FRAMES: usize = 8;

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl Exchange {
    pub(super) fn new(endpoint: Endpoint, request: Request, resume: Resume) -> Self {
        let state = State::Sending(endpoint.client().begin(request));
        Self { endpoint, head: None, state, resume, progress: None }
    }

    /// The status of the response, once its head has arrived.
    pub fn status(&self) -> Option<StatusCode> {
        self.head.as_ref().map(|head| head.status)
    }

    /// A header of the response, once its head has arrived.
    pub fn header(&self, name: &HeaderName) -> Option<HeaderValue> {
        self.head.as_ref()?.get(name)
    }

    /// Waits for the response head. A status other than 2xx is an error that contains the body.
    pub(super) fn poll_begun(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), HttpError>> {
        loop {
            let begun = match &mut self.state {
                State::Sending(sending) => match ready!(sending.poll(cx)) {
                    Ok(answer) => self.answered(answer),
                    Err(error) => Err(error),
                },
                State::Settling(settling) => {
                    let settled = ready!(settling.as_mut().poll(cx));
                    self.state = State::Done;
                    return Poll::Ready(settled);
                }
                _ => return Poll::Ready(Ok(())),
            };
            if let Err(error) = begun {
                self.state = State::Done;
                return Poll::Ready(Err(error));
            }
        }
    }

    /// The next message; `None` when there are no more. Cancel safe.
    ///
    /// A caller that has its response should stop calling this: a resumable stream that ends is
    /// resumed, and is an error if that fails.
    pub async fn next(&mut self) -> Result<Option<Bytes>, HttpError> {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// As [`next`](Self::next), for callers that poll. After an error or `None` it returns `None`.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, HttpError>> {
        let next = ready!(self.poll_frame(cx));
        if !matches!(next, Ok(Some(_))) {
            self.state = State::Done;
        }
        Poll::Ready(next)
    }

    /// The id to resume this stream with.
    pub fn last_event_id(&self) -> Option<&Line> {
        self.progress.as_ref().and_then(Progress::last_id)
    }

    /// Ends an exchange whose last message was received. The server may end the stream a moment
    /// later; this drains it, so that the connection can be reused, where a drop would close it.
    pub fn finish(self) {
        let State::Events(stream) = self.state else { return };
        let mut body = stream.into_body();
        // Usually the end of the stream arrived together with the message.
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..MAX_READY_FRAMES {
            match Pin::new(&mut body).poll_frame(&mut cx) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(_) => return,
                Poll::Pending => break,
            }
        }
        tokio::spawn(drain(body));
    }

    pub(super) fn empty(endpoint: Endpoint, head: Head) -> Self {
        Self { endpoint, head: Some(head), state: State::Done, resume: Resume::Never, progress: None }
    }

    pub(super) fn events(endpoint: Endpoint, answer: Answer, progress: Option<Progress>) -> Self {
        let state = State::Events(endpoint.event_stream(answer.body));
        Self { state, progress, ..Self::empty(endpoint, answer.head) }
    }

    fn answered(&mut self, mut answer: Answer) -> Result<(), HttpError> {
        let limit = self.endpoint.client().options().body_limit;
        let status = answer.head.status;
        if !status.is_success() {
            let refusal = async move { Err(Box::new(StatusError::read(answer, limit).await).into()) };
            self.state = State::Settling(Box::pin(refusal));
            return Ok(());
        }
        // The body of 202 and 204 is never a message.
        let is_silent = matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT);
        let media = if is_silent && !answer.body.is_end_stream() { None } else { Some(answer.media()?) };
        self.state = match media {
            None => {
                let body = answer.body;
                State::Settling(Box::pin(async move {
                    drain(body).await;
                    Ok(())
                }))
            }
            Some(Media::Empty) => State::Done,
            Some(Media::Json) => State::Json { body: answer.body, collector: Collector::new(limit) },
            Some(Media::EventStream) => {
                if let Resume::LastEventId { headers, reconnect } =
                    std::mem::replace(&mut self.resume, Resume::Never)
                {
                    self.progress = Some(Progress::new(Purpose::Answer, headers, reconnect));
                }
                State::Events(self.endpoint.event_stream(answer.body))
            }
            Some(Media::Other) => {
                self.state = State::Settling(Box::pin(async move { Err(unexpected(answer).await) }));
                return Ok(());
            }
        };
        self.head = Some(answer.head);
        Ok(())
    }

    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, HttpError>> {
        loop {
            match &mut self.state {
                State::Done => return Poll::Ready(Ok(None)),
                State::Sending(_) | State::Settling(_) => ready!(self.poll_begun(cx))?,
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

    /// Handles the end of a stream: true if it is being resumed, false if it was complete.
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

    /// Resumes the stream if the error is transient and there are attempts left; otherwise returns
    /// it.
    fn reopen_or(&mut self, error: HttpError) -> Result<(), HttpError> {
        let asked = error.status().and_then(crate::http::StatusError::retry_after);
        let progress = self.progress.as_mut().filter(|_| error.is_transient());
        let Some(wait) = progress.and_then(|progress| progress.next_wait(asked)) else {
            return Err(match error {
                // Not a connect error: the server received the request before, so it may have been
                // processed.
                HttpError::Connect(_) => HttpError::broken(LostDuringResponse(error)),
                other => other,
            });
        };
        tracing::debug!(%error, ?wait, "the stream broke and will be resumed");
        self.reopen(wait);
        Ok(())
    }

    fn reopen(&mut self, wait: Duration) {
        let Some(progress) = &self.progress else { return };
        let endpoint = self.endpoint.clone();
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
            Self::Sending(_) => "Sending",
            Self::Settling(_) => "Settling",
            Self::Json { .. } => "Json",
            Self::Events(_) => "Events",
            Self::Reopening(_) => "Reopening",
            Self::Done => "Done",
        })
    }
}
