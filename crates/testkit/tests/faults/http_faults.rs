//! U03, U11, U12, H16–H18 and M06: faults of a server over HTTP, and endless lists.

use crate::support::*;
use serde_json::json;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio_rustls::{TlsAcceptor, rustls};
use trunkline_client::{ConnectOptions, Direction, FrameTap, RevisionChoice, State, Target};
use trunkline_protocol::{Era, Object};
use trunkline_testkit::script::HttpPeer;
use trunkline_transport::http::HttpOptions;

fn with_token() -> ConnectOptions {
    let mut http = HttpOptions::default();
    http.extra_headers.insert("authorization", "Bearer canary".parse().unwrap());
    ConnectOptions { http, ..options() }
}

#[test]
fn u03_a_legacy_call_over_http_is_cancelled_in_words() {
    run(async {
        let (client, mut peer) = http_legacy(options()).await;
        let call = call(&client);
        let request = peer.expect("POST tools/call").await;
        let asked = request.asked();
        jump(seconds(61)).await;
        assert_eq!(code(call.await.unwrap()), "E202");
        let cancelled = peer.expect("POST notifications/cancelled").await;
        assert_eq!(cancelled.asked().params["requestId"].to_string(), id_of(&asked));
        cancelled.status(202).await;
        request.abandoned().await;
        assert_http_works(&client, &mut peer).await;
    });
}

#[test]
fn u03_a_modern_call_over_http_is_cancelled_by_hanging_up() {
    run(async {
        let (client, mut peer) = http_modern(options()).await;
        let call = call(&client);
        let stream = peer.expect("POST tools/call").await.events().await;
        jump(seconds(61)).await;
        assert_eq!(code(call.await.unwrap()), "E202");
        stream.closed().await;
        assert_http_works(&client, &mut peer).await;
        assert_eq!(peer.seen(), ["POST server/discover", "POST tools/call", "POST tools/call"]);
    });
}

#[test]
fn u03_a_notification_that_is_never_accepted_holds_nobody_for_ever() {
    run(async {
        let (client, mut peer) = http_legacy(options()).await;
        let telling = tokio::spawn({
            let client = client.clone();
            async move { client.roots_changed().await }
        });
        let hanging = peer.expect("POST notifications/roots/list_changed").await;
        jump(seconds(31)).await;
        assert_eq!(code(telling.await.unwrap()), "E202");
        hanging.abandoned().await;
        // The client closes an endless stream that the server sends instead of 202.
        let telling = tokio::spawn({
            let client = client.clone();
            async move { client.roots_changed().await }
        });
        let mut endless = peer.expect("POST notifications/roots/list_changed").await.events().await;
        telling.await.unwrap().unwrap();
        endless.write_until_closed(&[b':'; 4096]).await;
        assert_http_works(&client, &mut peer).await;
    });
}

