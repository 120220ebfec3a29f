//! A request on its way, until the head of its answer is there.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Method, header};
use http_body_util::Full;
use hyper_util::client::legacy::ResponseFuture;
use trunkline_resilience::Alarm;

use super::answer::Answer;
use super::arriving::Arriving;
use super::client::HttpClient;
use super::error::{HttpError, Phase};
use super::fields::Fields;
use super::opening::Opening;
use super::plain::Asking;
use super::redirect::{self, MAX_REDIRECTS, RedirectError};
use super::target::Target;

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
    limit: Option<Box<Alarm>>,
}

enum Way {
    Unsent,
    Plain(Asking),
    Secure(ResponseFuture),
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
        loop {
            match way {
                Way::Plain(asking) => return asking.poll(client.plain(), request, cx),
                Way::Secure(answer) => {
                    let answer = ready!(Pin::new(answer).poll(cx)).map_err(HttpError::from_request)?;
                    return Poll::Ready(Ok(answer.map(Arriving::driven_elsewhere).into()));
                }
                Way::Unsent if request.opening.target.is_plain() => *way = Way::Plain(Asking::default()),
                Way::Unsent => *way = Way::Secure(client.secure().request(request.to_http())),
            }
        }
    }

    fn poll_limit(&mut self, cx: &mut Context<'_>) -> Poll<HttpError> {
        let Some(limit) = self.client.options().head_timeout else { return Poll::Pending };
        let timer = self.limit.get_or_insert_with(|| Box::new(Alarm::after(limit)));
        Pin::new(&mut **timer).poll(cx).map(|()| HttpError::Timeout { phase: Phase::Head, limit })
    }
}

impl Request {
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
