//! The half that posts messages.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};

use crate::http::{HttpClient, HttpError, StatusError, Target, drain};

/// Posts messages to the endpoint the server has named; clones post to the same.
#[derive(Debug, Clone)]
pub struct Sender(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: HttpClient,
    endpoint: Target,
    headers: HeaderMap,
}

impl Sender {
    pub(super) fn new(client: HttpClient, endpoint: Target, mut headers: HeaderMap) -> Self {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self(Arc::new(Inner { client, endpoint, headers }))
    }

    pub fn endpoint(&self) -> &Target {
        &self.0.endpoint
    }

    /// Posts one message. Its answer, if it has one, comes over the stream; what the POST itself is answered with
    /// does not matter as long as its status is 2xx.
    pub async fn send(&self, message: Bytes) -> Result<(), HttpError> {
        let Inner { client, endpoint, headers } = &*self.0;
        let response = client.send(Method::POST, endpoint, headers.clone(), message).await?;
        if !response.status().is_success() {
            return Err(Box::new(StatusError::read(response, client.options().body_limit).await).into());
        }
        drain(response.into_body()).await;
        Ok(())
    }
}
