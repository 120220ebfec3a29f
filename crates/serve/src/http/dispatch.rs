//! Dispatch: checks a request, identifies its caller, and routes it.

use super::{
    AdmittedRequest, accept,
    cors::Cors,
    response::{Body, error, json, plain},
    service::Origin,
};
use crate::{
    access,
    endpoints::Endpoints,
    guard::{Admission, Denied},
    options::{BrowserRequest, Command, Control, Controlled, Eras},
    rest::{DocsFile, RestError, RestRequest, RestRoute},
    service::Service,
};
use ::http::{HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use std::sync::Arc;
use trunkline_http1::server::{Pending, RequestBody};
use trunkline_protocol::{Caller, Era, ErrorObject, Fault, FaultKind};

/// Starts to answer a request.
pub(super) fn dispatch(origin: &Arc<Origin>, request: Request<RequestBody>) -> Pending<Body> {
    let main = &origin.endpoints.main;
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    if let Err(denied) = main.options.guard.check_headers(uri, headers, origin.port) {
        return Pending::ready(denial(uri)(main, denied));
    }
    if let Some(cors) = Cors::of(&main.options.guard, headers) {
        if let Some(answer) = cors.preflight(method, headers) {
            return Pending::ready(answer);
        }
        return identify(origin, request).map(move |response| cors.on(response));
    }
    identify(origin, request)
}

/// Answers the pages that are open to all, and finds the caller of other requests.
fn identify(origin: &Arc<Origin>, request: Request<RequestBody>) -> Pending<Body> {
    let main = &origin.endpoints.main;
    let deny = denial(request.uri());
    if reads(request.method())
        && let Some(open) = open_page(main, request.uri())
    {
        return Pending::ready(open);
    }
    if let Some(answer) = main.options.browser.as_ref().filter(|_| is_login(request.uri())) {
        let (head, _) = request.into_parts();
        let answer = answer(BrowserRequest { method: head.method, uri: head.uri, headers: head.headers });
        return Pending::preparing(async move {
            Pending::ready(answer.await.map(|page| Body::Whole(Some(page.into()))))
        });
    }
    match main.options.guard.identify(request.headers(), &origin.peer) {
        Admission::Now(Ok(caller)) => admit(origin, request, caller),
        Admission::Now(Err(denied)) => Pending::ready(deny(main, denied)),
        Admission::Later(verdict) => {
            let origin = origin.clone();
            Pending::preparing(async move {
                match verdict.await {
                    Ok(caller) => admit(&origin, request, caller),
                    Err(denied) => Pending::ready(deny(&origin.endpoints.main, denied)),
                }
            })
        }
    }
}

/// The form of a refusal, which depends on the interface that was asked.
fn denial(uri: &Uri) -> fn(&Service, Denied) -> Response<Body> {
    if RestRoute::of(uri.path()).is_some() { deny_rest } else { deny }
}

/// A page that needs no authentication.
fn open_page(main: &Service, uri: &Uri) -> Option<Response<Body>> {
    match uri.path() {
        "/healthz" => Some(plain(StatusCode::OK, "ok\n")),
        // It names servers.
        "/readyz" if is_verbose(uri) && main.options.ready_details.is_some() => None,
        "/readyz" => Some(readiness(main, "")),
        path if path.starts_with("/.well-known/oauth-protected-resource") => Some(metadata(main)),
        path => DocsFile::of(path).map(DocsFile::respond),
    }
}

fn is_login(uri: &Uri) -> bool {
    uri.path().strip_prefix("/login").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_verbose(uri: &Uri) -> bool {
    uri.query().is_some_and(|query| query.split('&').any(|part| part == "verbose"))
}

/// The answer of `/readyz`, with lines about the parts of the server in front of it.
fn readiness(main: &Service, details: &str) -> Response<Body> {
    if main.is_draining() {
        plain(StatusCode::SERVICE_UNAVAILABLE, &format!("{details}draining\n"))
    } else {
        plain(StatusCode::OK, &format!("{details}ready\n"))
    }
}

fn admit(origin: &Origin, request: Request<RequestBody>, caller: Arc<Caller>) -> Pending<Body> {
    access::note(|note| note.caller = Some(caller.clone()));
    let caller = match &origin.endpoints.main.options.carry {
        Some(carry) => carry(caller, request.headers()),
        None => caller,
    };
    let path = request.uri().path();
    if let Some((route, view)) = RestRoute::of(path) {
        let Some(service) = origin.endpoints.find(view, &caller) else {
            return Pending::ready(RestError::no_such_path(path).respond());
        };
        let (head, body) = request.into_parts();
        let query = head.uri.query().map(str::to_owned);
        let request = AdmittedRequest { service, caller, headers: head.headers };
        return request.rest(route, RestRequest { method: head.method, query, body });
    }
    if let Some((control, command)) = control(&origin.endpoints.main, path) {
        if request.method() != Method::POST {
            return Pending::ready(not_allowed("POST"));
        }
        let (query, headers) = (request.uri().query(), request.headers());
        let controlled = control(Command { caller, path: command, query, headers });
        return Pending::preparing(async move {
            let Controlled { status, body } = controlled.await;
            Pending::ready(json(status, body.into()))
        });
    }
    let found =
        Route::of(path).and_then(|(route, view)| Some((route, origin.endpoints.find(view, &caller)?)));
    let Some((route, service)) = found else {
        return Pending::ready(page(&origin.endpoints, request.method(), path, &caller));
    };
    let (head, body) = request.into_parts();
    let request = AdmittedRequest { service, caller, headers: head.headers };
    match (route, head.method) {
        (Route::Endpoint, Method::POST) if !accept::allows_json_or_sse(&request.headers) => {
            Pending::ready(not_acceptable())
        }
        (Route::Endpoint, Method::POST) => request.post(body),
        // Neither exists in the modern era.
        (Route::Endpoint, Method::GET | Method::DELETE) if request.era(None) == Era::Modern => {
            Pending::ready(not_allowed("POST"))
        }
        (Route::Endpoint, Method::GET) => Pending::ready(request.get()),
        (Route::Endpoint, Method::DELETE) => Pending::ready(request.delete()),
        (Route::Sse, Method::GET) => Pending::ready(request.open_sse()),
        (Route::Message, Method::POST) => request.post_message(head.uri.query(), body),
        (route, _) => Pending::ready(not_allowed(route.methods(request.service.options.eras))),
    }
}

/// The commands of this server, and the one that a path names.
fn control<'a>(main: &'a Service, path: &'a str) -> Option<(&'a Control, &'a str)> {
    Some((main.options.control.as_ref()?, path.strip_prefix("/control/")?))
}

/// A path of the MCP transports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    Endpoint,
    /// The event stream of HTTP+SSE.
    Sse,
    /// The POST endpoint of HTTP+SSE.
    Message,
}

