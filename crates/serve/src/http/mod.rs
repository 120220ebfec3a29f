//! The HTTP front: one endpoint for all revisions, and a few pages about ourselves.

mod answer;
mod body;
mod legacy;
mod modern;
mod sse;

use crate::{era::Head, guard::Denied, service::Service};
use ::http::{HeaderMap, Method, Request, Response, StatusCode, header};
use answer::{Answer, empty, error, json, plain};
use hyper::body::Incoming;
use std::{net::SocketAddr, sync::Arc};
use trunkline_protocol::{Caller, Envelope, Era, ErrorObject, Fault, FaultKind, Frame};
use trunkline_transport::headers::{MCP_PROTOCOL_VERSION, MCP_SESSION_ID};

pub(crate) use sse::SseClients;

/// Where MCP is spoken.
const ENDPOINT: &str = "/mcp";

/// A request that was let in.
pub(crate) struct Visit {
    pub(crate) service: Arc<Service>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) headers: HeaderMap,
}

/// Answers one request. It never fails: what goes wrong is an answer, too.
pub(crate) async fn serve(
    service: Arc<Service>,
    request: Request<Incoming>,
    peer: SocketAddr,
    port: u16,
) -> Response<Answer> {
    let (head, body) = request.into_parts();
    if let Err(denied) = service.options.guard.check_headers(&head.uri, &head.headers, port) {
        return deny(&service, denied);
    }
    match (&head.method, head.uri.path()) {
        (&Method::GET, "/healthz") => return plain(StatusCode::OK, "ok\n"),
        (&Method::GET, "/readyz") if service.is_draining() => {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "draining\n");
        }
        (&Method::GET, "/readyz") => return plain(StatusCode::OK, "ready\n"),
        (&Method::GET, path) if path.starts_with("/.well-known/oauth-protected-resource") => {
            return metadata(&service);
        }
        _ => {}
    }
    let caller = match service.options.guard.identify(&head.headers, peer).await {
        Ok(caller) => caller,
        Err(denied) => return deny(&service, denied),
    };
    let visit = Visit { service, caller, headers: head.headers };
    match (head.method, head.uri.path()) {
        (Method::POST, ENDPOINT) => visit.post(body).await,
        (Method::GET, ENDPOINT) => visit.get(),
        (Method::DELETE, ENDPOINT) => visit.delete(),
        (Method::GET, "/sse") => visit.open_sse(),
        (Method::POST, "/message") => visit.post_message(head.uri.query(), body).await,
        (Method::GET, "/metrics") => visit.metrics(),
        (_, ENDPOINT | "/sse" | "/message" | "/metrics" | "/healthz" | "/readyz") => error(
            StatusCode::METHOD_NOT_ALLOWED,
            None,
            ErrorObject::new(-32600, "this method is not allowed here"),
        ),
        _ => plain(StatusCode::NOT_FOUND, "nothing here; MCP is spoken at /mcp\n"),
    }
}

impl Visit {
    async fn post(self, body: Incoming) -> Response<Answer> {
        let bytes = match body::read(&self, body).await {
            Ok(bytes) => bytes,
            Err(refusal) => return *refusal,
        };
        let frame = match Frame::parse(&bytes) {
            Ok(frame) => frame,
            Err(malformed) => {
                let error_object = ErrorObject::new(malformed.rpc_code(), malformed.to_string());
                return error(StatusCode::BAD_REQUEST, malformed.id.as_ref(), error_object);
            }
        };
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

    fn metrics(&self) -> Response<Answer> {
        let text = self.service.metrics.render(self.service.sessions.len(), self.service.parking.len());
        plain(StatusCode::OK, &text)
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

/// A notification or an answer was taken.
fn accepted() -> Response<Answer> {
    empty(StatusCode::ACCEPTED)
}
