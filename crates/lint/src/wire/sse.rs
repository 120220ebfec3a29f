//! A server over HTTP+SSE: messages are sent by POST, answers arrive on the stream.

use super::{dial::DialError, http, inbox::Inbox};
use crate::evidence::{Direction, HttpHead};
use ::http::{HeaderMap, Method, header};
use bytes::Bytes;
use tokio::task::JoinHandle;
use trunkline_transport::{
    http::{HttpClient, Target},
    legacy_sse::{Connection, Receiver},
};

#[derive(Debug)]
pub(crate) struct SseLine {
    client: HttpClient,
    endpoint: Target,
    reading: JoinHandle<()>,
}

impl SseLine {
    pub(crate) async fn open(client: &HttpClient, target: &Target, inbox: &Inbox) -> Result<Self, DialError> {
        let connection = Connection::open(client, target.url().as_str(), HeaderMap::new())
            .await
            .map_err(DialError::from_error)?;
        let (sender, receiver) = connection.split();
        let reading = tokio::spawn(read(receiver, inbox.clone()));
        Ok(Self { client: client.clone(), endpoint: sender.endpoint().clone(), reading })
    }

    /// POSTs bytes. Returns the head of the response to the POST itself.
    pub(crate) async fn post(&self, body: Bytes) -> Result<HttpHead, String> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, http::JSON);
        let request = http::Request { method: Method::POST, headers, body };
        http::head_of(&self.client, &self.endpoint, request).await
    }
}

impl Drop for SseLine {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

async fn read(mut receiver: Receiver, inbox: Inbox) {
    loop {
        match receiver.next().await {
            Ok(Some(bytes)) => {
                inbox.keep(Direction::Received, &bytes);
            }
            Ok(None) => return inbox.end("closed its stream"),
            Err(error) => return inbox.end(format!("broke its stream off: {error}")),
        }
    }
}
