//! The server over Streamable HTTP. It has no sessions; they are optional for a legacy server.

use std::{convert::Infallible, net::SocketAddr};

use anyhow::Result;
use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use trunkline_transport::body::{self, DEFAULT_BODY_LIMIT};

use crate::answer::Server;

pub(crate) async fn serve(address: SocketAddr, server: Server) -> Result<()> {
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = service_fn(move |request| async move {
            Ok::<_, Infallible>(respond(server, request).await.unwrap_or_else(plain))
        });
        // A broken connection shows in the client's count.
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn respond(server: Server, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, StatusCode> {
    if request.method() != Method::POST {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    let read = body::read(request.into_body(), DEFAULT_BODY_LIMIT).await;
    let message = read.map_err(|_| StatusCode::BAD_REQUEST)?;
    let answer = server.answer(&message).ok_or(StatusCode::ACCEPTED)?;
    let mut response = Response::new(Full::new(answer));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

fn plain(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}
