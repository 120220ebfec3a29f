//! The half that posts messages.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};

use crate::http::{Fields, HttpClient, HttpError, Request, RequestTemplate, StatusError, Target, drain};

/// Posts messages to the endpoint that the server has named; clones share it.
#[derive(Debug, Clone)]
pub struct Sender(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: HttpClient,
    template: Arc<RequestTemplate>,
}

impl Sender {
    pub(super) fn new(client: HttpClient, endpoint: Target, mut headers: HeaderMap) -> Self {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let template = RequestTemplate::new(Method::POST, endpoint, headers.into());
        Self(Arc::new(Inner { client, template: Arc::new(template) }))
    }

    pub fn endpoint(&self) -> &Target {
        self.0.template.target()
    }

    /// Posts one message. Its JSON-RPC response arrives on the stream; the body of the HTTP
    /// response is ignored if its status is 2xx.
    pub async fn send(&self, message: Bytes) -> Result<(), HttpError> {
        let Inner { client, template } = &*self.0;
        let request = Request { template: Arc::clone(template), fields: Fields::default(), body: message };
        let answer = client.ask(request).await?;
        if !answer.head.status.is_success() {
            return Err(Box::new(StatusError::read(answer, client.options().body_limit).await).into());
        }
        drain(answer.body).await;
        Ok(())
    }
}
