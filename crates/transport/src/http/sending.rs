//! A request in flight, until the head of its response arrives.

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
use trunkline_http1::client::{
    Connection, HeadError, RequestError, ResponseBody, ResponseError, ResponseHead,
};
use trunkline_http1::write_header;
use trunkline_resilience::{Deadline, hold};

use super::answer::{Answer, Head};
use super::arriving::Arriving;
use super::client::HttpClient;
use super::connector::Connecting;
use super::credentials::{MAX_REFUSALS, Refusal, Supply, Supplying};
use super::error::{HttpError, Phase};
use super::fields::Fields;
use super::redirect::{self, MAX_REDIRECTS, RedirectError, Redirects};
use super::request_template::RequestTemplate;
use super::target::Target;
use super::tls_error::TlsError;

/// If opening a connection took longer, it is checked before use.
const FRESH: Duration = Duration::from_secs(1);

/// A request to send.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) template: Arc<RequestTemplate>,
    /// Headers of this request in addition to those of `template`.
    pub(crate) fields: Fields,
    pub(crate) body: Bytes,
}

/// A request in flight. It is sent when first polled; dropping it cancels the request.
pub(crate) struct Sending {
    client: HttpClient,
    request: Request,
    redirects: usize,
    authorization: Authorization,
    state: SendState,
    /// The head timeout, armed when the first poll is pending.
    limit: Option<Box<Deadline>>,
}

/// The use of the client's [`Credentials`](super::Credentials) for this request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Authorization {
    /// The request has its own header, or the client has no credentials.
    Off,
    /// Their header is still to be added.
    Due,
    /// Their header was sent, and refused so many times.
    Sent { refusals: usize },
}

enum SendState {
    Unsent,
    /// Waits for credentials; after a refusal with the refused response.
    Authorizing(Supplying, Option<Box<Answer>>),
    /// Opening a plain connection, with the start time of the first attempt.
    Connecting(Connecting, Option<Instant>),
    Plain(Box<Connection<TcpStream>>, Origin),
    Secure(ResponseFuture),
    Over,
}

/// The source of a plain connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Pool,
    New,
}

impl Sending {
    pub(super) fn new(client: HttpClient, mut request: Request) -> Self {
        request.fields.complete(&client.options().extra_headers, &request.template.fields);
        let is_off =
            client.options().credentials.is_none() || request.fields.get(&header::AUTHORIZATION).is_some();
        let authorization = if is_off { Authorization::Off } else { Authorization::Due };
        Self { client, request, redirects: 0, authorization, state: SendState::Unsent, limit: None }
    }

