//! J: responses that violate JSON-RPC.

use crate::support::*;
use serde_json::{Value, json};
use trunkline_client::{Client, RevisionChoice};
use trunkline_protocol::{Era, Revision};
use trunkline_testkit::script::{Asked, HttpPeer, ProcessLine};

/// Starts a call over a pipe; returns when the server has received it.
async fn asked(client: &Client, line: &mut ProcessLine) -> (Call, Asked) {
    let call = call(client);
    let asked = line.expect("tools/call").await;
    (call, asked)
}

type Call =
    tokio::task::JoinHandle<Result<trunkline_protocol::message::CallToolResult, trunkline_protocol::Fault>>;

/// The server writes `bad` and then the correct answer; asserts that `bad` is dropped and counted,
/// and that the call succeeds.
async fn dropped_then_answered(client: &Client, line: &mut ProcessLine, bad: impl AsRef<[u8]>) {
    let before = client.connection().strays();
    let (call, asked) = asked(client, line).await;
    line.say(bad).await;
    line.answer(&asked, text("after")).await;
    call.await.unwrap().expect("the right answer counts, whatever stood before it");
    assert_eq!(client.connection().strays(), before + 1);
}

/// The server's answer has the id of the call but is invalid; asserts that the call fails at once.
async fn refused(client: &Client, line: &mut ProcessLine, bad: impl FnOnce(&str) -> String) -> String {
    let (call, asked) = asked(client, line).await;
    line.say(bad(id_of(&asked))).await;
    let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
    assert_eq!(code, "E217", "{text}");
    assert_works(client, line).await;
    text
}

/// The same over HTTP, where a response belongs to its request even without its id.
async fn refused_over_http(client: &Client, peer: &mut HttpPeer, bad: impl AsRef<[u8]>) -> String {
    let call = call(client);
    peer.expect("POST tools/call").await.json(200, bad).await;
    let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
    assert_eq!(code, "E217", "{text}");
    assert_http_works(client, peer).await;
    text
}

#[test]
fn j01_broken_json_from_a_process_is_dropped_and_the_answer_behind_it_counts() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        for bad in [&b"{"[..], b"{\"jsonrpc\":\"2.0\",\"id\":", b"{\"a\":\xff\xfe}", b"[1,", b"{}"] {
            dropped_then_answered(&client, &mut line, bad).await;
        }
    });
}

#[test]
fn j01_a_line_behind_a_byte_order_mark_is_no_message() {
    run(async {
        let (tap, noise) = noise_counter();
        let (client, mut line) =
            legacy(trunkline_client::ConnectOptions { tap: Some(tap), ..options() }).await;
        let (call, asked) = asked(&client, &mut line).await;
        line.write([b"\xef\xbb\xbf", asked.result(&text("hidden")).as_bytes(), b"\n"].concat()).await;
        line.answer(&asked, text("plain")).await;
        let result = call.await.unwrap().unwrap();
        assert!(format!("{result:?}").contains("plain"), "{result:?}");
        assert_eq!(noise.lock().unwrap().len(), 1);
    });
}

#[test]
fn j01_broken_json_over_http_fails_the_call_and_nothing_else() {
    run(async {
        let (client, mut peer) = http_modern(options()).await;
        for bad in [&b"not json"[..], b"{", b"\xef\xbb\xbf{}", b"{\"a\":\xff}", b"null"] {
            refused_over_http(&client, &mut peer, bad).await;
        }
        let call = call(&client);
        peer.expect("POST tools/call").await.json(200, "").await;
        assert_eq!(code(call.await.unwrap()), "E215", "an empty body is not an answer");
        assert_http_works(&client, &mut peer).await;
    });
}

#[test]
fn j02_a_batch_is_taken_only_where_the_revision_has_batches() {
    run(async {
        for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
            let (client, mut line) = legacy_of(revision, options()).await;
            let (call, asked) = asked(&client, &mut line).await;
            line.say(format!("[{}]", asked.result(&text("batched")))).await;
            line.answer(&asked, text("single")).await;
            let result = call.await.unwrap().unwrap();
            assert!(format!("{result:?}").contains("single"), "{revision}: {result:?}");
            assert_eq!(client.connection().strays(), 1, "{revision}");
        }
        let (client, mut line) = legacy_of("2025-03-26", options()).await;
        let (first, one) = asked(&client, &mut line).await;
        let (second, two) = asked(&client, &mut line).await;
        line.say(format!("[{},{}]", two.result(&text("b")), one.result(&text("a")))).await;
        assert!(format!("{:?}", first.await.unwrap().unwrap()).contains("\"a\""));
        assert!(format!("{:?}", second.await.unwrap().unwrap()).contains("\"b\""));
    });
}

