//! The echo service behind either implementation.

use crate::Kind;
use anyhow::Result;
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Request, Response,
    body::Incoming,
    header::{self, CONTENT_TYPE, HeaderName, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{future::poll_fn, time::Duration};
use tokio::net::TcpListener;
use trunkline_http1::server::{
    Connection, HalfClose, HeadError, KeepAlive, Options, Pending, RequestBody, Service,
};
use trunkline_transport::{
    body::{self, BodyError, DEFAULT_BODY_LIMIT},
    headers::{MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION},
};

static USUAL: [HeaderName; 6] =
    [header::HOST, header::ACCEPT, CONTENT_TYPE, MCP_PROTOCOL_VERSION, MCP_METHOD, MCP_NAME];
static OPTIONS: Options = Options {
    header_timeout: Duration::from_secs(10),
    idle_timeout: Duration::from_secs(75),
    write_timeout: Duration::from_secs(30),
    max_body: DEFAULT_BODY_LIMIT,
    usual_headers: &USUAL,
};

pub(crate) async fn serve(listener: TcpListener, kind: Kind) -> Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        match kind {
            Kind::Http1 => tokio::spawn(async {
                let mut connection = Connection::new(stream, Echo, KeepAlive::On);
                // A broken connection shows in the client's count.
                drop(poll_fn(|cx| connection.poll(cx)).await);
            }),
            Kind::Hyper => tokio::spawn(async {
                let service = service_fn(|request: Request<Incoming>| echo(request.into_body()));
                drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
            }),
        };
    }
}

async fn echo<B>(body: B) -> Result<Response<Full<Bytes>>, BodyError>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
    B::Error: Into<body::BoxError>,
{
    Ok(response(body::read(body, DEFAULT_BODY_LIMIT).await?).map(Full::new))
}

fn response(body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

struct Echo;

impl Service for Echo {
    type Body = Bytes;

    fn options(&self) -> &Options {
        &OPTIONS
    }

    fn call(&mut self, request: Request<RequestBody>) -> Pending<Bytes> {
        let body = request.into_body();
        let echo = async { response(body::read(body, DEFAULT_BODY_LIMIT).await.unwrap_or_default()) };
        Pending::running(echo, HalfClose::Cancels)
    }

    fn reject(&mut self, error: HeadError) -> Response<Bytes> {
        let mut response = Response::new(Bytes::new());
        *response.status_mut() = error.status();
        response
    }
}
