//! The gateway with a real upstream whose server connects and disconnects.

use super::{Client, Gateway, client, raw};
use crate::{
    GatewayOptions,
    gateway::Source,
    upstream::{Upstream, UpstreamOptions},
};
use futures_util::{FutureExt, future::BoxFuture};
use serde_json::{Value, json};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::watch;
use trunkline_protocol::{
    Call, Connect, ConnectError, Fault, FaultKind, Handler, Notification, Profile, Raw, Reply, Revision,
    Session, message::Implementation, method::*,
};

/// Connects to a server while it runs.
#[derive(Clone)]
struct Host {
    running: Arc<watch::Sender<bool>>,
    tools: Arc<Mutex<Vec<&'static str>>>,
}

struct HostSession(Host);

impl Connect for Host {
    fn connect(&self, _profile: Profile) -> BoxFuture<'static, Result<Arc<dyn Session>, ConnectError>> {
        let host = self.clone();
        async move {
            if *host.running.borrow() {
                return Ok(Arc::new(HostSession(host)) as Arc<dyn Session>);
            }
            Err(ConnectError {
                fault: Fault::new(FaultKind::CannotConnect, "nobody is there"),
                permanent: false,
            })
        }
        .boxed()
    }
}

impl Handler for HostSession {
    fn call(&self, call: Call) -> Reply {
        let tools: Vec<Value> = self
            .0
            .tools
            .lock()
            .unwrap()
            .iter()
            .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
            .collect();
        let answer = match call.method.as_ref() {
            TOOLS_LIST => json!({"tools": tools}),
            TOOLS_CALL => json!({"called": call.params.unwrap().member("name").unwrap()}),
            _ => return Reply::ready(Err(Fault::new(FaultKind::NotAvailable, "no"))),
        };
        Reply::ready(Ok(answer.into()))
    }
}

impl Session for HostSession {
    fn introduction(&self) -> Raw {
        raw(r#"{"supportedVersions":["2025-11-25"],"capabilities":{"tools":{}}}"#)
    }

    fn revision(&self) -> Revision {
        "2025-11-25".parse().unwrap()
    }

    fn on_event(&self, _hear: Box<dyn Fn(Notification) + Send + Sync>) {}

    fn lost(&self) -> BoxFuture<'static, Fault> {
        let mut running = self.0.running.subscribe();
        async move {
            let gone = running.wait_for(|running| !running).await;
            drop(gone);
            Fault::new(FaultKind::ServerExited, "gone")
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'static, ()> {
        async {}.boxed()
    }
}

/// Lists until `wanted` is true, under paused time, which advances when all tasks wait.
async fn listed(gateway: &Gateway, wanted: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..10_000 {
        let list: Value = client().ask(gateway, TOOLS_LIST, json!({})).await.unwrap().decode().unwrap();
        if wanted(&list) {
            return list;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the list never reached the wanted state");
}

#[tokio::test(start_paused = true)]
async fn a_list_follows_its_server_down_and_up_again() {
    let host = Host { running: Arc::new(watch::Sender::new(true)), tools: Arc::new(Mutex::new(vec!["x"])) };
    let upstream = Upstream::new("a".parse().unwrap(), Arc::new(host.clone()), UpstreamOptions::default());
    let mut options = GatewayOptions::new(Implementation::new("gate", "1"));
    options.servers = vec![Arc::clone(&upstream) as Arc<dyn Source>];
    let gateway = Gateway::new(options).unwrap();
    upstream.start();
    let list = listed(&gateway, |list| list["tools"][0]["name"] == "a_x").await;
    assert!(list["tools"][0].get("_meta").is_none() && list.get("_meta").is_none());
    let answer = Client::named("alice", &[]).ask(&gateway, TOOLS_CALL, json!({"name": "a_x"})).await.unwrap();
    assert_eq!(answer.as_str(), r#"{"called":"x"}"#);
    host.running.send_replace(false);
    listed(&gateway, |list| list["tools"][0]["_meta"]["trunkline/stale"] == true).await;
    *host.tools.lock().unwrap() = vec!["x", "y"];
    host.running.send_replace(true);
    let list = listed(&gateway, |list| list["tools"].as_array().unwrap().len() == 2).await;
    assert!(list["tools"][0].get("_meta").is_none(), "{list}");
    upstream.stop().await;
}
