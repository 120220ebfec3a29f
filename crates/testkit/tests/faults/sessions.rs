//! U13: a session that the server drops while it is in use.

use crate::support::*;
use serde_json::json;
use trunkline_client::{Client, State};
use trunkline_protocol::{Fault, Object};
use trunkline_testkit::script::HttpPeer;

type Reading = tokio::task::JoinHandle<Result<(), Fault>>;

fn read(client: &Client) -> Reading {
    let client = client.clone();
    tokio::spawn(async move { client.read("file:///a").await.map(drop) })
}

async fn answer_read(peer: &mut HttpPeer, session: &str) {
    let request = peer.expect("POST resources/read").await;
    assert_eq!(request.header("mcp-session-id"), Some(session));
    request.result(&json!({"contents": []})).await;
}

#[test]
fn u13_what_may_be_repeated_is_repeated_in_a_new_session() {
    run(async {
        let (client, mut peer) = http_legacy(options()).await;
        let reading = read(&client);
        peer.expect("POST resources/read").await.status(404).await;
        begin_session(&mut peer, "session-2").await;
        answer_read(&mut peer, "session-2").await;
        reading.await.unwrap().unwrap();
        assert_eq!(client.state(), State::Ready);
        let inits = peer.seen().iter().filter(|label| *label == "POST initialize").count();
        assert_eq!(inits, 2);
    });
}

#[test]
fn u13_a_call_in_a_forgotten_session_cannot_have_run_and_is_repeated_in_a_new_one() {
    run(async {
        let (client, mut peer) = http_legacy(options()).await;
        let call = call(&client);
        peer.expect("POST tools/call").await.status(404).await;
        begin_session(&mut peer, "session-2").await;
        let again = peer.expect("POST tools/call").await;
        assert_eq!(again.header("mcp-session-id"), Some("session-2"));
        again.result(&text("once")).await;
        call.await.unwrap().unwrap();
        let calls = peer.seen().iter().filter(|label| *label == "POST tools/call").count();
        assert_eq!(calls, 2);
    });
}

#[test]
fn u13_an_idempotent_tool_is_called_again() {
    run(async {
        let (client, mut peer) = http_legacy(options()).await;
        let listing = tokio::spawn({
            let client = client.clone();
            async move { client.tools().await.map(drop) }
        });
        let tool = json!({"name": "work", "inputSchema": {"type": "object"}, "annotations": {"idempotentHint": true}});
        peer.expect("POST tools/list").await.result(&json!({"tools": [tool]})).await;
        listing.await.unwrap().unwrap();
        let call = call(&client);
        peer.expect("POST tools/call").await.status(404).await;
        begin_session(&mut peer, "session-2").await;
        peer.expect("POST tools/call").await.result(&text("again")).await;
        call.await.unwrap().unwrap();
    });
}

#[test]
fn u13_many_calls_that_lose_one_session_begin_one() {
    run(async {
        let (client, mut peer) = http_legacy(options()).await;
        let readings: Vec<_> = (0..10).map(|_| read(&client)).collect();
        let mut lost = Vec::new();
        for _ in 0..10 {
            lost.push(peer.expect("POST resources/read").await);
        }
        for request in lost {
            request.status(404).await;
        }
        begin_session(&mut peer, "session-2").await;
        for _ in 0..10 {
            answer_read(&mut peer, "session-2").await;
        }
        for reading in readings {
            reading.await.unwrap().unwrap();
        }
        let inits = peer.seen().iter().filter(|label| *label == "POST initialize").count();
        assert_eq!(inits, 2);
    });
}

#[test]
fn u13_a_call_that_comes_while_the_session_is_renewed_waits_for_it() {
    run(async {
        let (client, mut peer) = http_legacy(options()).await;
        let first = read(&client);
        peer.expect("POST resources/read").await.status(404).await;
        let initialize = peer.expect("POST initialize").await;
        assert_eq!(initialize.header("mcp-session-id"), None);
        assert_eq!(client.state(), State::Initializing);
        let second = read(&client);
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(!second.is_finished());
        let body = initialize.asked().result(&introduction("2025-11-25"));
        initialize.answer(200, &[("content-type", "application/json"), ("mcp-session-id", "s")], body).await;
        peer.expect("POST notifications/initialized").await.status(202).await;
        answer_read(&mut peer, "s").await;
        answer_read(&mut peer, "s").await;
        first.await.unwrap().unwrap();
        second.await.unwrap().unwrap();
    });
}

#[test]
fn u13_a_session_lost_twice_in_one_call_ends_it() {
    run(async {
        let (client, mut peer) = http_legacy(options()).await;
        let reading = read(&client);
        peer.expect("POST resources/read").await.status(404).await;
        begin_session(&mut peer, "session-2").await;
        peer.expect("POST resources/read").await.status(404).await;
        assert_eq!(code(reading.await.unwrap()), "E215");
    });
}

#[test]
fn u13_a_server_that_hangs_in_the_second_initialize_is_given_up() {
    run(async {
        let (client, mut peer) = http_legacy(options()).await;
        let reading = read(&client);
        peer.expect("POST resources/read").await.status(404).await;
        let hanging = peer.expect("POST initialize").await;
        jump(seconds(31)).await;
        let (code_of_call, text) = code_and_text(&reading.await.unwrap().unwrap_err());
        assert_eq!(code_of_call, "E215");
        assert!(text.contains("opening a new one took longer than 30s"), "{text}");
        hanging.abandoned().await;
        assert_eq!(client.state(), State::Disconnected);
        let (code_of_call, text) = code_and_text(&client.call("work", Object::new()).await.unwrap_err());
        assert_eq!(code_of_call, "E215", "{text}");
    });
}

#[test]
fn u13_the_new_session_is_begun_even_if_the_caller_who_found_out_leaves() {
    run(async {
        let (client, mut peer) = http_legacy(options()).await;
        let reading = read(&client);
        peer.expect("POST resources/read").await.status(404).await;
        let initialize = peer.expect("POST initialize").await;
        reading.abort();
        assert!(reading.await.unwrap_err().is_cancelled());
        let body = initialize.asked().result(&introduction("2025-11-25"));
        initialize.answer(200, &[("content-type", "application/json"), ("mcp-session-id", "s")], body).await;
        peer.expect("POST notifications/initialized").await.status(202).await;
        assert_http_works(&client, &mut peer).await;
    });
}

#[test]
fn u13_closing_ends_the_session_on_the_server() {
    run(async {
        let (client, mut peer) = http_legacy(options()).await;
        let closing = tokio::spawn({
            let client = client.clone();
            async move { client.close().await }
        });
        let request = peer.expect("DELETE").await;
        assert_eq!(request.header("mcp-session-id"), Some("session-1"));
        request.status(405).await;
        closing.await.unwrap();
        assert_eq!(code(client.ping().await), "E221");
    });
}