impl Route {
    /// The methods that it allows.
    fn methods(self, eras: Eras) -> &'static str {
        match self {
            Self::Endpoint if eras.allows(Era::Legacy) => "GET, POST, DELETE",
            Self::Endpoint | Self::Message => "POST",
            Self::Sse => "GET",
        }
    }

    /// The route of a path, and the view that the rest of the path names.
    fn of(path: &str) -> Option<(Self, &str)> {
        let routes = [("/mcp", Self::Endpoint), ("/sse", Self::Sse), ("/message", Self::Message)];
        routes.into_iter().find_map(|(start, route)| {
            let rest = path.strip_prefix(start)?;
            let view =
                if rest.is_empty() { "" } else { rest.strip_prefix('/').filter(|view| !view.is_empty())? };
            Some((route, view))
        })
    }
}

/// True for GET and HEAD. The connection leaves out the body of a response to HEAD.
fn reads(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// A page about this server.
fn page(endpoints: &Endpoints, method: &Method, path: &str, caller: &Caller) -> Response<Body> {
    let options = &endpoints.main.options;
    let page = options.pages.iter().find(|page| page.path == path);
    let known = page.is_some() || ["/metrics", "/healthz", "/readyz"].contains(&path);
    match page {
        _ if known && !reads(method) => not_allowed("GET, HEAD"),
        Some(page) => {
            let mut response = plain(StatusCode::OK, &(page.render)(caller));
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(page.content_type));
            response
        }
        None if path == "/metrics" && !may_operate(&endpoints.main, caller) => {
            deny(&endpoints.main, not_an_operator())
        }
        None if path == "/readyz" => {
            let details = options.ready_details.as_ref().map(|details| details(caller));
            readiness(&endpoints.main, &details.unwrap_or_default())
        }
        None if path == "/metrics" => {
            let (sessions, parked) = endpoints.held();
            let mut text = endpoints.main.metrics.render(sessions, parked);
            if let Some(more) = &options.more_metrics {
                text.push_str(&more(caller));
            }
            plain(StatusCode::OK, &text)
        }
        None => plain(StatusCode::NOT_FOUND, "nothing here; MCP is spoken at /mcp\n"),
    }
}

fn may_operate(main: &Service, caller: &Caller) -> bool {
    main.options.may_operate.as_ref().is_none_or(|may| may(caller))
}

fn not_an_operator() -> Denied {
    let message = "the metrics need a role with `\"operate\": true`".to_owned();
    Denied { status: 403, message, challenge: None, retry_after: None }
}

/// 405 with the methods that are allowed.
fn not_allowed(methods: &'static str) -> Response<Body> {
    let text = "this method is not allowed here";
    let mut response = error(StatusCode::METHOD_NOT_ALLOWED, None, ErrorObject::new(-32600, text));
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    response
}

fn not_acceptable() -> Response<Body> {
    let text = "answers are application/json or text/event-stream, and `Accept` takes neither";
    error(StatusCode::NOT_ACCEPTABLE, None, ErrorObject::new(-32600, text))
}

fn metadata(service: &Service) -> Response<Body> {
    match &service.options.guard.metadata {
        Some(document) => json(StatusCode::OK, document.clone().into()),
        None => plain(StatusCode::NOT_FOUND, "no tokens are asked for here\n"),
    }
}

fn deny(service: &Service, denied: Denied) -> Response<Body> {
    let status = StatusCode::from_u16(denied.status).unwrap_or(StatusCode::FORBIDDEN);
    let body = error(status, None, fault_of(&denied).to_error(Era::Modern));
    with_challenge(service, denied, body)
}

fn deny_rest(service: &Service, denied: Denied) -> Response<Body> {
    let body = RestError::of_fault(&fault_of(&denied)).respond();
    with_challenge(service, denied, body)
}

fn fault_of(denied: &Denied) -> Fault {
    let kind = match denied.status {
        401 => FaultKind::Unauthorized,
        429 => FaultKind::RateLimited,
        400 => FaultKind::InvalidRequest,
        503 => FaultKind::Unavailable,
        _ => FaultKind::Forbidden,
    };
    Fault::new(kind, denied.message.clone())
}

fn with_challenge(service: &Service, denied: Denied, mut response: Response<Body>) -> Response<Body> {
    service.metrics.denied();
    if let Some(challenge) = denied.challenge {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    if let Some(wait) = denied.retry_after {
        // Rounded up, and never zero: the header has whole seconds.
        let seconds = wait.as_millis().div_ceil(1000).max(1);
        let seconds = HeaderValue::from(u64::try_from(seconds).unwrap_or(u64::MAX));
        response.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    response
}
