//! The pooled client.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::arriving::Arriving;
use super::connector::Connector;
use super::error::{HttpError, Phase};
use super::options::{ForbiddenHeader, HttpOptions};
use super::plain::PlainPool;
use super::redirect::{self, MAX_REDIRECTS, RedirectError};
use super::target::Target;

/// An HTTP client with its own connection pool; clones share it.
#[derive(Clone)]
pub struct HttpClient(Arc<Inner>);

struct Inner {
    plain: PlainPool,
    /// For secure connections, which may speak HTTP/2.
    secure: Client<Connector, Full<Bytes>>,
    options: HttpOptions,
}

impl HttpClient {
    pub fn new(options: HttpOptions) -> Result<Self, ForbiddenHeader> {
        options.check()?;
        let connector = Connector::new(&options);
        let plain = PlainPool::new(connector.clone(), &options);
        let secure = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(options.pool_idle_timeout)
            .pool_max_idle_per_host(options.pool_max_idle)
            .build(connector);
        Ok(Self(Arc::new(Inner { plain, secure, options })))
    }

    pub fn options(&self) -> &HttpOptions {
        &self.0.options
    }

    /// Sends a request and waits for the head of its answer, whatever its status, following redirects within the
    /// origin. Dropping the future, or the answer's body, takes the request back.
    pub async fn send(
        &self,
        method: Method,
        target: &Target,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Arriving>, HttpError> {
        self.add_extra(&mut headers);
        let mut target = target.clone();
        for _ in 0..=MAX_REDIRECTS {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = target.uri().clone();
            *request.headers_mut() = headers.clone();
            let response = self.request(&target, request).await?;
            match redirect::next(&target, &method, response.status(), response.headers())? {
                Some(next) => target = next,
                None => return Ok(response),
            }
        }
        Err(RedirectError::TooMany.into())
    }

    async fn request(
        &self,
        target: &Target,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Arriving>, HttpError> {
        let answer = async {
            if target.url().scheme() == "http" {
                return self.0.plain.request(target, request).await;
            }
            let answered = self.0.secure.request(request).await.map_err(HttpError::from_request)?;
            Ok(answered.map(Arriving::driven_elsewhere))
        };
        match self.0.options.head_timeout {
            None => answer.await,
            Some(limit) => tokio::time::timeout(limit, answer)
                .await
                .map_err(|_| HttpError::Timeout { phase: Phase::Head, limit })?,
        }
    }

    fn add_extra(&self, headers: &mut HeaderMap) {
        let extra = &self.0.options.extra_headers;
        for name in extra.keys() {
            if !headers.contains_key(name) {
                for value in extra.get_all(name) {
                    headers.append(name, value.clone());
                }
            }
        }
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}
