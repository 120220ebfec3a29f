//! A server made with the official Rust SDK that offers one of everything, for tests of a client.
//!
//! ```text
//! rmcp-server [--era legacy|modern|both] [--http PORT]
//! ```
//!
//! Without `--http` it speaks over stdin and stdout. With it, the first line on stdout is
//! `listening on URL`; port 0 picks a free one.
#![expect(
    deprecated,
    reason = "the SDK marks what the modern era dropped, and the legacy era is served here as well"
)]

mod offer;
mod questions;
mod shared_state;
mod tools;

use offer::Peer;
use rmcp::{
    ServiceExt,
    model::ProtocolVersion,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, stdio,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use shared_state::SharedState;
use std::{error::Error, io::Write, net::Ipv4Addr, sync::Arc};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut versions = ProtocolVersion::KNOWN_VERSIONS.to_vec();
    let mut port = None;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or("every option takes a value")?;
        match (word.as_str(), value.as_str()) {
            ("--era", "both") => {}
            ("--era", "legacy") => {
                versions = ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25).to_vec();
            }
            ("--era", "modern") => versions = vec![ProtocolVersion::V_2026_07_28],
            ("--http", value) => port = Some(value.parse::<u16>()?),
            _ => return Err(format!("unknown option: {word} {value}").into()),
        }
    }
    let shared = Arc::new(SharedState::default());
    let make = move || Peer::new(shared.clone(), versions.clone());
    match port {
        None => {
            make().serve(stdio()).await?.waiting().await?;
            Ok(())
        }
        Some(port) => serve_http(port, make).await,
    }
}

async fn serve_http(
    port: u16,
    make: impl Fn() -> Peer + Send + Sync + 'static,
) -> Result<(), Box<dyn Error>> {
    let service = StreamableHttpService::new(
        move || Ok(make()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    writeln!(std::io::stdout(), "listening on http://{}/mcp", listener.local_addr()?)?;
    axum::serve(listener, axum::Router::new().route_service("/mcp", service)).await?;
    Ok(())
}