#[test]
fn j02_a_batch_of_101_is_dropped_whole() {
    run(async {
        let (client, mut line) = legacy_of("2025-03-26", options()).await;
        let (call, asked) = asked(&client, &mut line).await;
        let batch = vec![asked.result(&text("batched")); 101].join(",");
        line.say(format!("[{batch}]")).await;
        line.answer(&asked, text("single")).await;
        let result = call.await.unwrap().unwrap();
        assert!(format!("{result:?}").contains("single"), "{result:?}");
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn j02_a_modern_server_that_answers_with_a_batch_over_http_is_told_off() {
    run(async {
        let (client, mut peer) = http_modern(options()).await;
        let call = call(&client);
        let request = peer.expect("POST tools/call").await;
        let batch = format!("[{}]", request.asked().result(&text("batched")));
        request.json(200, batch).await;
        let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
        assert_eq!((code, text.as_str()), ("E217", "the server answered with a batch"));
        assert_http_works(&client, &mut peer).await;
    });
}

#[test]
fn j02_a_batch_on_the_servers_own_stream_is_taken_only_where_the_revision_has_batches() {
    run(async {
        let batch = r#"[{"jsonrpc":"2.0","id":"a","result":{}},{"jsonrpc":"2.0","id":"b","result":{}}]"#;
        for (revision, strays) in [("2025-11-25", 1), ("2025-03-26", 2)] {
            let (mut peer, connecting) = http(speaking(RevisionChoice::Era(Era::Legacy))).await;
            peer.expect("POST initialize").await.result(&introduction(revision)).await;
            peer.expect("POST notifications/initialized").await.status(202).await;
            let client = connecting.await.unwrap().unwrap();
            let mut stream = peer.expect("GET").await.events().await;
            stream.message(batch).await;
            until(|| client.connection().strays() >= strays).await;
            assert_http_works(&client, &mut peer).await;
            assert_eq!(client.connection().strays(), strays, "{revision}");
        }
    });
}

#[test]
fn j03_an_answer_whose_id_is_none_is_dropped() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        for id in ["null", "true", "{}", "[2]", "1.5", "2e0", "-0.5"] {
            let bad = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#);
            dropped_then_answered(&client, &mut line, bad).await;
        }
        dropped_then_answered(&client, &mut line, r#"{"jsonrpc":"2.0","result":{"content":[]}}"#).await;
    });
}

#[test]
fn j03_one_point_zero_is_one() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let (call, asked) = asked(&client, &mut line).await;
        line.say(format!(r#"{{"jsonrpc":"2.0","id":{}.0,"result":{{"content":[]}}}}"#, id_of(&asked))).await;
        call.await.unwrap().unwrap();
    });
}

#[test]
fn j04_ids_beyond_all_measure_are_dropped() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let long = "x".repeat(1 << 20);
        for id in ["123456789012345678901234567890", &format!("\"{long}\""), r#""\u0000\u001b[2J""#] {
            let bad = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#);
            dropped_then_answered(&client, &mut line, bad).await;
        }
    });
}

#[test]
fn j04_a_cursor_and_a_servers_own_id_go_back_byte_for_byte() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let listing = tokio::spawn({
            let client = client.clone();
            async move { client.tools().await }
        });
        let first = line.expect("tools/list").await;
        // A ping in between, with an id too large for a 64-bit integer.
        line.say(r#"{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}"#).await;
        let pong = line.line().await.unwrap();
        assert_eq!(pong, r#"{"jsonrpc":"2.0","id":123456789012345678901234567890,"result":{}}"#);
        line.answer(&first, json!({"tools": [], "nextCursor": "\u{0}\u{1b}ä\u{1f600}/+=\""})).await;
        let second = line.expect("tools/list").await;
        assert_eq!(second.params["cursor"], "\u{0}\u{1b}ä\u{1f600}/+=\"");
        line.answer(&second, json!({"tools": []})).await;
        listing.await.unwrap().unwrap();
    });
}

