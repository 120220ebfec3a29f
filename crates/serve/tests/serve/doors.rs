//! The main endpoint, the endpoints of views, and the other pages.

use crate::support::{
    Fixture, start,
    wire::{INITIALIZE, headers_of, modern, open_session, request, send},
};
use std::{net::SocketAddr, sync::Arc};
use tokio::sync::watch;
use trunkline_serve::{Page, ServeOptions, Shutdown};

async fn served() -> (SocketAddr, watch::Sender<Shutdown>) {
    let page = Page {
        path: "/status",
        content_type: "application/json",
        render: Arc::new(|caller| format!("{{\"you\":\"{}\"}}", caller.id)),
    };
    let more = Arc::new(|_: &trunkline_protocol::Caller| "further 1\n".to_owned());
    let options = ServeOptions { pages: vec![page], more_metrics: Some(more), ..ServeOptions::default() };
    let (address, running, _server) = start(Fixture::new().0, options).await;
    (address, running)
}

#[tokio::test]
async fn a_view_is_spoken_to_below_the_endpoint_and_an_unknown_one_is_not_there() {
    let (address, _running) = served().await;
    let list = modern("tools/list", "");
    let ask = |path: &'static str| {
        let list = list.clone();
        async move { send(address, &request("POST", path, address, &headers_of("tools/list", ""), &list)).await }
    };
    assert_eq!(ask("/mcp/files").await.status, 200);
    for path in ["/mcp/other", "/mcp/", "/mcp/files/", "/mcpfiles", "/mcp/Files", "/mcp/files%2f"] {
        assert_eq!(ask(path).await.status, 404, "{path}");
    }
    let sse = send(address, &request("POST", "/message/files?sessionId=x", address, &[], INITIALIZE)).await;
    assert_eq!(sse.status, 404);
}

#[tokio::test]
async fn s04_a_session_of_one_door_is_unknown_at_another() {
    let (address, _running) = served().await;
    let session = open_session(address, &[]).await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let with = [("mcp-session-id", session.as_str())];
    for method in ["POST", "GET", "DELETE"] {
        let heard = send(address, &request(method, "/mcp/files", address, &with, list)).await;
        assert_eq!(heard.status, 404, "{method}");
    }
    assert_eq!(send(address, &request("POST", "/mcp", address, &with, list)).await.status, 200);
}

#[tokio::test]
async fn pages_are_read_and_nothing_else() {
    let (address, _running) = served().await;
    let status = send(address, &request("GET", "/status", address, &[], "")).await;
    assert_eq!((status.status, status.body.as_str()), (200, r#"{"you":"local"}"#));
    assert_eq!(status.header("content-type").as_deref(), Some("application/json"));
    assert_eq!(send(address, &request("POST", "/status", address, &[], "")).await.status, 405);
    let metrics = send(address, &request("GET", "/metrics", address, &[], "")).await;
    assert!(metrics.body.contains("trunkline_calls_total") && metrics.body.ends_with("further 1\n"));
}
