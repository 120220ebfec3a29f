//! T4 and M02: detection of a server's era and transport, for any answer to the first request.

use crate::support::*;
use serde_json::json;
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use trunkline_client::{
    Carrier, ConnectOptions, Direction, FrameTap, KnownTransport, Memory, RevisionChoice, Target,
};
use trunkline_protocol::{Era, Revision};
use trunkline_testkit::script::HttpPeer;

#[test]
fn t4_a_process_that_refuses_the_probe_is_initialized_in_the_same_life() {
    run(async {
        let (peer, connecting) = process(options()).await;
        let mut line = peer.accept().await;
        let probe = line.expect("server/discover").await;
        assert_eq!(probe.params["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        line.refuse(&probe, -32601, "Method not found").await;
        initialize(&mut line, "2025-11-25").await;
        let client = connecting.await.unwrap().unwrap();
        assert_eq!(client.server().revision, Revision::V2025_11_25);
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn t4_a_process_that_dies_of_the_probe_is_started_again_and_spoken_to_in_the_old_way() {
    run(async {
        let (peer, connecting) = process(options()).await;
        let mut first = peer.accept().await;
        first.expect("server/discover").await;
        first.exit(1).await;
        let mut second = peer.accept().await;
        initialize(&mut second, "2024-11-05").await;
        let client = connecting.await.unwrap().unwrap();
        assert_eq!(client.server().revision, Revision::V2024_11_05);
        assert_works(&client, &mut second).await;
    });
}

#[test]
fn t4_a_process_that_ignores_the_probe_is_asked_in_the_old_way_after_a_while() {
    run(async {
        let (peer, connecting) = process(options()).await;
        let mut line = peer.accept().await;
        line.expect("server/discover").await;
        jump(seconds(6)).await;
        initialize(&mut line, "2025-06-18").await;
        let client = connecting.await.unwrap().unwrap();
        assert_eq!(client.server().era(), Era::Legacy);
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn m02_a_slow_modern_process_that_refuses_initialize_is_modern() {
    run(async {
        let (peer, connecting) = process(options()).await;
        let mut line = peer.accept().await;
        let probe = line.expect("server/discover").await;
        jump(seconds(6)).await;
        let initialize = line.expect("initialize").await;
        line.refuse(&initialize, -32022, "no sessions here").await;
        line.answer(&probe, discovery()).await;
        let client = connecting.await.unwrap().unwrap();
        assert_eq!(client.server().era(), Era::Modern);
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn m02_a_slow_modern_process_that_answers_the_probe_first_is_modern() {
    run(async {
        let (peer, connecting) = process(options()).await;
        let mut line = peer.accept().await;
        let probe = line.expect("server/discover").await;
        jump(seconds(6)).await;
        let initialize = line.expect("initialize").await;
        line.answer(&probe, discovery()).await;
        let client = connecting.await.unwrap().unwrap();
        line.refuse(&initialize, -32601, "Method not found").await;
        assert_eq!(client.server().era(), Era::Modern);
        assert_works(&client, &mut line).await;
        assert_eq!(client.connection().strays(), 1, "the late refusal is a stray");
    });
}

#[test]
fn m02_a_probe_answered_with_nonsense_falls_back() {
    run(async {
        for nonsense in [json!({}), json!({"tools": []}), json!([]), json!("hello"), json!(null)] {
            let (peer, connecting) = process(options()).await;
            let mut line = peer.accept().await;
            let probe = line.expect("server/discover").await;
            line.say("Welcome!").await;
            line.answer(&probe, nonsense).await;
            initialize(&mut line, "2025-11-25").await;
            let client = connecting.await.unwrap().unwrap();
            assert_eq!(client.server().era(), Era::Legacy);
        }
    });
}

#[test]
fn m02_a_server_that_names_only_foreign_revisions_is_refused() {
    run(async {
        let (peer, connecting) = process(options()).await;
        let mut line = peer.accept().await;
        let probe = line.expect("server/discover").await;
        line.answer(&probe, json!({"supportedVersions": ["2031-01-01"], "capabilities": {}})).await;
        let (code, text) = code_and_text(&connecting.await.unwrap().unwrap_err());
        assert_eq!(code, "E208");
        assert!(text.contains("2031-01-01"), "{text}");
    });
}

#[test]
fn m02_a_server_that_refuses_what_it_says_it_supports_is_asked_twice_and_no_more() {
    run(async {
        let (peer, connecting) = process(options()).await;
        let mut line = peer.accept().await;
        let refusal =
            json!({"code": -32022, "message": "no", "data": {"supported": ["2026-07-28"], "requested": "x"}});
        for _ in 0..2 {
            let probe = line.expect("server/discover").await;
            line.say(probe.error_with(&refusal)).await;
        }
        assert_eq!(code(connecting.await.unwrap()), "E208");
        assert_eq!(line.gone().await, b"");
    });
}

/// Connects to an HTTP server that handles the probe with `answer` and then accepts `initialize`;
/// asserts that it is found to be legacy.
async fn probed_with(answer: impl AsyncFnOnce(&mut HttpPeer)) {
    let (mut peer, connecting) = http(options()).await;
    answer(&mut peer).await;
    begin_session(&mut peer, "s").await;
    let client = connecting.await.unwrap().unwrap();
    assert_eq!((client.server().era(), client.server().transport), (Era::Legacy, Carrier::StreamableHttp));
    assert_http_works(&client, &mut peer).await;
}

#[test]
fn t4_an_address_that_answers_the_probe_in_any_wrong_way_is_initialized() {
    run(async {
        for status in [400, 404, 405, 406, 415, 500, 501, 503] {
            probed_with(async |peer| peer.next().await.status(status).await).await;
        }
        for (status, kind, body) in [
            (200, "text/plain", "hello"),
            (200, "text/html", "<html></html>"),
            (400, "text/plain", "Bad Request: no session"),
            (
                400,
                "application/json",
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#,
            ),
            (200, "application/json", "{}"),
            (200, "application/json", "nonsense"),
        ] {
            probed_with(async |peer| peer.next().await.answer(status, &[("content-type", kind)], body).await)
                .await;
        }
        let refuse = async |peer: &mut HttpPeer| {
            let request = peer.next().await;
            let body = request.asked().error(-32601, "Method not found");
            request.json(200, body).await;
        };
        probed_with(refuse).await;
        probed_with(async |peer| peer.next().await.status(202).await).await;
        probed_with(async |peer| drop(peer.next().await)).await;
    });
}

#[test]
fn t4_an_address_that_is_silent_on_the_probe_is_initialized_after_a_while() {
    run(async {
        let (mut peer, connecting) = http(options()).await;
        let silent = peer.expect("POST server/discover").await;
        jump(seconds(6)).await;
        begin_session(&mut peer, "s").await;
        let client = connecting.await.unwrap().unwrap();
        assert_eq!(client.server().era(), Era::Legacy);
        silent.abandoned().await;
    });
}

#[test]
fn m02_a_slow_modern_address_is_modern() {
    run(async {
        let (mut peer, connecting) = http(options()).await;
        let slow = peer.expect("POST server/discover").await;
        jump(seconds(6)).await;
        let request = peer.expect("POST initialize").await;
        let body = request.asked().error(-32601, "Method not found");
        request.json(404, body).await;
        slow.result(&discovery()).await;
        let client = connecting.await.unwrap().unwrap();
        assert_eq!(client.server().era(), Era::Modern);
        assert_http_works(&client, &mut peer).await;
    });
}

#[test]
fn m02_an_address_that_refuses_initialize_and_never_answers_the_probe_is_told_as_refused() {
    run(async {
        let read = Arc::new(AtomicBool::new(false));
        let mark = read.clone();
        let tap = FrameTap::new(move |direction, _: &[u8]| {
            mark.fetch_or(direction == Direction::Received, Ordering::Relaxed);
        });
        let (mut peer, connecting) = http(ConnectOptions { tap: Some(tap), ..options() }).await;
        let silent = peer.expect("POST server/discover").await;
        jump(seconds(6)).await;
        let request = peer.expect("POST initialize").await;
        let body = request.asked().error(-32603, "licence expired");
        request.json(200, body).await;
        // The last wait starts when the client has read the refusal.
        until(|| read.load(Ordering::Relaxed)).await;
        jump(seconds(6)).await;
        let (code, text) = code_and_text(&connecting.await.unwrap().unwrap_err());
        let told = "the server refused the handshake (`initialize`): licence expired";
        assert_eq!((code, text.as_str()), ("E201", told));
        silent.abandoned().await;
    });
}

#[test]
fn t4_an_address_of_the_oldest_kind_is_reached_in_three_steps() {
    run(async {
        let (mut peer, connecting) = http(options()).await;
        peer.expect("POST server/discover").await.status(405).await;
        peer.expect("POST initialize").await.status(405).await;
        let mut stream = peer.expect("GET").await.events().await;
        stream.write("event: endpoint\ndata: /messages\n\n").await;
        let request = peer.expect("POST initialize").await;
        stream.message(request.asked().result(&introduction("2024-11-05"))).await;
        request.status(202).await;
        peer.expect("POST notifications/initialized").await.status(202).await;
        let client = connecting.await.unwrap().unwrap();
        assert_eq!(client.server().transport, Carrier::LegacySse);
        let seen = ["POST server/discover", "POST initialize", "GET", "POST initialize"];
        assert_eq!(peer.seen()[..4], seen);
    });
}

#[test]
fn t4_an_address_that_is_no_server_is_told_by_its_first_refusal() {
    run(async {
        let (mut peer, connecting) = http(options()).await;
        for _ in 0..3 {
            peer.next().await.answer(404, &[("content-type", "text/html")], "<h1>Not Found</h1>").await;
        }
        let (code, text) = code_and_text(&connecting.await.unwrap().unwrap_err());
        assert_eq!(code, "E204");
        assert!(text.contains("404") && text.contains("Not Found"), "{text}");
        assert_eq!(peer.seen(), ["POST server/discover", "POST initialize", "GET"]);
    });
}

#[test]
fn t4_who_is_not_let_in_is_told_so_and_nothing_else_is_tried() {
    run(async {
        for (status, expected) in [(401, "E211"), (403, "E212"), (429, "E213")] {
            let (mut peer, connecting) = http(options()).await;
            let challenge = [("www-authenticate", "Bearer resource_metadata=\"https://a/b\"")];
            peer.next().await.answer(status, &challenge, "").await;
            let (code, text) = code_and_text(&connecting.await.unwrap().unwrap_err());
            assert_eq!(code, expected);
            assert!(text.contains("resource_metadata"), "{text}");
            assert_eq!(peer.seen().len(), 1, "{status}");
        }
    });
}

#[test]
fn t4_an_address_of_the_oldest_kind_that_wants_a_token_says_so() {
    run(async {
        let (mut peer, connecting) = http(options()).await;
        peer.expect("POST server/discover").await.status(404).await;
        peer.expect("POST initialize").await.status(404).await;
        peer.expect("GET").await.status(401).await;
        assert_eq!(code(connecting.await.unwrap()), "E211");
    });
}

#[test]
fn t4_nobody_at_the_address_is_told_as_such() {
    run(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let target = Target::url(&format!("http://127.0.0.1:{port}/mcp")).unwrap();
        assert_eq!(code(connect(target, options()).await.unwrap()), "E216");
    });
}

#[test]
fn t4_the_caller_may_insist_on_an_era() {
    run(async {
        let (peer, connecting) = process(speaking(RevisionChoice::Era(Era::Modern))).await;
        let mut line = peer.accept().await;
        let probe = line.expect("server/discover").await;
        line.refuse(&probe, -32601, "Method not found").await;
        assert_eq!(code(connecting.await.unwrap()), "E208");
        assert_eq!(line.gone().await, b"");
    });
}

fn remembering(memory: &Arc<Memory>) -> ConnectOptions {
    ConnectOptions { memory: Some(memory.clone()), ..options() }
}

#[test]
fn t4_what_was_found_out_is_used_the_next_time() {
    run(async {
        let memory = Arc::new(Memory::default());
        let peer = process_peer().await;
        let target = Target::command(peer.command()).unwrap();
        let connecting = connect(target.clone(), remembering(&memory));
        let mut line = peer.accept().await;
        let probe = line.expect("server/discover").await;
        line.refuse(&probe, -32601, "Method not found").await;
        initialize(&mut line, "2025-11-25").await;
        connecting.await.unwrap().unwrap();
        assert_eq!(memory.recall(&target.key()), Some(KnownTransport::Legacy));
        let connecting = connect(target, remembering(&memory));
        // Now `initialize` is the first request.
        initialize(&mut peer.accept().await, "2025-11-25").await;
        connecting.await.unwrap().unwrap();
    });
}

#[test]
fn t4_what_no_longer_fits_is_forgotten_and_found_out_anew() {
    run(async {
        let mut peer = HttpPeer::start().await;
        let target = Target::url(&peer.url()).unwrap();
        let memory =
            Arc::new(Memory::from_entries(BTreeMap::from([(target.key(), KnownTransport::LegacySse)])));
        let connecting = connect(target.clone(), remembering(&memory));
        peer.expect("GET").await.status(405).await;
        peer.expect("POST server/discover").await.result(&discovery()).await;
        let client = connecting.await.unwrap().unwrap();
        assert_eq!(client.server().era(), Era::Modern);
        assert_eq!(memory.recall(&target.key()), Some(KnownTransport::Modern));
    });
}

#[test]
fn t4_a_remembered_modern_server_that_was_replaced_by_an_old_one_is_still_reached() {
    run(async {
        let peer = process_peer().await;
        let target = Target::command(peer.command()).unwrap();
        let memory = Arc::new(Memory::from_entries(BTreeMap::from([(target.key(), KnownTransport::Modern)])));
        let connecting = connect(target.clone(), remembering(&memory));
        let mut first = peer.accept().await;
        let probe = first.expect("server/discover").await;
        first.refuse(&probe, -32601, "Method not found").await;
        let mut second = peer.accept().await;
        let probe = second.expect("server/discover").await;
        second.refuse(&probe, -32601, "Method not found").await;
        initialize(&mut second, "2025-11-25").await;
        connecting.await.unwrap().unwrap();
        assert_eq!(memory.recall(&target.key()), Some(KnownTransport::Legacy));
    });
}
