//! The HTTP front: one endpoint for all revisions, and a few pages about ourselves.

mod answer;
mod body;
mod legacy;
mod modern;
mod sse;
mod trace_context;

use crate::{access, doors::Doors, era::Head, guard::Denied, service::Service};
use ::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use answer::{Answer, empty, error, json, plain};
use hyper::body::Incoming;
use std::{net::SocketAddr, sync::Arc};
use trunkline_protocol::{Caller, Envelope, Era, ErrorObject, Fault, FaultKind, Frame};
use trunkline_transport::headers::{MCP_PROTOCOL_VERSION, MCP_SESSION_ID};

pub(crate) use sse::SseClients;

/// A request that was let in.
pub(crate) struct Visit {
    pub(crate) service: Arc<Service>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) headers: HeaderMap,
}

/// Answers one request. It never fails: what goes wrong is an answer, too.
pub(crate) async fn serve(
    doors: Arc<Doors>,
    request: Request<Incoming>,
    peer: SocketAddr,
    port: u16,
) -> Response<Answer> {
    let Some(hook) = doors.main.options.access.clone() else {
        return answer(doors, request, peer, port).await;
    };
    let answer = |request| answer(doors, request, peer, port);
    let (response, finish) = access::watched(hook, request, peer, answer).await;
    response.map(|body| body.watched(finish))
}

async fn answer(
    doors: Arc<Doors>,
    request: Request<Incoming>,
    peer: SocketAddr,
    port: u16,
) -> Response<Answer> {
    let (head, body) = request.into_parts();
    let main = &doors.main;
    if let Err(denied) = main.options.guard.check_headers(&head.uri, &head.headers, port) {
        return deny(main, denied);
    }
    match (&head.method, head.uri.path()) {
        (&Method::GET, "/healthz") => return plain(StatusCode::OK, "ok\n"),
        (&Method::GET, "/readyz") if main.is_draining() => {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "draining\n");
        }
        (&Method::GET, "/readyz") => return plain(StatusCode::OK, "ready\n"),
        (&Method::GET, path) if path.starts_with("/.well-known/oauth-protected-resource") => {
            return metadata(main);
        }
        _ => {}
    }
    let caller = match main.options.guard.identify(&head.headers, peer).await {
        Ok(caller) => caller,
        Err(denied) => return deny(main, denied),
    };
    access::note(|note| note.caller = Some(caller.clone()));
    let path = head.uri.path();
    let Some((place, service)) = Place::of(path).and_then(|(place, view)| Some((place, doors.find(view)?)))
    else {
        return page(&doors, &head.method, path, &caller);
    };
    let visit = Visit { service, caller, headers: head.headers };
    match (place, head.method) {
        (Place::Endpoint, Method::POST) => visit.post(body).await,
        (Place::Endpoint, Method::GET) => visit.get(),
        (Place::Endpoint, Method::DELETE) => visit.delete(),
        (Place::Sse, Method::GET) => visit.open_sse(),
        (Place::Message, Method::POST) => visit.post_message(head.uri.query(), body).await,
        _ => not_allowed(),
    }
}

/// Where MCP is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Endpoint,
    /// Where a client of HTTP+SSE listens.
    Sse,
    /// Where it posts.
    Message,
}

impl Place {
    /// The place of a path, and the view that the rest of the path names.
    fn of(path: &str) -> Option<(Self, &str)> {
        let places = [("/mcp", Self::Endpoint), ("/sse", Self::Sse), ("/message", Self::Message)];
        places.into_iter().find_map(|(start, place)| {
            let rest = path.strip_prefix(start)?;
            let view =
                if rest.is_empty() { "" } else { rest.strip_prefix('/').filter(|view| !view.is_empty())? };
            Some((place, view))
        })
    }
}

