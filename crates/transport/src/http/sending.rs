//! A request on its way, until the head of its answer is there.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, header};
use http_body_util::Full;
use hyper_util::client::legacy::ResponseFuture;
use tokio::net::TcpStream;
use tokio::time::Instant;
use trunkline_http1::client::{Connection, RequestError, ResponseBody, ResponseError, ResponseHead};
use trunkline_http1::write_header;
use trunkline_resilience::Deadline;

use super::answer::{Answer, Head};
use super::arriving::Arriving;
use super::client::HttpClient;
use super::connector::Connecting;
use super::error::{HttpError, Phase};
use super::fields::Fields;
use super::opening::Opening;
use super::redirect::{self, MAX_REDIRECTS, RedirectError};
use super::target::Target;

/// A connection that was asked for longer ago is checked before it is used.
const FRESH: Duration = Duration::from_secs(1);

/// What is asked.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) opening: Arc<Opening>,
    /// What this request says beside its opening.
    pub(crate) fields: Fields,
    pub(crate) body: Bytes,
}

/// Nothing is sent before it is polled. Dropping it takes the request back.
pub(crate) struct Sending {
    client: HttpClient,
    request: Request,
    redirects: usize,
    way: Way,
    /// Set when there is something to wait for.
    limit: Option<Box<Deadline>>,
}

enum Way {
    Unsent,
    /// Opening a plain connection; since when, if it is the first attempt.
    Connecting(Connecting, Option<Instant>),
    Plain(Box<Connection<TcpStream>>, Origin),
    Secure(ResponseFuture),
    Over,
}

/// Where a plain connection comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Pool,
    New,
}

impl Sending {
    pub(super) fn new(client: HttpClient, mut request: Request) -> Self {
        request.fields.complete(&client.options().extra_headers, &request.opening.fields);
        Self { client, request, redirects: 0, way: Way::Unsent, limit: None }
    }

    /// Waits for the head of the answer, whatever its status; redirects within the origin are followed.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answer, HttpError>> {
        loop {
            let answer = match self.poll_way(cx) {
                Poll::Ready(answer) => answer?,
                Poll::Pending => {
                    let error = ready!(self.poll_limit(cx));
                    return Poll::Ready(Err(error));
                }
            };
            let opening = &self.request.opening;
            let location = || answer.head.get(&header::LOCATION);
            let Some(next) = redirect::next(&opening.target, &opening.method, answer.head.status, location)?
            else {
                return Poll::Ready(Ok(answer));
            };
            if self.redirects == MAX_REDIRECTS {
                return Poll::Ready(Err(RedirectError::TooMany.into()));
            }
            self.redirects += 1;
            self.request.opening = Arc::new(opening.towards(next));
            self.way = Way::Unsent;
            self.limit = None;
        }
    }

    fn poll_way(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answer, HttpError>> {
        let Self { client, request, way, .. } = self;
        let target = &request.opening.target;
        loop {
            match way {
                Way::Unsent if !target.is_plain() => {
                    *way = Way::Secure(client.secure().request(request.to_http()));
                }
                Way::Unsent => {
                    *way = match client.pool().take(target.authority()) {
                        Some(connection) => Way::start(connection, Origin::Pool, request),
                        None => Way::Connecting(client.connect(target), Some(Instant::now())),
                    };
                }
                Way::Connecting(connecting, since) => {
                    let stream = ready!(connecting.as_mut().poll(cx))?;
                    let mut connection = Box::new(Connection::new(stream, target.authority().into()));
                    // If it took long until we saw the connection, the server may have closed it.
                    let is_old = since.is_some_and(|since| since.elapsed() > FRESH);
                    *way = if is_old && !connection.is_quiet() {
                        Way::Connecting(client.connect(target), None)
                    } else {
                        Way::start(connection, Origin::New, request)
                    };
                }
                Way::Plain(connection, origin) => match ready!(connection.poll_response(cx)) {
                    Ok(head) => return Poll::Ready(Ok(way.answer(head, client))),
                    // The server closed the connection while it was idle.
                    Err(RequestError::Unsent(_)) if *origin == Origin::Pool => *way = Way::Unsent,
                    Err(error) => {
                        *way = Way::Over;
                        return Poll::Ready(Err(error.into()));
                    }
                },
                Way::Secure(answer) => {
                    let answer = ready!(Pin::new(answer).poll(cx)).map_err(HttpError::from_request)?;
                    return Poll::Ready(Ok(answer.map(Arriving::driven_elsewhere).into()));
                }
                Way::Over => return Poll::Pending,
            }
        }
    }

    fn poll_limit(&mut self, cx: &mut Context<'_>) -> Poll<HttpError> {
        let Some(limit) = self.client.options().head_timeout else { return Poll::Pending };
        let timer = self.limit.get_or_insert_with(|| Box::new(Deadline::after(limit)));
        Pin::new(&mut **timer).poll(cx).map(|()| HttpError::Timeout { phase: Phase::Head, limit })
    }
}

impl Way {
    fn start(mut connection: Box<Connection<TcpStream>>, origin: Origin, request: &Request) -> Self {
        connection.start(&request.opening.method, &request.body, |out| request.write_head(out));
        Self::Plain(connection, origin)
    }

    fn answer(&mut self, head: ResponseHead, client: &HttpClient) -> Answer {
        let Self::Plain(connection, _) = std::mem::replace(self, Self::Over) else {
            unreachable!("only an open connection is answered")
        };
        let ResponseHead { status, headers, framing, reuse } = head;
        let body = ResponseBody::new(connection, Arc::clone(client.pool()), framing, reuse);
        Answer { head: Head::from_raw(status, headers), body: Arriving::plain(body) }
    }
}

impl From<RequestError> for HttpError {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Unsent(error) | RequestError::Failed(ResponseError::Io(error)) => {
                Self::broken(error)
            }
            RequestError::Failed(error) => Self::broken(error),
        }
    }
}

impl Request {
    /// Writes the request line and the headers, without those of the framing.
    fn write_head(&self, out: &mut Vec<u8>) {
        let Self { opening, fields, .. } = self;
        out.extend_from_slice(&opening.text);
        if fields.get(&header::HOST).is_none() {
            out.extend_from_slice(&opening.host);
        }
        for (name, value) in fields.iter() {
            if *name != header::CONTENT_LENGTH && *name != header::TRANSFER_ENCODING {
                write_header(out, name.as_str(), value.as_bytes());
            }
        }
    }

    /// A request that shares its opening with no other.
    pub(crate) fn new(method: Method, target: Target, fields: Fields, body: Bytes) -> Self {
        Self { opening: Arc::new(Opening::new(method, target, Fields::default())), fields, body }
    }

    fn to_http(&self) -> http::Request<Full<Bytes>> {
        let mut request = http::Request::new(Full::new(self.body.clone()));
        let Opening { method, target, fields, .. } = &*self.opening;
        *request.method_mut() = method.clone();
        *request.uri_mut() = target.uri().clone();
        let all = fields.iter().chain(self.fields.iter());
        let headers = request.headers_mut();
        for (name, value) in all {
            headers.append(name.clone(), value.clone());
        }
        request
    }
}
