//! The endpoint of a server.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, header};

use super::exchange::Exchange;
use super::resume::{Progress, Purpose, Reconnect, Resume};
use crate::http::{
    self as client, Answer, Arriving, EventStream, Fields, HttpClient, HttpError, InvalidUrl, Media, Request,
    RequestTemplate, StatusError, Target,
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
    /// The common head of all POST requests.
    post: Arc<RequestTemplate>,
}

impl Endpoint {
    pub fn new(client: HttpClient, url: &str) -> Result<Self, InvalidUrl> {
        Ok(Self::at(client, Target::parse(url)?))
    }

    pub fn at(client: HttpClient, target: Target) -> Self {
        let mut fields = Fields::with_capacity(2);
        fields.add(header::ACCEPT, BOTH);
        fields.add(header::CONTENT_TYPE, JSON);
        let post = Arc::new(RequestTemplate::new(Method::POST, target, fields));
        Self(Arc::new(Inner { client, post }))
    }

    pub fn target(&self) -> &Target {
        self.0.post.target()
    }

    pub fn client(&self) -> &HttpClient {
        &self.0.client
    }

    /// Posts one message. Returns when the response head has arrived; the [`Exchange`] yields its
    /// messages.
    ///
    /// A status other than 2xx is an error that contains the body.
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

    /// As [`post`](Self::post), for callers that poll: the message is sent at the first poll.
    pub fn begin(&self, body: Bytes, mut headers: Fields, resume: Resume) -> Exchange {
        headers.remove(&header::ACCEPT);
        headers.remove(&header::CONTENT_TYPE);
        let request = Request { template: Arc::clone(&self.0.post), fields: headers, body };
        Exchange::new(self.clone(), request, resume)
    }

    /// Opens the GET stream for messages that belong to no request, and reconnects it as
    /// `reconnect` says. To resume after an earlier event, put its id into `headers`.
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

    /// Ends the session in `headers`, by a DELETE request.
    pub async fn delete(&self, headers: impl Into<Fields>) -> Result<(), HttpError> {
        let answer = self.send(Method::DELETE, headers.into()).await?;
        client::drain(answer.body).await;
        Ok(())
    }

    /// Resumes a stream; `None` if the server says that there are no more messages.
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
        let request = Request::new(method, self.target().clone(), headers, Bytes::new());
        let answer = self.0.client.ask(request).await?;
        if answer.head.status.is_success() {
            return Ok(answer);
        }
        Err(Box::new(StatusError::read(answer, self.0.client.options().body_limit).await).into())
    }
}