/// A page about ourselves.
fn page(doors: &Doors, method: &Method, path: &str, caller: &Caller) -> Response<Answer> {
    let options = &doors.main.options;
    let page = options.pages.iter().find(|page| page.path == path);
    match (method, page) {
        (&Method::GET, Some(page)) => {
            let mut response = plain(StatusCode::OK, &(page.render)(caller));
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(page.content_type));
            response
        }
        (&Method::GET, None) if path == "/metrics" => {
            let (sessions, parked) = doors.held();
            let mut text = doors.main.metrics.render(sessions, parked);
            if let Some(more) = &options.more_metrics {
                text.push_str(&more(caller));
            }
            plain(StatusCode::OK, &text)
        }
        (_, Some(_)) => not_allowed(),
        (_, None) if ["/metrics", "/healthz", "/readyz"].contains(&path) => not_allowed(),
        _ => plain(StatusCode::NOT_FOUND, "nothing here; MCP is spoken at /mcp\n"),
    }
}

fn not_allowed() -> Response<Answer> {
    let text = "this method is not allowed here";
    error(StatusCode::METHOD_NOT_ALLOWED, None, ErrorObject::new(-32600, text))
}

impl Visit {
    async fn post(self, body: Incoming) -> Response<Answer> {
        let bytes = match body::read(&self, body).await {
            Ok(bytes) => bytes,
            Err(refusal) => return *refusal,
        };
        access::note(|note| note.bytes_in = bytes.len() as u64);
        let frame = match Frame::parse(&bytes) {
            Ok(frame) => frame,
            Err(malformed) => {
                let error_object = ErrorObject::new(malformed.rpc_code(), malformed.to_string());
                return error(StatusCode::BAD_REQUEST, malformed.id.as_ref(), error_object);
            }
        };
        let frame = trace_context::adopted(frame, &self.headers);
        access::note(|note| note.method = asked(&frame));
        match frame {
            Frame::One(envelope) => {
                let head = match &envelope {
                    Envelope::Request(request) => Head::of(request),
                    Envelope::Notification(_) | Envelope::Response(_) => Head::default(),
                };
                if self.speaks_modern(&envelope, &head) {
                    self.post_modern(envelope, head).await
                } else {
                    self.post_legacy(envelope).await
                }
            }
            Frame::Batch(messages) => self.post_batch(messages).await,
        }
    }

    /// Which era a message belongs to: what it says itself comes first, then its version header.
    fn speaks_modern(&self, envelope: &Envelope, head: &Head) -> bool {
        let eras = self.service.options.eras;
        if !eras.allows(Era::Legacy) {
            return true;
        }
        if !eras.allows(Era::Modern) {
            return false;
        }
        if matches!(envelope, Envelope::Request(request) if head.is_modern(request)) {
            return true;
        }
        let version = self.headers.get(MCP_PROTOCOL_VERSION).and_then(|value| value.to_str().ok());
        let modern = version
            .and_then(|text| text.parse::<trunkline_protocol::Revision>().ok())
            .is_some_and(|r| r.era() == Era::Modern);
        modern && !self.headers.contains_key(MCP_SESSION_ID)
    }
}

fn metadata(service: &Service) -> Response<Answer> {
    match &service.options.guard.metadata {
        Some(document) => json(StatusCode::OK, document.clone().into()),
        None => plain(StatusCode::NOT_FOUND, "no tokens are asked for here\n"),
    }
}

fn deny(service: &Service, denied: Denied) -> Response<Answer> {
    service.metrics.denied();
    let status = StatusCode::from_u16(denied.status).unwrap_or(StatusCode::FORBIDDEN);
    let kind = match denied.status {
        401 => FaultKind::Unauthorized,
        429 => FaultKind::RateLimited,
        400 => FaultKind::InvalidRequest,
        503 => FaultKind::Unavailable,
        _ => FaultKind::Forbidden,
    };
    let mut response = error(status, None, Fault::new(kind, denied.message).to_error(Era::Modern));
    if let Some(challenge) = denied.challenge {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// The method of a frame that has one.
fn asked(frame: &Frame) -> Option<std::borrow::Cow<'static, str>> {
    match frame {
        Frame::One(Envelope::Request(request)) => Some(request.method.clone()),
        Frame::One(Envelope::Notification(notification)) => Some(notification.method.clone()),
        Frame::One(Envelope::Response(_)) | Frame::Batch(_) => None,
    }
}

/// A notification or an answer was taken.
fn accepted() -> Response<Answer> {
    empty(StatusCode::ACCEPTED)
}
