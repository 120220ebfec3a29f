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
use trunkline_protocol::{Notification, Object, Outcome, Raw, method};

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
