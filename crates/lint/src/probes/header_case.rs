//! A plain request with upper-case header names, written to a socket: our HTTP client sends them
//! in lower case only.

use super::{Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
    wire::{bytes, request},
};
use serde_json::json;
use std::{io, time::Duration};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use trunkline_protocol::{Era, Revision};
use url::Url;

/// The observation: the status line of the response.
pub(crate) const HEADER_CASE_STEP: Step = Step("header-case");

/// Timeout until the response begins.
const PATIENCE: Duration = Duration::from_secs(3);

/// Bytes read from the response; the status line is enough.
const HEAD: usize = 1024;

pub(crate) static HEADER_CASE: Probe =
    Probe::new("header-case", Mode::Negative, |stage| Box::pin(run(stage)))
        .eras(Eras::Modern)
        .carriers(Carriers::StreamableHttp);

async fn run(stage: &mut Stage) {
    // Credentials are not written to a raw socket, and TLS is not supported here.
    let plain = |url: &&Url| url.scheme() == "http" && !stage.known.dial.has_credentials();
    let Some(url) = stage.known.dial.address().filter(plain).cloned() else { return };
    let id = stage.speaker.fresh_id();
    let body = bytes(&request(Era::Modern, &id, "server/discover", json!({})));
    if let Ok(Ok(line)) = tokio::time::timeout(PATIENCE, ask(&url, &body)).await {
        stage.speaker.observe(HEADER_CASE_STEP, line);
    }
}

async fn ask(url: &Url, body: &[u8]) -> io::Result<String> {
    let host = url.host_str().unwrap_or_default();
    let host = format!("{host}:{}", url.port_or_known_default().unwrap_or(80));
    let head = format!(
        "POST {} HTTP/1.1\r\nHOST: {host}\r\nCONTENT-TYPE: application/json\r\nACCEPT: application/json, text/event-stream\r\n\
         MCP-PROTOCOL-VERSION: {}\r\nMCP-METHOD: server/discover\r\nCONTENT-LENGTH: {}\r\nCONNECTION: close\r\n\r\n",
        url.path(),
        Revision::NEWEST.as_str(),
        body.len(),
    );
    let mut stream = TcpStream::connect(&host).await?;
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    let mut answer = vec![0; HEAD];
    let read = stream.read(&mut answer).await?;
    let text = String::from_utf8_lossy(&answer[..read]);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
