//! The endpoint of a server.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, header};

use super::exchange::Exchange;
use super::resume::{Progress, Purpose, Reconnect, Resume};
use crate::http::{
    self as client, Answer, Arriving, EventStream, Fields, HttpClient, HttpError, InvalidUrl, Media, Request,
    StatusError, Target,
};

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A Streamable HTTP endpoint; cheap to clone.
#[derive(Debug, Clone)]
pub struct Endpoint(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: HttpClient,
    target: Target,
}

impl Endpoint {
    pub fn new(client: HttpClient, url: &str) -> Result<Self, InvalidUrl> {
        Ok(Self::at(client, Target::parse(url)?))
    }

    pub fn at(client: HttpClient, target: Target) -> Self {
        Self(Arc::new(Inner { client, target }))
    }

    pub fn target(&self) -> &Target {
        &self.0.target
    }

    pub fn client(&self) -> &HttpClient {
        &self.0.client
    }

    /// Posts one message. The answer has begun when this returns; its messages come from the [`Exchange`].
    ///
    /// A status other than 2xx is an error that carries the body.
    pub async fn post(
        &self,
        body: Bytes,
        headers: impl Into<Fields>,
        resume: Resume,
    ) -> Result<Exchange, HttpError> {
        let mut exchange = self.begin(body, headers.into(), resume);
        std::future::poll_fn(|cx| exchange.poll_begun(cx)).await?;
        Ok(exchange)
    }

    /// As [`post`](Self::post), for those who poll: the message is sent when the exchange is first asked.
    pub fn begin(&self, body: Bytes, mut headers: Fields, resume: Resume) -> Exchange {
        headers.set(header::ACCEPT, BOTH);
        headers.set(header::CONTENT_TYPE, JSON);
        Exchange::new(self.clone(), self.request(Method::POST, headers, body), resume)
    }

    /// Opens the stream for what the server has to say of its own, and keeps it open as `reconnect` says. To go on
    /// behind an event seen earlier, put its id into `headers`.
    ///
    /// A server without such a stream answers 405, which is an error like any other status.
    pub async fn listen(
        &self,
        headers: impl Into<Fields>,
        reconnect: Option<Reconnect>,
    ) -> Result<Exchange, HttpError> {
        let headers = headers.into();
        let progress =
            reconnect.map(|reconnect| Progress::new(Purpose::Standalone, headers.clone(), reconnect));
        let mut answer = self.get(headers).await?;
        match answer.media()? {
            Media::EventStream => Ok(Exchange::events(self.clone(), answer, progress)),
            Media::Empty => Ok(Exchange::empty(self.clone(), answer.head)),
            Media::Json | Media::Other => Err(client::unexpected(answer).await),
        }
    }

    /// Tells the server that the session named in `headers` is over.
    pub async fn delete(&self, headers: impl Into<Fields>) -> Result<(), HttpError> {
        let answer = self.send(Method::DELETE, headers.into()).await?;
        client::drain(answer.body).await;
        Ok(())
    }

    /// Takes a stream up again; none if the server says that there is nothing more.
    pub(super) async fn reopen(&self, headers: Fields) -> Result<Option<EventStream>, HttpError> {
        let mut answer = self.get(headers).await?;
        match answer.media()? {
            Media::EventStream => Ok(Some(self.event_stream(answer.body))),
            Media::Empty => Ok(None),
            Media::Json | Media::Other => Err(client::unexpected(answer).await),
        }
    }

    pub(super) fn event_stream(&self, body: Arriving) -> EventStream {
        EventStream::new(body, self.0.client.options().event_limit)
    }

    async fn get(&self, mut headers: Fields) -> Result<Answer, HttpError> {
        headers.set(header::ACCEPT, EVENT_STREAM);
        self.send(Method::GET, headers).await
    }

    async fn send(&self, method: Method, headers: Fields) -> Result<Answer, HttpError> {
        let answer = self.0.client.ask(self.request(method, headers, Bytes::new())).await?;
        if answer.head.status.is_success() {
            return Ok(answer);
        }
        Err(Box::new(StatusError::read(answer, self.0.client.options().body_limit).await).into())
    }

    fn request(&self, method: Method, fields: Fields, body: Bytes) -> Request {
        Request { method, target: self.0.target.clone(), fields, body }
    }
}
