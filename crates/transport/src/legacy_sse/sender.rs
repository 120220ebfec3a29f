//! The half that posts messages.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};

use crate::http::{Fields, HttpClient, HttpError, Request, StatusError, Target, drain};

/// Posts messages to the endpoint the server has named; clones post to the same.
#[derive(Debug, Clone)]
pub struct Sender(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: HttpClient,
    endpoint: Target,
    fields: Fields,
}

impl Sender {
    pub(super) fn new(client: HttpClient, endpoint: Target, mut headers: HeaderMap) -> Self {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self(Arc::new(Inner { client, endpoint, fields: headers.into() }))
    }

    pub fn endpoint(&self) -> &Target {
        &self.0.endpoint
    }

    /// Posts one message. Its answer, if it has one, comes over the stream; what the POST itself is answered with
    /// does not matter as long as its status is 2xx.
    pub async fn send(&self, message: Bytes) -> Result<(), HttpError> {
        let Inner { client, endpoint, fields } = &*self.0;
        let request =
            Request { method: Method::POST, target: endpoint.clone(), fields: fields.clone(), body: message };
        let answer = client.ask(request).await?;
        if !answer.head.status.is_success() {
            return Err(Box::new(StatusError::read(answer, client.options().body_limit).await).into());
        }
        drain(answer.body).await;
        Ok(())
    }
}
