//! The pooled client.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Response};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::net::TcpStream;
use trunkline_http1::client::Pool;

use super::answer::Answer;
use super::arriving::Arriving;
use super::connector::{Connecting, Connector};
use super::error::HttpError;
use super::options::{ForbiddenHeader, HttpOptions};
use super::redirect::Redirected;
use super::sending::{Request, Sending};
use super::target::Target;

/// An HTTP client with its own connection pool; clones share it.
#[derive(Clone)]
pub struct HttpClient(Arc<Inner>);

struct Inner {
    connector: Connector,
    /// Idle plain connections.
    plain: Arc<Pool<TcpStream>>,
    /// The client of TLS connections, which may use HTTP/2.
    secure: Client<Connector, Full<Bytes>>,
    options: HttpOptions,
}

impl HttpClient {
    pub fn new(options: HttpOptions) -> Result<Self, ForbiddenHeader> {
        options.check()?;
        let connector = Connector::new(&options);
        let plain = Pool::new(options.pool_max_idle, options.pool_idle_timeout);
        let secure = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(options.pool_idle_timeout)
            .pool_max_idle_per_host(options.pool_max_idle)
            .build(connector.clone());
        Ok(Self(Arc::new(Inner { connector, plain, secure, options })))
    }

    pub fn options(&self) -> &HttpOptions {
        &self.0.options
    }

    /// Sends a request and waits for the head of the response, whatever its status; follows
    /// redirects within the origin, and then adds [`Redirected`] to the response's extensions.
    /// Dropping the future, or the response's body, cancels the request.
    pub async fn send(
        &self,
        method: Method,
        target: &Target,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Arriving>, HttpError> {
        let request = Request::new(method, target.clone(), headers.into(), body);
        let mut sending = self.begin(request);
        let mut response = std::future::poll_fn(|cx| sending.poll(cx)).await?.into_response();
        if let Some(target) = sending.redirected() {
            response.extensions_mut().insert(Redirected(target.url().clone()));
        }
        Ok(response)
    }

    /// As [`send`](Self::send), with unparsed headers.
    pub(crate) async fn ask(&self, request: Request) -> Result<Answer, HttpError> {
        let mut sending = self.begin(request);
        std::future::poll_fn(|cx| sending.poll(cx)).await
    }

    /// Prepares a request for callers that poll.
    pub(crate) fn begin(&self, request: Request) -> Sending {
        Sending::new(self.clone(), request)
    }

    pub(super) fn pool(&self) -> &Arc<Pool<TcpStream>> {
        &self.0.plain
    }

    /// Opens a plain connection.
    pub(super) fn connect(&self, target: &Target) -> Connecting {
        self.0.plain.start_sweeper();
        self.0.connector.plain(target.uri())
    }

    pub(super) fn secure(&self) -> &Client<Connector, Full<Bytes>> {
        &self.0.secure
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}
