//! The two servers. Both have as many threads as the machine has processors.

use crate::{Kind, PATH};
use anyhow::Result;
use axum::{Router, http::header::CONTENT_TYPE, routing::post};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};
use tokio::{runtime::Runtime, sync::watch};
use trunkline_auth::{ApiKeys, keys};
use trunkline_gateway::{
    audit::{Audited, Options, Trail},
    limit::{Limited, Limits, Quota, Rates},
};
use trunkline_protocol::{Caller, Handler};
use trunkline_serve::{
    Admission, Denied, Gate, Guard, RestLimits, ServeOptions, Server, Shutdown, WorkerThreads,
};
use trunkline_toolbox::{JsonSchema, Tool, Toolbox, schemars};

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

type Tell = mpsc::Sender<(SocketAddr, String)>;

/// Serves until the process ends; `tell` gets the address and the key of a caller.
pub(crate) fn serve(kind: Kind, tell: &Tell) -> Result<()> {
    Runtime::new()?.block_on(async {
        match kind {
            Kind::Trunkline => trunkline(tell).await,
            Kind::Axum => axum(tell).await,
        }
    })
}

async fn axum(tell: &Tell) -> Result<()> {
    let listener = tokio::net::TcpListener::bind(ANY).await?;
    tell.send((listener.local_addr()?, String::new()))?;
    let echo = |body: Bytes| async move {
        // As `axum::Json` does it in both directions.
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        ([(CONTENT_TYPE, "application/json")], serde_json::to_vec(&body).unwrap_or_default())
    };
    Ok(axum::serve(listener, Router::new().route(PATH, post(echo))).await?)
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

async fn trunkline(tell: &Tell) -> Result<()> {
    let tool = Tool::new("echo", |given: Echo| async move { given.text }).description("Returns its text.");
    let toolbox = Toolbox::new("bench-rest", env!("CARGO_PKG_VERSION")).tool(tool.read_only()).build()?;
    let folder = tempfile::tempdir()?;
    let trail = Trail::open(folder.path(), Options::default())?;
    let quota = Quota::new(u32::MAX.try_into()?, Duration::from_secs(1));
    let rates = Rates::new(&Limits { per_caller: Some(quota), per_tool: Some(quota), ..Limits::default() });
    let limited: Arc<dyn Handler> = Arc::new(Limited::new(toolbox, rates));
    let handler = Audited::new(limited, trail, Arc::new(|_: Option<&str>, _: &str| true));
    let key = keys::generate();
    let threads = WorkerThreads::start(thread::available_parallelism()?.get())?;
    let options = ServeOptions {
        workers: threads.workers(),
        guard: Guard { gate: Some(gate(&key.sha256)?), ..Guard::default() },
        rest: RestLimits { running: 1000, ..RestLimits::default() },
        ..ServeOptions::default()
    };
    let server = Server::bind(ANY, Arc::new(handler), options).await?;
    tell.send((server.address(), key.token))?;
    // Kept alive so that the channel stays open.
    let (_never, shutdown) = watch::channel(Shutdown::Running);
    server.run(shutdown).await;
    Ok(())
}

/// Accepts the one key.
fn gate(sha256: &str) -> Result<Gate> {
    let entry = serde_json::json!({"keys": [{"id": "bench", "sha256": sha256}]});
    let keys = ApiKeys::from_json(&entry.to_string())?;
    let caller = Arc::new(Caller { id: "key:bench".to_owned(), ..(*Caller::local()).clone() });
    Ok(Arc::new(move |headers, _| {
        let given = headers.get("authorization").and_then(|value| value.to_str().ok());
        let token = given.and_then(|text| text.strip_prefix("Bearer ")).unwrap_or_default();
        let refused =
            |_| Denied { status: 401, message: "no key".to_owned(), challenge: None, retry_after: None };
        Admission::Now(keys.check(token).map(|_| caller.clone()).map_err(refused))
    }))
}
