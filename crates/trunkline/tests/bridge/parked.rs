//! A modern client with a legacy server: a parked call waits for its own client only, and not
//! forever.

use crate::{
    host::answer,
    questions::text_of,
    site::{example, server_over_http},
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;
use trunkline_client::{Behalf, Client, ConnectOptions, Connection, RevisionChoice, Target, Unattended};
use trunkline_protocol::{FaultKind, Object, Raw, Revision, method};
use trunkline_serve::{Limits, ServeOptions, Server, Shutdown};

/// A bridge in this process, whose limits the test chooses.
struct Bridge {
    client: Client,
    /// A second handle of the same server session.
    upstream: Connection,
    _running: watch::Sender<Shutdown>,
}

impl Bridge {
    async fn in_front_of(target: Target, limits: Limits) -> Self {
        let capabilities = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}});
        let options = ConnectOptions {
            behalf: Some(Behalf { capabilities: capabilities.into(), client: None }),
            host: Arc::new(Unattended::default()),
            ..ConnectOptions::default()
        };
        let upstream = Connection::open(&target, options).await.unwrap();
        let options = ServeOptions { limits, ..ServeOptions::default() };
        let address = "127.0.0.1:0".parse().unwrap();
        let server = Server::bind(address, Arc::new(upstream.clone()), options).await.unwrap();
        let url = format!("http://{}/mcp", server.address());
        let (running, told) = watch::channel(Shutdown::Running);
        tokio::spawn(server.run(told));
        let speak = RevisionChoice::Exactly(Revision::NEWEST);
        let options = ConnectOptions { speak, ..ConnectOptions::default() };
        let client = Client::connect(&Target::url(&url).unwrap(), options).await.unwrap();
        Self { client, upstream, _running: running }
    }

    /// One round of the call.
    async fn round(&self, more: &Value) -> Result<Value, FaultKind> {
        let mut params = json!({
            "name": "test_asks_between",
            "arguments": {"kind": "form"},
            "_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}},
        });
        params.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        let reply = self.client.request(method::TOOLS_CALL, Some(params.into()));
        reply.outcome().await.map(|raw| raw.decode().unwrap()).map_err(|fault| fault.kind())
    }

    async fn left_alone(&self) -> String {
        let mut params = Object::new();
        params.set("name", Raw::string("test_left_alone"));
        let call = trunkline_protocol::Call::new(method::TOOLS_CALL, Some(params.to_raw()));
        let result = trunkline_protocol::Handler::call(&self.upstream, call).outcome().await.unwrap();
        text_of(&result.decode().unwrap())
    }
}

/// A server of this era over both transports.
async fn bridges(era: &str, limits: Limits) -> Vec<(Bridge, Box<dyn std::any::Any>)> {
    let words = [example().display().to_string(), "--stdio".into(), "--era".into(), era.into()];
    let over_stdio = Box::pin(Bridge::in_front_of(Target::command(words.to_vec()).unwrap(), limits)).await;
    let (running, url) = server_over_http(era);
    let over_http = Box::pin(Bridge::in_front_of(Target::url(&url).unwrap(), limits)).await;
    vec![(over_stdio, Box::new(())), (over_http, Box::new(running))]
}

fn retry(first: &Value) -> Value {
    let key = first["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let given: Value = answer(method::ELICIT, None).decode().unwrap();
    json!({"requestState": first["requestState"], "inputResponses": {key: given}})
}

fn is_done(last: &Value) -> bool {
    last["content"][0]["text"].as_str().is_some_and(|text| text.contains("Ada"))
}

/// A `requestState` with its last characters changed.
fn tampered(first: &Value) -> Value {
    let mut tampered = retry(first);
    let state = tampered["requestState"].as_str().unwrap().to_owned();
    let flipped = if state.ends_with('A') { "BB" } else { "AA" };
    tampered["requestState"] = json!(format!("{}{flipped}", &state[..state.len() - 2]));
    tampered
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tampered_state_is_refused_whoever_gave_it_and_the_call_still_waits() {
    // The state of a modern server is its own, and so is the error.
    for era in ["legacy", "modern"] {
        for (bridge, _process) in Box::pin(bridges(era, Limits::default())).await {
            let first = bridge.round(&json!({})).await.unwrap();
            assert_eq!(first["resultType"], "input_required");
            assert_eq!(bridge.round(&tampered(&first)).await, Err(FaultKind::InvalidRequest), "{era}");
            let last = bridge.round(&retry(&first)).await.unwrap();
            assert!(is_done(&last), "{era}: {last}");
            bridge.upstream.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_that_nobody_gave_is_refused() {
    for (bridge, _process) in Box::pin(bridges("legacy", Limits::default())).await {
        let first = bridge.round(&json!({})).await.unwrap();
        let mut made_up = retry(&first);
        made_up["requestState"] = json!("made-up");
        assert_eq!(bridge.round(&made_up).await, Err(FaultKind::InvalidRequest));
        bridge.upstream.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_is_good_for_one_retry_of_the_same_call() {
    for (bridge, _process) in Box::pin(bridges("legacy", Limits::default())).await {
        let first = bridge.round(&json!({})).await.unwrap();
        let params = &first["inputRequests"].as_object().unwrap().values().next().unwrap()["params"];
        assert!(params.get("elicitationId").is_none());
        let mut another = retry(&first);
        another["arguments"] = json!({"kind": "roots"});
        assert_eq!(bridge.round(&another).await, Err(FaultKind::InvalidRequest));
        let last = bridge.round(&retry(&first)).await.unwrap();
        assert!(is_done(&last), "{last}");
        assert_eq!(bridge.round(&retry(&first)).await, Err(FaultKind::InvalidRequest));
        bridge.upstream.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_come_back_in_time_finds_its_call_gone() {
    let limits = Limits { parked_for: Duration::from_millis(300), ..Limits::default() };
    for (bridge, _process) in Box::pin(bridges("legacy", limits)).await {
        let first = bridge.round(&json!({})).await.unwrap();
        let gone = async {
            while bridge.left_alone().await != "1" {
                // Expired calls are evicted when the next call is parked.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), gone).await.expect("the call goes on at the server");
        assert_eq!(bridge.round(&retry(&first)).await, Err(FaultKind::InvalidRequest));
        bridge.upstream.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_cancelled_is_answered_so_and_the_call_ends() {
    for era in ["legacy", "modern"] {
        for (bridge, _process) in Box::pin(bridges(era, Limits::default())).await {
            let first = bridge.round(&json!({})).await.unwrap();
            let mut cancelled = retry(&first);
            let answers = cancelled["inputResponses"].as_object_mut().unwrap();
            answers.values_mut().for_each(|answer| *answer = json!({"action": "cancel"}));
            let last = bridge.round(&cancelled).await.unwrap();
            assert!(last["content"][0]["text"].as_str().unwrap().contains("action=cancel"), "{era}: {last}");
            bridge.upstream.close().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn between_modern_sides_nothing_is_parked_and_another_bridge_takes_the_retry() {
    let (_running, url) = server_over_http("modern");
    let none = Limits { parked: 0, ..Limits::default() };
    let one = Box::pin(Bridge::in_front_of(Target::url(&url).unwrap(), none)).await;
    let other = Box::pin(Bridge::in_front_of(Target::url(&url).unwrap(), none)).await;
    let first = one.round(&json!({})).await.unwrap();
    one.upstream.close().await;
    let last = other.round(&retry(&first)).await.unwrap();
    assert!(is_done(&last), "{last}");
    other.upstream.close().await;
}