#[test]
fn u04_foreign_and_repeated_answers_over_http_are_dropped() {
    run(async {
        let (client, mut peer) = http_modern(options()).await;
        let call = call(&client);
        let request = peer.expect("POST tools/call").await;
        let asked = request.asked();
        let mut stream = request.events().await;
        for wrong in [format!("\"{}\"", id_of(&asked)), "999".to_owned()] {
            stream.message(format!(r#"{{"jsonrpc":"2.0","id":{wrong},"result":{{"content":[]}}}}"#)).await;
        }
        stream.message(asked.result(&text("mine"))).await;
        stream.message(asked.result(&text("again"))).await;
        stream.end().await;
        let result = call.await.unwrap().unwrap();
        assert!(format!("{result:?}").contains("mine"), "{result:?}");
        assert_eq!(client.connection().strays(), 2);
        let other = call_answered_with_foreign_id(&client, &mut peer).await;
        assert_eq!(other, "E215");
        assert_http_works(&client, &mut peer).await;
    });
}

async fn call_answered_with_foreign_id(
    client: &trunkline_client::Client,
    peer: &mut HttpPeer,
) -> &'static str {
    let call = call(client);
    let body = r#"{"jsonrpc":"2.0","id":"foreign","result":{"content":[]}}"#;
    peer.expect("POST tools/call").await.json(200, body).await;
    code(call.await.unwrap())
}

#[test]
fn u05_a_flood_of_questions_over_http_is_bounded() {
    run(async {
        let (client, mut peer) = http_legacy(options()).await;
        let call = call(&client);
        let request = peer.expect("POST tools/call").await;
        let asked = request.asked();
        let mut stream = request.events().await;
        for n in 0..2_000 {
            stream.message(format!(r#"{{"jsonrpc":"2.0","id":"p{n}","method":"ping"}}"#)).await;
            stream.message(format!(r#"{{"jsonrpc":"2.0","id":"q{n}","method":"roots/list"}}"#)).await;
        }
        stream.message(asked.result(&text("through"))).await;
        stream.end().await;
        call.await.unwrap().unwrap();
        // None of the answers was accepted so far, so at most the limit is in flight.
        let answers = peer.seen().iter().filter(|label| *label == "POST answer").count();
        assert!(answers <= 32 + 256, "{answers}");
        assert!(client.connection().strays() > 3_000, "{}", client.connection().strays());
    });
}

#[test]
fn u11_a_redirect_to_another_origin_gets_neither_token_nor_body() {
    run(async {
        for status in [301, 302, 303, 307, 308] {
            let trap = HttpPeer::start().await;
            let (client, mut peer) = http_modern(with_token()).await;
            let call = call(&client);
            let request = peer.expect("POST tools/call").await;
            assert_eq!(request.header("authorization"), Some("Bearer canary"));
            request.answer(status, &[("location", &trap.url())], "").await;
            let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
            assert_eq!(code, "E103", "{text}");
            assert!(text.contains(&trap.origin()) && !text.contains("canary"), "{text}");
            assert_eq!(trap.seen(), Vec::<String>::new());
        }
    });
}

#[test]
fn u11_a_redirect_during_the_handshake_is_refused_and_not_guessed_around() {
    run(async {
        let trap = HttpPeer::start().await;
        let (mut peer, connecting) = http(with_token()).await;
        peer.next().await.answer(308, &[("location", &trap.url())], "").await;
        assert_eq!(code(connecting.await.unwrap()), "E103");
        assert_eq!((peer.seen().len(), trap.seen().len()), (1, 0));
    });
}

#[test]
fn u11_a_redirect_within_the_origin_is_followed_and_a_circle_is_not() {
    run(async {
        let (client, mut peer) = http_modern(with_token()).await;
        let first = call(&client);
        peer.expect("POST tools/call").await.answer(307, &[("location", "/elsewhere")], "").await;
        let moved = peer.expect("POST tools/call").await;
        assert_eq!(
            (moved.path.as_str(), moved.header("authorization")),
            ("/elsewhere", Some("Bearer canary"))
        );
        moved.result(&text("there")).await;
        first.await.unwrap().unwrap();
        let circle = call(&client);
        for _ in 0..6 {
            peer.expect("POST tools/call").await.answer(307, &[("location", "/mcp")], "").await;
        }
        let (code, text) = code_and_text(&circle.await.unwrap().unwrap_err());
        assert_eq!(code, "E103");
        assert!(text.contains("more than 5 times"), "{text}");
    });
}

#[test]
fn u12_endless_answers_are_cut_at_the_limit() {
    run(async {
        let mut options = options();
        options.http.body_limit = 1 << 20;
        options.http.event_limit = 1 << 20;
        let (client, mut peer) = http_modern(options).await;
        for kind in ["application/json", "text/event-stream"] {
            let call = call(&client);
            let mut body = peer.expect("POST tools/call").await.begin(200, &[("content-type", kind)]).await;
            body.write("data: [").await;
            body.write_until_closed(&[b'1'; 16 * 1024]).await;
            let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
            assert_eq!(code, "E218", "{kind}: {text}");
            assert_http_works(&client, &mut peer).await;
        }
    });
}

#[test]
fn u12_an_endless_refusal_is_cut_too() {
    run(async {
        let (client, mut peer) = http_modern(options()).await;
        for (status, kind, expected) in
            [(500, "text/html", "E201"), (400, "application/json", "E203"), (200, "text/html", "E217")]
        {
            let call = call(&client);
            let mut body =
                peer.expect("POST tools/call").await.begin(status, &[("content-type", kind)]).await;
            body.write_until_closed(&[b'<'; 16 * 1024]).await;
            let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
            assert_eq!(code, expected, "{text}");
            assert!(text.len() < 2_000, "{} bytes", text.len());
            assert_http_works(&client, &mut peer).await;
        }
    });
}

#[test]
fn u12_a_body_that_breaks_off_or_lies_about_its_length_is_a_lost_connection() {
    run(async {
        let (client, mut peer) = http_modern(options()).await;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        for raw in [
            format!("{head}content-length: 100\r\n\r\n{{"),
            format!("{head}transfer-encoding: chunked\r\n\r\n5\r\n{{\"a\":"),
            String::new(),
            "SSH-2.0-OpenSSH_9.6\r\n".to_owned(),
        ] {
            let call = call(&client);
            peer.expect("POST tools/call").await.raw(&raw).await;
            let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
            assert_eq!(code, "E215", "{raw:?}: {text}");
            assert_http_works(&client, &mut peer).await;
        }
    });
}

#[test]
fn h16_text_that_looks_like_an_event_stays_text() {
    run(async {
        let (client, mut peer) = http_modern(options()).await;
        let call = call(&client);
        let request = peer.expect("POST tools/call").await;
        let asked = request.asked();
        let hostile = "a\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\nb\r\rid: 9";
        let mut stream = request.events().await;
        stream.write(": comment\nevent: other\ndata: {}\n\nid: 1\ndata:\n\n").await;
        stream.message(asked.result(&text(hostile))).await;
        stream.end().await;
        let result = call.await.unwrap().unwrap();
        assert!(format!("{result:?}").contains(&format!("{hostile:?}")), "{result:?}");
    });
}

#[test]
fn h17_an_endpoint_at_another_origin_is_refused() {
    run(async {
        let trap = HttpPeer::start().await;
        let mut options = with_token();
        options.speak = RevisionChoice::Era(Era::Legacy);
        let (mut peer, connecting) = http(options).await;
        peer.expect("POST initialize").await.status(405).await;
        let mut stream = peer.expect("GET").await.events().await;
        stream.write(format!("event: endpoint\ndata: {}/messages\n\n", trap.origin())).await;
        let (code, text) = code_and_text(&connecting.await.unwrap().unwrap_err());
        assert_eq!(code, "E103", "{text}");
        assert!(text.contains(&trap.origin()), "{text}");
        assert_eq!(trap.seen(), Vec::<String>::new());
    });
}

#[test]
fn h18_a_certificate_nobody_vouches_for_is_refused_without_a_downgrade() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let target = Target::url(&format!("https://localhost:{port}/mcp")).unwrap();
        let mut connecting = connect(target, with_token());
        let mut accepted = 0;
        let fault = loop {
            tokio::select! {
                outcome = &mut connecting => break outcome.unwrap().unwrap_err(),
                connection = listener.accept() => {
                    accepted += 1;
                    let refused = acceptor.accept(connection.unwrap().0).await;
                    assert!(refused.is_err(), "the client accepted an untrusted certificate");
                }
            }
        };
        let (code, text) = code_and_text(&fault);
        assert_eq!(code, "E216", "{text}");
        assert!(text.starts_with("no secure connection to the server"), "{text}");
        assert_eq!(accepted, 1, "nothing else is tried");
    });
}

#[test]
fn m06_cursors_that_never_end_are_followed_to_a_bound() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let listing = tokio::spawn({
            let client = client.clone();
            async move { client.tools().await.map(drop) }
        });
        let serving = async {
            let mut pages = 0;
            loop {
                let asked = line.expect("tools/list").await;
                pages += 1;
                line.answer(&asked, json!({"tools": [], "nextCursor": format!("page {pages}")})).await;
                if pages == 1000 {
                    break;
                }
            }
        };
        serving.await;
        let (code, text) = code_and_text(&listing.await.unwrap().unwrap_err());
        assert_eq!(code, "E217");
        assert_eq!(text, "the server's list `tools/list` does not end: it has more than 1000 pages");
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn m06_cursors_in_a_circle_are_noticed_at_once() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let listing = tokio::spawn(async move { client.resources().await.map(drop) });
        for cursor in ["a", "b", "a"] {
            let asked = line.expect("resources/list").await;
            line.answer(&asked, json!({"resources": [], "nextCursor": cursor})).await;
        }
        let (code, text) = code_and_text(&listing.await.unwrap().unwrap_err());
        assert_eq!(code, "E217");
        assert!(text.contains("a `nextCursor` repeats"), "{text}");
    });
}

