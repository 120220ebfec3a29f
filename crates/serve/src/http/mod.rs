//! The HTTP front: one endpoint for all revisions, and a few pages about ourselves.

mod answer;
mod body;
mod connection;
mod hang_up;
mod legacy;
mod line;
mod modern;
mod sse;
mod trace_context;

use crate::{
    access,
    doors::Doors,
    era::{Head, ModernReply, ModernRequest},
    guard::{Admission, Denied},
    options::Eras,
    service::Service,
};
use ::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use answer::{Answer, empty, error, json, plain};
use connection::Incoming;
use hang_up::outlasting;
use legacy::Running;
use line::Answering;
use std::sync::Arc;
use trunkline_protocol::{
    Caller, Envelope, Era, ErrorObject, Fault, FaultKind, Frame, Malformed, Request as RpcRequest, Revision,
};
use trunkline_transport::headers::{MCP_PROTOCOL_VERSION, MCP_SESSION_ID};

pub(crate) use connection::{Connection, Stay};
pub use connection::{End, Heard, hear};
pub(crate) use line::Line;
pub(crate) use sse::SseClients;

/// A request that was let in.
pub(crate) struct Visit {
    pub(crate) service: Arc<Service>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) headers: HeaderMap,
}

/// Marks a request whose client takes no answer in a form that we have.
#[derive(Debug, Clone, Copy)]
struct Deaf;

/// What came of a message so far.
enum Begun {
    Legacy(Running),
    Modern(ModernReply),
    Answered(Box<Response<Answer>>),
    Rare(Rare),
}

/// What takes more than a call does.
enum Rare {
    /// A session is opened.
    Initialize(Box<RpcRequest>),
    /// Too little is known of the handler to begin this call.
    Unready(Box<ModernRequest>),
    Batch(Vec<Result<Envelope, Malformed>>),
}

/// Answers one request, if it is let in.
fn answer(line: &Arc<Line>, request: Request<Incoming>) -> Answering {
    let main = &line.doors.main;
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    if let Err(denied) = main.options.guard.check_headers(uri, headers, line.port) {
        return Answering::now(deny(main, denied));
    }
    if reads(method)
        && let Some(open) = open_page(main, uri.path())
    {
        return Answering::now(open);
    }
    match main.options.guard.identify(headers, line.peer) {
        Admission::Now(Ok(caller)) => admitted(line, request, caller),
        Admission::Now(Err(denied)) => Answering::now(deny(main, denied)),
        Admission::Later(verdict) => {
            let line = line.clone();
            Answering::later(async move {
                match verdict.await {
                    Ok(caller) => admitted(&line, request, caller).answer().await,
                    Err(denied) => deny(&line.doors.main, denied),
                }
            })
        }
    }
}

/// A page that everybody may see.
fn open_page(main: &Service, path: &str) -> Option<Response<Answer>> {
    match path {
        "/healthz" => Some(plain(StatusCode::OK, "ok\n")),
        "/readyz" if main.is_draining() => Some(plain(StatusCode::SERVICE_UNAVAILABLE, "draining\n")),
        "/readyz" => Some(plain(StatusCode::OK, "ready\n")),
        path if path.starts_with("/.well-known/oauth-protected-resource") => Some(metadata(main)),
        _ => None,
    }
}

fn admitted(line: &Arc<Line>, request: Request<Incoming>, caller: Arc<Caller>) -> Answering {
    access::note(|note| note.caller = Some(caller.clone()));
    let path = request.uri().path();
    let found = Place::of(path).and_then(|(place, view)| Some((place, line.doors.find(view)?)));
    let Some((place, service)) = found else {
        return Answering::now(page(&line.doors, request.method(), path, &caller));
    };
    let (head, body) = request.into_parts();
    let visit = Visit { service, caller, headers: head.headers };
    match (place, head.method) {
        (Place::Endpoint, Method::POST) if head.extensions.get::<Deaf>().is_some() => {
            Answering::now(not_acceptable())
        }
        (Place::Endpoint, Method::POST) => Answering::later(visit.post(body)),
        // Neither exists in the modern era.
        (Place::Endpoint, Method::GET | Method::DELETE) if visit.era(None) == Era::Modern => {
            Answering::now(not_allowed("POST"))
        }
        (Place::Endpoint, Method::GET) => Answering::now(visit.get()),
        (Place::Endpoint, Method::DELETE) => Answering::now(visit.delete()),
        (Place::Sse, Method::GET) => Answering::now(visit.open_sse()),
        (Place::Message, Method::POST) => {
            Answering::later(async move { visit.post_message(head.uri.query(), body).await })
        }
        (place, _) => Answering::now(not_allowed(place.methods(visit.service.options.eras))),
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
    /// What can be done there.
    fn methods(self, eras: Eras) -> &'static str {
        match self {
            Self::Endpoint if eras.allows(Era::Legacy) => "GET, POST, DELETE",
            Self::Endpoint | Self::Message => "POST",
            Self::Sse => "GET",
        }
    }

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

/// Whether it is read only; the body is left out elsewhere.
fn reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// A page about ourselves.
fn page(doors: &Doors, method: &Method, path: &str, caller: &Caller) -> Response<Answer> {
    let options = &doors.main.options;
    let page = options.pages.iter().find(|page| page.path == path);
    let known = page.is_some() || ["/metrics", "/healthz", "/readyz"].contains(&path);
    match page {
        _ if known && !reads(method) => not_allowed("GET, HEAD"),
        Some(page) => {
            let mut response = plain(StatusCode::OK, &(page.render)(caller));
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(page.content_type));
            response
        }
        None if path == "/metrics" => {
            let (sessions, parked) = doors.held();
            let mut text = doors.main.metrics.render(sessions, parked);
            if let Some(more) = &options.more_metrics {
                text.push_str(&more(caller));
            }
            plain(StatusCode::OK, &text)
        }
        None => plain(StatusCode::NOT_FOUND, "nothing here; MCP is spoken at /mcp\n"),
    }
}

