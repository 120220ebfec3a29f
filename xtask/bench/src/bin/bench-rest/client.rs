//! One connection that executes the tool again and again.

use crate::{BODY, PATH};
use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use hyper::{Method, StatusCode};
use std::{
    future::poll_fn,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::net::TcpStream;
use trunkline_http1::{
    client::{Connection, Pool, ResponseBody},
    write_header,
};
use trunkline_transport::body::{self, DEFAULT_BODY_LIMIT};

const IDLE: Duration = Duration::from_mins(1);

/// Returns the number of calls answered before `until`.
pub(crate) async fn run(address: SocketAddr, token: String, until: Instant) -> Result<u64> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let host = address.to_string();
    let authority: Arc<str> = host.as_str().into();
    let pool = Pool::new(1, IDLE);
    let mut connection = Box::new(Connection::new(stream, authority.clone()));
    let (sent, authorization) = (Bytes::from_static(BODY.as_bytes()), format!("Bearer {token}"));
    let mut calls = 0;
    while Instant::now() < until {
        connection.start(&Method::POST, &sent, |out| {
            out.extend_from_slice(format!("POST {PATH} HTTP/1.1\r\n").as_bytes());
            write_header(out, "host", host.as_bytes());
            write_header(out, "accept", b"application/json");
            write_header(out, "content-type", b"application/json");
            write_header(out, "authorization", authorization.as_bytes());
        });
        let head = poll_fn(|cx| connection.poll_response(cx)).await?;
        let response = ResponseBody::new(connection, pool.clone(), head.framing, head.reuse);
        let echoed = body::read(response, DEFAULT_BODY_LIMIT).await?;
        let text = String::from_utf8_lossy(&echoed);
        ensure!(head.status == StatusCode::OK && text.contains("hello"), "not an echo: {text}");
        calls += 1;
        connection = pool.take(&authority).context("the server closed the connection")?;
    }
    Ok(calls)
}
