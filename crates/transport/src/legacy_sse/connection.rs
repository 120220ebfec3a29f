//! Opens the stream and reads the endpoint to post to.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use trunkline_resilience::timeout;

use super::receiver::Receiver;
use super::sender::Sender;
use crate::http::{
    EventStream, HttpClient, HttpError, Media, Phase, Request, StatusError, Target, unexpected,
};

const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");

/// An open connection to an HTTP+SSE server.
#[derive(Debug)]
pub struct Connection {
    pub sender: Sender,
    pub receiver: Receiver,
}

impl Connection {
    /// Opens the stream at `url` and waits for the server's `endpoint` event. The endpoint must be
    /// of the same origin, because it gets the same headers, including tokens.
    pub async fn open(client: &HttpClient, url: &str, headers: HeaderMap) -> Result<Self, HttpError> {
        let target = Target::parse(url)?;
        let limit = client.options().endpoint_timeout;
        let opening = open(client, &target, headers);
        timeout(limit, opening).await.unwrap_or(Err(HttpError::Timeout { phase: Phase::Endpoint, limit }))
    }

    pub fn split(self) -> (Sender, Receiver) {
        (self.sender, self.receiver)
    }
}

async fn open(client: &HttpClient, target: &Target, headers: HeaderMap) -> Result<Connection, HttpError> {
    let mut get = headers.clone();
    get.insert(header::ACCEPT, EVENT_STREAM);
    let request = Request::new(Method::GET, target.clone(), get.into(), Bytes::new());
    let mut answer = client.ask(request).await?;
    if !answer.head.status.is_success() {
        return Err(Box::new(StatusError::read(answer, client.options().body_limit).await).into());
    }
    if answer.media()? != Media::EventStream {
        return Err(unexpected(answer).await);
    }
    let mut stream = EventStream::new(answer.body, client.options().event_limit);
    let endpoint = loop {
        let event = stream.next().await?.ok_or(HttpError::NoEndpoint)?;
        if event.is("endpoint") {
            break target.resolve(&String::from_utf8_lossy(event.data.trim_ascii()))?;
        }
    };
    if !target.same_origin(&endpoint) {
        return Err(HttpError::ForeignEndpoint { target: endpoint.to_string() });
    }
    let sender = Sender::new(client.clone(), endpoint, headers);
    Ok(Connection { sender, receiver: Receiver::new(stream) })
}