/// Tells which methods would be allowed.
fn not_allowed(methods: &'static str) -> Response<Answer> {
    let text = "this method is not allowed here";
    let mut response = error(StatusCode::METHOD_NOT_ALLOWED, None, ErrorObject::new(-32600, text));
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    response
}

fn not_acceptable() -> Response<Answer> {
    let text = "answers are application/json or text/event-stream, and `Accept` takes neither";
    error(StatusCode::NOT_ACCEPTABLE, None, ErrorObject::new(-32600, text))
}

impl Begun {
    fn answered(response: Response<Answer>) -> Self {
        Self::Answered(Box::new(response))
    }
}

impl Visit {
    async fn post(mut self, body: Incoming) -> Response<Answer> {
        let bytes = match body::read(&self, body).await {
            Ok(bytes) => bytes,
            Err(refusal) => return *refusal,
        };
        access::note(|note| note.bytes_in = bytes.len() as u64);
        let mut frame = match Frame::parse(&bytes) {
            Ok(frame) => frame,
            Err(malformed) => {
                let error_object = ErrorObject::new(malformed.rpc_code(), malformed.to_string());
                return error(StatusCode::BAD_REQUEST, malformed.id.as_ref(), error_object);
            }
        };
        trace_context::adopt(&mut frame, &self.headers);
        access::note(|note| note.method = asked(&frame));
        match self.begin(frame) {
            Begun::Legacy(running) => self.answer_legacy(running).await,
            Begun::Modern(reply) => self.answer_modern(reply).await,
            Begun::Answered(response) => *response,
            Begun::Rare(rare @ Rare::Unready(_)) => Box::pin(self.deal_with(rare)).await,
            Begun::Rare(rare) => Box::pin(outlasting(self.deal_with(rare))).await,
        }
    }

    /// Begins to answer a message, as far as that can be done without waiting.
    fn begin(&self, frame: Frame) -> Begun {
        match frame {
            Frame::One(Envelope::Request(request)) => {
                let head = Head::of(request.params.as_ref());
                match self.era(head.era(&request)) {
                    Era::Modern => self.begin_modern(request, head),
                    Era::Legacy => self.begin_legacy(request, &head),
                }
            }
            Frame::One(Envelope::Notification(notification)) => Begun::answered(match self.era(None) {
                Era::Modern => self.hear_modern(notification),
                Era::Legacy => self.hear_legacy(notification),
            }),
            Frame::One(Envelope::Response(response)) => Begun::answered(match self.era(None) {
                Era::Modern => modern::refuse_answer(&response),
                Era::Legacy => self.take_answer(response),
            }),
            Frame::Batch(messages) => Begun::Rare(Rare::Batch(messages)),
        }
    }

    async fn deal_with(&mut self, rare: Rare) -> Response<Answer> {
        match rare {
            Rare::Initialize(request) => self.initialize(&request).await,
            Rare::Unready(request) => match self.prepare_modern(*request).await {
                Ok(reply) => self.answer_modern(reply).await,
                Err(refusal) => *refusal,
            },
            Rare::Batch(messages) => self.post_batch(messages).await,
        }
    }

    /// Which era a message belongs to: what it says itself comes first, then its version header.
    fn era(&self, said: Option<Era>) -> Era {
        if let Eras::Only(era) = self.service.options.eras {
            return era;
        }
        if said.is_none() && self.headers.contains_key(MCP_SESSION_ID) {
            return Era::Legacy;
        }
        let version = || self.headers.get(MCP_PROTOCOL_VERSION)?.to_str().ok()?.parse::<Revision>().ok();
        said.or_else(|| version().map(Revision::era)).unwrap_or(Era::Legacy)
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