#[test]
fn m06_a_list_of_nothing_but_bad_items_is_bounded_as_well() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let listing = tokio::spawn(async move { client.tools().await.map(drop) });
        let page = vec![json!(0); 60_000];
        for cursor in ["a", "b"] {
            let asked = line.expect("tools/list").await;
            line.answer(&asked, json!({"tools": page, "nextCursor": cursor})).await;
        }
        let (code, text) = code_and_text(&listing.await.unwrap().unwrap_err());
        assert_eq!(code, "E217");
        assert!(text.contains("more than 100000 items"), "{text}");
    });
}

#[test]
fn o13_a_token_stands_in_no_fault_and_no_trace() {
    run(async {
        let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
        let kept = seen.clone();
        let tap =
            FrameTap::new(move |_: Direction, frame: &[u8]| kept.lock().unwrap().extend_from_slice(frame));
        let (client, mut peer) = http_modern(ConnectOptions { tap: Some(tap), ..with_token() }).await;
        let call = call(&client);
        peer.expect("POST tools/call").await.status(403).await;
        let fault = call.await.unwrap().unwrap_err();
        assert_eq!(fault.entry().code, "E212");
        let shown = format!("{fault:?} {client:?} {}", String::from_utf8_lossy(&seen.lock().unwrap()));
        assert!(!shown.contains("canary"), "{shown}");
    });
}

#[test]
fn u12_a_lost_event_stream_of_the_oldest_kind_disconnects() {
    run(async {
        let mut options = options();
        options.speak = RevisionChoice::Era(Era::Legacy);
        let (mut peer, connecting) = http(options).await;
        peer.expect("POST initialize").await.status(405).await;
        let mut stream = peer.expect("GET").await.events().await;
        stream.write("event: endpoint\ndata: /messages?session=1\n\n").await;
        let request = peer.expect("POST initialize").await;
        assert_eq!(request.path, "/messages?session=1");
        stream.message(request.asked().result(&introduction("2024-11-05"))).await;
        request.status(202).await;
        peer.expect("POST notifications/initialized").await.status(202).await;
        let client = connecting.await.unwrap().unwrap();
        let call = call(&client);
        peer.expect("POST tools/call").await.status(202).await;
        drop(stream);
        assert_eq!(code(call.await.unwrap()), "E215");
        client.watch_state().wait_for(|state| *state == State::Disconnected).await.unwrap();
        assert_eq!(code(client.call("work", Object::new()).await), "E215");
    });
}