    /// Waits for the head of the response, whatever its status; follows redirects within the
    /// origin.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answer, HttpError>> {
        if matches!(self.state, SendState::Unsent) {
            self.request.body = hold(std::mem::take(&mut self.request.body)).map_err(HttpError::NotSent)?;
        }
        loop {
            let answer = match self.poll_state(cx) {
                Poll::Ready(answer) => answer?,
                Poll::Pending => {
                    let error = ready!(self.poll_limit(cx));
                    return Poll::Ready(Err(error));
                }
            };
            let Some(answer) = self.questioned(answer) else { continue };
            if self.client.options().redirects == Redirects::Returned {
                return Poll::Ready(Ok(answer));
            }
            let template = &self.request.template;
            let location = || answer.head.get(&header::LOCATION);
            let Some(next) =
                redirect::next(&template.target, &template.method, answer.head.status, location)?
            else {
                return Poll::Ready(Ok(answer));
            };
            if self.redirects == MAX_REDIRECTS {
                return Poll::Ready(Err(RedirectError::TooMany.into()));
            }
            self.redirects += 1;
            self.request.template = Arc::new(template.with_target(next));
            self.state = SendState::Unsent;
            self.limit = None;
        }
    }

    /// The last target, if there was a redirect.
    pub(super) fn redirected(&self) -> Option<&Target> {
        (self.redirects > 0).then_some(&self.request.template.target)
    }

    /// Hands a refusal of credentials to their supplier; returns every other response.
    fn questioned(&mut self, answer: Answer) -> Option<Answer> {
        let Authorization::Sent { refusals } = self.authorization else { return Some(answer) };
        if refusals >= MAX_REFUSALS {
            return Some(answer);
        }
        let sent = self.request.fields.get(&header::AUTHORIZATION);
        let (Some(refusal), Some(credentials)) =
            (Refusal::of(&answer, sent, refusals), &self.client.options().credentials)
        else {
            return Some(answer);
        };
        self.authorization = Authorization::Sent { refusals: refusals + 1 };
        self.state = SendState::Authorizing(credentials.refused(refusal), Some(Box::new(answer)));
        self.limit = None;
        None
    }

    /// Adds the credentials, or waits for them. A response is a refusal that nothing can be done
    /// about.
    fn poll_credentials(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Answer>, HttpError>> {
        if self.authorization == Authorization::Due
            && let Some(credentials) = &self.client.options().credentials
        {
            self.authorization = Authorization::Sent { refusals: 0 };
            match credentials.header() {
                Supply::Ready(header) => self.request.authorize(header),
                Supply::Pending(future) => self.state = SendState::Authorizing(future, None),
            }
        }
        let SendState::Authorizing(supplying, refused) = &mut self.state else {
            return Poll::Ready(Ok(None));
        };
        let supplied = ready!(supplying.as_mut().poll(cx));
        let refused = refused.take();
        self.state = SendState::Unsent;
        match (supplied.map_err(Box::new)?, refused) {
            (None, Some(answer)) => {
                self.authorization = Authorization::Off;
                self.state = SendState::Over;
                Poll::Ready(Ok(Some(*answer)))
            }
            (header, _) => {
                self.request.authorize(header);
                Poll::Ready(Ok(None))
            }
        }
    }

    fn poll_state(&mut self, cx: &mut Context<'_>) -> Poll<Result<Answer, HttpError>> {
        if let Some(refused) = ready!(self.poll_credentials(cx))? {
            return Poll::Ready(Ok(refused));
        }
        let Self { client, request, state, .. } = self;
        let target = &request.template.target;
        loop {
            match state {
                SendState::Unsent if !target.is_plain() => {
                    *state = SendState::Secure(client.secure().request(request.to_http()));
                }
                SendState::Unsent => {
                    *state = match client.pool().take(target.authority()) {
                        Some(connection) => SendState::start(connection, Origin::Pool, request),
                        None => SendState::Connecting(client.connect(target), Some(Instant::now())),
                    };
                }
                SendState::Connecting(connecting, since) => {
                    let stream = ready!(connecting.as_mut().poll(cx))?;
                    let mut connection = Box::new(Connection::new(stream, target.authority().into()));
                    // If this process was paused meanwhile, the server may have closed the
                    // connection.
                    let is_old = since.is_some_and(|since| since.elapsed() > FRESH);
                    *state = if is_old && !connection.is_quiet() {
                        SendState::Connecting(client.connect(target), None)
                    } else {
                        SendState::start(connection, Origin::New, request)
                    };
                }
                SendState::Plain(connection, origin) => match ready!(connection.poll_response(cx)) {
                    Ok(head) => return Poll::Ready(Ok(state.answer(head, client))),
                    // The server closed the connection while it was idle.
                    Err(RequestError::Unsent(_)) if *origin == Origin::Pool => *state = SendState::Unsent,
                    Err(error) => {
                        *state = SendState::Over;
                        return Poll::Ready(Err(error.into()));
                    }
                },
                SendState::Secure(answer) => {
                    let answer = ready!(Pin::new(answer).poll(cx)).map_err(HttpError::from_request)?;
                    return Poll::Ready(Ok(answer.map(Arriving::driven_elsewhere).into()));
                }
                SendState::Over | SendState::Authorizing(..) => return Poll::Pending,
            }
        }
    }

    fn poll_limit(&mut self, cx: &mut Context<'_>) -> Poll<HttpError> {
        let Some(limit) = self.client.options().head_timeout else { return Poll::Pending };
        let timer = self.limit.get_or_insert_with(|| Box::new(Deadline::after(limit)));
        Pin::new(&mut **timer).poll(cx).map(|()| HttpError::Timeout { phase: Phase::Head, limit })
    }
}

impl SendState {
    fn start(mut connection: Box<Connection<TcpStream>>, origin: Origin, request: &Request) -> Self {
        connection.start(&request.template.method, &request.body, |out| request.write_head(out));
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
            RequestError::Failed(ResponseError::Head(HeadError::TlsAlert)) => {
                Self::Tls(Box::new(TlsError::PlainRequest))
            }
            RequestError::Failed(error) => Self::broken(error),
        }
    }
}

impl Request {
    fn authorize(&mut self, header: Option<http::HeaderValue>) {
        match header {
            Some(value) => self.fields.set(header::AUTHORIZATION, value),
            None => drop(self.fields.remove(&header::AUTHORIZATION)),
        }
    }

    /// Writes the request line and the headers, without the framing headers.
    fn write_head(&self, out: &mut Vec<u8>) {
        let Self { template, fields, .. } = self;
        out.extend_from_slice(&template.text);
        if fields.get(&header::HOST).is_none() {
            out.extend_from_slice(&template.host);
        }
        for (name, value) in fields.iter() {
            if *name != header::CONTENT_LENGTH && *name != header::TRANSFER_ENCODING {
                write_header(out, name.as_str(), value.as_bytes());
            }
        }
    }

    /// A request with its own `template`, not shared with others.
    pub(crate) fn new(method: Method, target: Target, fields: Fields, body: Bytes) -> Self {
        Self { template: Arc::new(RequestTemplate::new(method, target, Fields::default())), fields, body }
    }

    fn to_http(&self) -> http::Request<Full<Bytes>> {
        let mut request = http::Request::new(Full::new(self.body.clone()));
        let RequestTemplate { method, target, fields, .. } = &*self.template;
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
