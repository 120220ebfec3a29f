//! The endpoint of a server.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};

use super::exchange::Exchange;
use super::resume::{Progress, Purpose, Reconnect, Resume};
use crate::http::{
    self as client, Arriving, EventStream, HttpClient, HttpError, InvalidUrl, Media, StatusError, Target,
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
        mut headers: HeaderMap,
        resume: Resume,
    ) -> Result<Exchange, HttpError> {
        headers.insert(header::ACCEPT, BOTH);
        headers.insert(header::CONTENT_TYPE, JSON);
        let response = self.send(Method::POST, headers, body).await?;
        let progress = match resume {
            Resume::Never => None,
            Resume::LastEventId { headers, reconnect } => {
                Some(Progress::new(Purpose::Answer, headers, reconnect))
            }
        };
        // 202 and 204 carry no message, whatever else their bodies hold.
        if matches!(response.status(), StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            let (head, body) = response.into_parts();
            client::drain(body).await;
            return Ok(Exchange::empty(head));
        }
        match Media::of(&response)? {
            Media::Empty => Ok(Exchange::empty(response.into_parts().0)),
            Media::Json => Ok(Exchange::json(response, self.0.client.options().body_limit)),
            Media::EventStream => Ok(Exchange::events(self.clone(), response, progress)),
            Media::Other => Err(client::unexpected(response).await),
        }
    }

    /// Opens the stream for what the server has to say of its own, and keeps it open as `reconnect` says. To go on
    /// behind an event seen earlier, put its id into `headers`.
    ///
    /// A server without such a stream answers 405, which is an error like any other status.
    pub async fn listen(
        &self,
        headers: HeaderMap,
        reconnect: Option<Reconnect>,
    ) -> Result<Exchange, HttpError> {
        let progress =
            reconnect.map(|reconnect| Progress::new(Purpose::Standalone, headers.clone(), reconnect));
        let response = self.get(headers).await?;
        match Media::of(&response)? {
            Media::EventStream => Ok(Exchange::events(self.clone(), response, progress)),
            Media::Empty => Ok(Exchange::empty(response.into_parts().0)),
            Media::Json | Media::Other => Err(client::unexpected(response).await),
        }
    }

    /// Tells the server that the session named in `headers` is over.
    pub async fn delete(&self, headers: HeaderMap) -> Result<(), HttpError> {
        let response = self.send(Method::DELETE, headers, Bytes::new()).await?;
        client::drain(response.into_body()).await;
        Ok(())
    }

    /// Takes a stream up again; none if the server says that there is nothing more.
    pub(super) async fn reopen(&self, headers: HeaderMap) -> Result<Option<EventStream>, HttpError> {
        let response = self.get(headers).await?;
        match Media::of(&response)? {
            Media::EventStream => Ok(Some(self.event_stream(response.into_body()))),
            Media::Empty => Ok(None),
            Media::Json | Media::Other => Err(client::unexpected(response).await),
        }
    }

    pub(super) fn event_stream(&self, body: Arriving) -> EventStream {
        EventStream::new(body, self.0.client.options().event_limit)
    }

    async fn get(&self, mut headers: HeaderMap) -> Result<Response<Arriving>, HttpError> {
        headers.insert(header::ACCEPT, EVENT_STREAM);
        self.send(Method::GET, headers, Bytes::new()).await
    }

    async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Arriving>, HttpError> {
        let inner = &*self.0;
        let response = inner.client.send(method, &inner.target, headers, body).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(Box::new(StatusError::read(response, inner.client.options().body_limit).await).into())
    }
}
