//! One connection that sends requests one after another, with either implementation.

use crate::{BODY, HEADERS, Kind};
use anyhow::{Context, Result, ensure};
use http_body_util::Full;
use hyper::{Method, Request, StatusCode, client::conn::http1};
use hyper_util::rt::TokioIo;
use std::{future::poll_fn, net::SocketAddr, sync::Arc, time::Duration, time::Instant};
use tokio::net::TcpStream;
use trunkline_http1::{
    client::{Connection, Pool, ResponseBody},
    write_header,
};
use trunkline_transport::body::{self, DEFAULT_BODY_LIMIT};

const IDLE: Duration = Duration::from_mins(1);

/// Returns the number of requests answered before `until`.
pub(crate) async fn run(kind: Kind, address: SocketAddr, until: Instant) -> Result<u64> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    match kind {
        Kind::Http1 => by_http1(stream, address, until).await,
        Kind::Hyper => by_hyper(stream, address, until).await,
    }
}

async fn by_http1(stream: TcpStream, address: SocketAddr, until: Instant) -> Result<u64> {
    let host = address.to_string();
    let authority: Arc<str> = host.as_str().into();
    let pool = Pool::new(1, IDLE);
    let mut connection = Box::new(Connection::new(stream, authority.clone()));
    let mut requests = 0;
    while Instant::now() < until {
        connection.start(&Method::POST, &BODY, |out| {
            out.extend_from_slice(b"POST /mcp HTTP/1.1\r\n");
            write_header(out, "host", host.as_bytes());
            for (name, value) in HEADERS {
                write_header(out, name, value.as_bytes());
            }
        });
        let head = poll_fn(|cx| connection.poll_response(cx)).await?;
        let response = ResponseBody::new(connection, pool.clone(), head.framing, head.reuse);
        let echoed = body::read(response, DEFAULT_BODY_LIMIT).await?;
        ensure!(head.status == StatusCode::OK && echoed == BODY, "not an echo");
        requests += 1;
        connection = pool.take(&authority).context("the server closed the connection")?;
    }
    Ok(requests)
}

async fn by_hyper(stream: TcpStream, address: SocketAddr, until: Instant) -> Result<u64> {
    let host = address.to_string();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let mut requests = 0;
    while Instant::now() < until {
        let mut request = Request::post("/mcp").header("host", &host);
        for (name, value) in HEADERS {
            request = request.header(name, value);
        }
        sender.ready().await?;
        let response = sender.send_request(request.body(Full::new(BODY))?).await?;
        let status = response.status();
        let echoed = body::read(response.into_body(), DEFAULT_BODY_LIMIT).await?;
        ensure!(status == StatusCode::OK && echoed == BODY, "not an echo");
        requests += 1;
    }
    drop(sender);
    connection.await??;
    Ok(requests)
}