#[test]
fn j05_a_member_that_stands_twice_or_in_another_case_makes_no_answer() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let text = refused(&client, &mut line, |id| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}},"result":{{"isError":true}}}}"#)
        })
        .await;
        assert!(text.contains("twice"), "{text}");
        let escaped = |id: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"\u0072esult":{{"isError":true}}}}"#)
        };
        assert!(refused(&client, &mut line, escaped).await.contains("twice"));
        let cased = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"Result":{{"content":[]}}}}"#);
        refused(&client, &mut line, cased).await;
        let nul = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result\u0000":{{"content":[]}}}}"#);
        refused(&client, &mut line, nul).await;
        let both = |id: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"error":{{"code":1,"message":""}}}}"#)
        };
        assert!(refused(&client, &mut line, both).await.contains("both"));
        let bad_error = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"error":"no"}}"#);
        refused(&client, &mut line, bad_error).await;
        let no_version = |id: &str| format!(r#"{{"id":{id},"result":{{"content":[]}}}}"#);
        refused(&client, &mut line, no_version).await;
    });
}

#[test]
fn j06_nesting_is_taken_to_its_bound_and_refused_beyond_it_without_overflow() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        for depth in [129, 20_000, 1_000_000] {
            let (call, asked) = asked(&client, &mut line).await;
            let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            line.say(asked.result_text(&format!(r#"{{"structuredContent":{nested}}}"#))).await;
            let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
            assert_eq!(code, "E217", "{depth}: {text}");
            assert!(text.contains("nested deeper than 128"), "{text}");
            assert_works(&client, &mut line).await;
        }
        let (call, asked) = asked(&client, &mut line).await;
        // The message and its result take two of the 128 levels.
        let nested = format!("{}{}", "[".repeat(126), "]".repeat(126));
        line.say(asked.result_text(&format!(r#"{{"structuredContent":{nested}}}"#))).await;
        assert_eq!(call.await.unwrap().unwrap().structured_content.unwrap().as_str(), nested);
    });
}

#[test]
fn j08_numbers_keep_their_digits() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let digits = "7".repeat(64 * 1024);
        for number in ["1e400", "9007199254740993", "-0", "123456789012345678901234567890", &digits] {
            let (call, asked) = asked(&client, &mut line).await;
            line.say(asked.result_text(&format!(r#"{{"content":[],"structuredContent":{{"n":{number}}}}}"#)))
                .await;
            let result = call.await.unwrap().unwrap();
            assert_eq!(result.structured_content.unwrap().member("n").unwrap().as_str(), number);
        }
    });
}

#[test]
fn j08_an_error_code_that_is_no_integer_fails_the_call_alone() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        for number in ["1e400", "1.5", "99999999999999999999", "\"-32602\""] {
            let bad = |id: &str| {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{number},"message":"no"}}}}"#)
            };
            refused(&client, &mut line, bad).await;
        }
    });
}

#[test]
fn j10_no_schema_makes_the_client_fetch_anything() {
    run(async {
        let trap = HttpPeer::start().await;
        let (client, mut line) = legacy(options()).await;
        let listing = tokio::spawn({
            let client = client.clone();
            async move { client.tools().await }
        });
        let asked = line.expect("tools/list").await;
        let any_of: Vec<Value> = (0..10_000).map(|n| json!({"const": n})).collect();
        line.answer(
            &asked,
            json!({"tools": [
                {"name": "remote", "inputSchema": {"$ref": format!("{}/schema.json", trap.origin())}},
                {"name": "file", "inputSchema": {"$ref": "file:///etc/passwd"}},
                {"name": "cycle", "inputSchema": {"$ref": "#"}},
                {"name": "wide", "inputSchema": {"type": "object", "anyOf": any_of}},
                {"name": "slow", "inputSchema": {"type": "object", "properties": {"a": {"pattern": "(a+)+$"}}}},
                {"name": "none", "inputSchema": null},
                {"name": 5},
                {"name": "fine", "inputSchema": {"type": "object"}},
            ]}),
        )
        .await;
        let tools = listing.await.unwrap().unwrap();
        assert!(tools.items.iter().any(|tool| tool.name == "fine"));
        assert!(tools.bad.iter().any(|bad| bad.index == 6), "{:?}", tools.bad);
        let call = call(&client);
        let asked = line.expect("tools/call").await;
        line.answer(&asked, text("fine")).await;
        call.await.unwrap().unwrap();
        assert_eq!(trap.seen(), Vec::<String>::new());
    });
}

#[test]
fn j05_the_handshake_is_read_as_strictly() {
    run(async {
        let (peer, connecting) = process(speaking(RevisionChoice::Exactly(Revision::V2025_11_25))).await;
        let mut line = peer.accept().await;
        let asked = line.expect("initialize").await;
        line.say(asked.result_text(
            r#"{"protocolVersion":"2025-11-25","protocolVersion":"2024-11-05","capabilities":{}}"#,
        ))
        .await;
        assert_eq!(code(connecting.await.unwrap()), "E217");
    });
}
