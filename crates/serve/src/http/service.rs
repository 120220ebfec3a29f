//! The service behind each HTTP connection: it marks the connection's slot, logs access, and
//! hands requests to [`dispatch`].

use super::{
    dispatch::dispatch,
    response::{Body, error, plain},
};
use crate::{
    access,
    connection_slots::ConnectionSlot,
    endpoints::Endpoints,
    guard::Peer,
    tls::{ClientCertificate, Tls},
};
use ::http::{HeaderName, Request, Response, StatusCode, header};
use std::sync::Arc;
use tokio::time::Instant;
use trunkline_http1::server::{HeadError, Options, Pending, RequestBody, Service};
use trunkline_protocol::{Era, Fault, FaultKind};
use trunkline_transport::headers::{MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION, MCP_SESSION_ID};

/// The headers of nearly every MCP request.
pub(crate) static USUAL_HEADERS: [HeaderName; 10] = [
    header::HOST,
    header::ACCEPT,
    header::CONTENT_TYPE,
    MCP_PROTOCOL_VERSION,
    MCP_METHOD,
    MCP_NAME,
    MCP_SESSION_ID,
    header::AUTHORIZATION,
    header::USER_AGENT,
    header::ACCEPT_ENCODING,
];

/// One connection's service.
pub(crate) struct HttpService {
    origin: Arc<Origin>,
    slot: Arc<ConnectionSlot>,
}

/// The peer of a connection, and the endpoints that it can reach.
pub(crate) struct Origin {
    pub(crate) endpoints: Arc<Endpoints>,
    pub(crate) peer: Peer,
    /// The port that the client connected to.
    pub(crate) port: u16,
}

impl HttpService {
    pub(crate) fn new(origin: Origin, slot: Arc<ConnectionSlot>) -> Self {
        Self { origin: Arc::new(origin), slot }
    }

    /// Notes the certificate of the client, before the first request.
    pub(crate) fn identified(mut self, certificate: Option<ClientCertificate>) -> Self {
        if let Some(origin) = Arc::get_mut(&mut self.origin) {
            origin.peer.certificate = certificate;
        }
        self
    }

    pub(crate) fn tls(&self) -> Option<Arc<Tls>> {
        self.origin.endpoints.main.options.guard.tls().cloned()
    }

    pub(crate) fn slot(&self) -> &Arc<ConnectionSlot> {
        &self.slot
    }
}

impl Service for HttpService {
    type Body = Body;

    fn options(&self) -> &Options {
        &self.origin.endpoints.connection_options
    }

    fn call(&mut self, request: Request<RequestBody>) -> Pending<Body> {
        self.slot.set_busy();
        let origin = &self.origin;
        match &origin.endpoints.main.options.access {
            None => dispatch(origin, request),
            Some(hook) => access::logged(hook.clone(), request, origin.peer.address, |request| {
                dispatch(origin, request)
            }),
        }
    }

    fn reject(&mut self, error: HeadError) -> Response<Body> {
        self.slot.set_busy();
        tracing::debug!(%error, "a request head was rejected");
        if let Some(hook) = &self.origin.endpoints.main.options.access {
            let peer = self.origin.peer.address.ip();
            hook(access::Access::refused(peer, error.status().as_u16(), error.to_string()));
        }
        plain(error.status(), &format!("{error}\n"))
    }

    fn on_idle(&mut self, now: Instant) {
        self.slot.set_idle(now);
    }

    fn on_head_started(&mut self, now: Instant) {
        self.slot.set_reading_head(now);
    }
}

/// The response to a request that was in flight when the drain limit passed.
pub(crate) fn stopped() -> Response<Body> {
    let fault = Fault::new(FaultKind::Cancelled, "the server stopped before the response");
    error(StatusCode::INTERNAL_SERVER_ERROR, None, fault.to_error(Era::Modern))
}
