//! Lists that change.

use crate::scripted::{Scripted, legacy, result};
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use std::{
    future,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::sync::oneshot;
use trunkline_client::{Abilities, Asked, Client, ConnectOptions, Host};
use trunkline_protocol::{FaultKind, Notification, Object, Outcome, Raw, method};

/// A host that lists the tools as soon as it is notified that they changed.
#[derive(Default)]
struct Eager {
    client: OnceLock<Client>,
    seen: Mutex<Option<oneshot::Sender<usize>>>,
}

struct Shared(Arc<Eager>);

impl Host for Shared {
    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    fn answer(&self, _asked: Asked) -> BoxFuture<'static, Outcome> {
        future::ready(Ok(Raw::empty_object())).boxed()
    }

    fn notice(&self, notification: &Notification) {
        if notification.method != method::TOOLS_CHANGED {
            return;
        }
        let (client, tell) =
            (self.0.client.get().unwrap().clone(), self.0.seen.lock().unwrap().take().unwrap());
        tokio::spawn(async move { tell.send(client.tools().await.unwrap().items.len()) });
    }
}

/// A server whose list has one more tool after every call; the response and the change
/// notification are sent in one batch.
fn growing() -> impl Fn(&Value) -> Option<Value> + Send + Sync {
    let tools = AtomicUsize::new(1);
    move |message| match message["method"].as_str() {
        Some("tools/list") => {
            let tool = |index| json!({"name": format!("tool-{index}"), "inputSchema": {"type": "object"}});
            let tools: Vec<_> = (0..tools.load(Ordering::Relaxed)).map(tool).collect();
            Some(result(message, json!({"tools": tools})))
        }
        Some("tools/call") => {
            tools.fetch_add(1, Ordering::Relaxed);
            let news = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            Some(json!([news, result(message, json!({"content": []}))]))
        }
        _ => legacy("2025-03-26", message),
    }
}

#[tokio::test]
async fn whoever_hears_of_a_change_and_looks_gets_the_new_list() {
    let server = Scripted::serve(growing()).await;
    let eager = Arc::new(Eager::default());
    let options = ConnectOptions { host: Arc::new(Shared(eager.clone())), ..ConnectOptions::default() };
    let client = Client::connect(&server.target("mcp"), options).await.unwrap();
    assert!(eager.client.set(client.clone()).is_ok());
    assert_eq!(client.tools().await.unwrap().items.len(), 1);
    let (tell, seen) = oneshot::channel();
    *eager.seen.lock().unwrap() = Some(tell);
    client.call("tool-0", Object::new()).await.unwrap();
    assert_eq!(seen.await.unwrap(), 2);
    client.close().await;
}

#[tokio::test]
async fn a_tool_that_is_not_in_the_cached_list_is_looked_up_once_more() {
    let (tools, asked) = (Arc::new(AtomicUsize::new(1)), Arc::new(AtomicUsize::new(0)));
    let (offered, counted) = (tools.clone(), asked.clone());
    let server = Scripted::serve(move |message| match message["method"].as_str() {
        Some("tools/list") => {
            counted.fetch_add(1, Ordering::Relaxed);
            let tool = |index| json!({"name": format!("tool-{index}"), "inputSchema": {"type": "object"}});
            let tools: Vec<_> = (0..offered.load(Ordering::Relaxed)).map(tool).collect();
            Some(result(message, json!({"tools": tools})))
        }
        _ => legacy("2025-11-25", message),
    })
    .await;
    let client = Client::connect(&server.target("mcp"), ConnectOptions::default()).await.unwrap();
    assert_eq!(client.tool("tool-1").await.unwrap_err().kind(), FaultKind::NotAvailable);
    assert_eq!(asked.load(Ordering::Relaxed), 1, "a list that was just read is not read again");
    tools.store(2, Ordering::Relaxed);
    assert_eq!(client.tool("tool-0").await.unwrap().name, "tool-0");
    assert_eq!(asked.load(Ordering::Relaxed), 1, "it is cached");
    assert_eq!(client.tool("tool-1").await.unwrap().name, "tool-1");
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    client.close().await;
}
