//! Bounds on the memory that a hostile server can make us use. Memory is measured for the whole
//! process, so these tests are a separate target and run one at a time.
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what it is made of")]

#[path = "../faults/support.rs"]
#[expect(dead_code, reason = "it serves another target, too")]
mod support;

use parking_lot::Mutex;
use serde_json::json;
use std::{fmt::Write as _, fs};
use support::*;
use tokio::time::Instant;
use trunkline_client::{ConnectOptions, RevisionChoice, Target};
use trunkline_protocol::Era;
use trunkline_testkit::script::relay::Reading;

const MIB: u64 = 1 << 20;
/// Maximum length of a line or body.
const LIMIT: u64 = 16 * MIB;

static TURN: Mutex<()> = Mutex::new(());

/// Runs a test alone; fails if memory use grows by more than `most` bytes at any time.
fn run_within(most: u64, test: impl Future<Output = ()>) {
    let _turn = TURN.lock();
    // Resets the peak RSS (VmHWM).
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS:");
    run(test);
    let grown = status("VmHWM:").saturating_sub(before);
    assert!(grown <= most, "memory grew by {} MiB", grown / MIB);
}

fn status(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
fn t02_a_line_of_100_mb_costs_no_more_than_twice_the_limit() {
    run_within(2 * LIMIT + 16 * MIB, async {
        let (client, mut line) = legacy(options()).await;
        let call = call(&client);
        let asked = line.expect("tools/call").await;
        line.write(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"x":""#, id_of(&asked))).await;
        line.fill_output(b'x', 100 * MIB).await;
        line.say("\"}}").await;
        let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
        assert_eq!((code, text.as_str()), ("E218", "the server sent a line longer than 16777216 bytes"));
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn t02_a_line_that_never_ends_holds_up_only_its_own_server() {
    run_within(2 * LIMIT + 16 * MIB, async {
        let (client, mut line) = legacy(options()).await;
        let (other, mut other_line) = legacy(options()).await;
        let call = call(&client);
        line.expect("tools/call").await;
        line.write("{").await;
        line.fill_output(b' ', 64 * MIB).await;
        assert_eq!(code(call.await.unwrap()), "E218");
        assert_works(&other, &mut other_line).await;
    });
}

#[test]
fn t04_a_gigabyte_on_standard_error_is_drained_and_only_its_end_kept() {
    run_within(32 * MIB, async {
        let (client, mut line) = legacy(options()).await;
        line.fill_errors(b'x', 1024 * MIB).await;
        assert_works(&client, &mut line).await;
        line.complain("\nlast words\n").await;
        let call = call(&client);
        line.expect("tools/call").await;
        line.exit(1).await;
        let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
        assert_eq!(code, "E220");
        assert!(text.contains("last words") && text.len() < 128 * 1024, "{} bytes", text.len());
    });
}

#[test]
fn u05_a_flood_that_nobody_takes_is_not_kept() {
    run_within(64 * MIB, async {
        let (client, mut line) = legacy(options()).await;
        // The caller reads the first part of its reply and then stops reading.
        let params = trunkline_protocol::Raw::from(json!({"name": "work", "_meta": {"progressToken": 2}}));
        let mut reply = client.request("tools/call", Some(params));
        let first = tokio::spawn(async move {
            reply.next().await;
            reply
        });
        let asked = line.expect("tools/call").await;
        let padding = "x".repeat(1000);
        let progress = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":1,"message":"{padding}"}}}}"#,
            id_of(&asked)
        );
        let log = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"info","data":"{padding}"}}}}"#
        );
        let _listener_that_does_not_listen = client.connection().events();
        let piece = format!("{progress}\n{log}\n").repeat(500);
        for _ in 0..100 {
            line.write(&piece).await;
        }
        assert_works(&client, &mut line).await;
        drop(first.await.unwrap());
    });
}

#[test]
fn u05_questions_of_a_server_that_takes_no_answers_are_not_kept() {
    run_within(64 * MIB, async {
        let peer = process_peer().await;
        let command = Target::command(peer.command_reading(Reading::Lines(2))).unwrap();
        let connecting = connect(command, speaking(RevisionChoice::Era(Era::Legacy)));
        let mut line = peer.accept().await;
        initialize(&mut line, "2025-11-25").await;
        let client = connecting.await.unwrap().unwrap();
        let mut piece = String::new();
        for n in 0..1_000 {
            writeln!(piece, r#"{{"jsonrpc":"2.0","id":"p{n}","method":"ping"}}"#).unwrap();
            writeln!(piece, r#"{{"jsonrpc":"2.0","id":"q{n}","method":"roots/list"}}"#).unwrap();
        }
        for _ in 0..100 {
            line.write(&piece).await;
        }
        // This line is not a message and is counted as noise; once it is, all lines before it were
        // handled.
        line.say("the end").await;
        until(|| client.connection().noise() == 1).await;
        assert!(client.connection().strays() > 100_000, "{}", client.connection().strays());
    });
}

#[test]
fn u12_an_endless_body_costs_no_more_than_the_limit() {
    run_within(3 * LIMIT, async {
        let (client, mut peer) = http_modern(options()).await;
        for kind in ["application/json", "text/event-stream"] {
            let call = call(&client);
            let mut body = peer.expect("POST tools/call").await.begin(200, &[("content-type", kind)]).await;
            body.write("data: [").await;
            let written = body.write_until_closed(&[b'1'; 16 * 1024]).await;
            // Some of the written bytes were still in the buffers of both sockets when the client
            // closed.
            assert!(written < 4 * LIMIT, "{written}");
            let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
            assert_eq!(code, "E218", "{kind}: {text}");
        }
        assert_http_works(&client, &mut peer).await;
    });
}

#[test]
fn j09_a_million_elements_cost_no_more_than_ten_times_their_text() {
    // Ten times the larger text of 8 MB, plus three copies in this test itself.
    run_within(104 * MIB, async {
        let (client, mut line) = legacy(options()).await;
        let list = format!("[{}0]", "1234567,".repeat(1_000_000));
        let mut object = "{".to_owned();
        for n in 0..500_000 {
            write!(object, "\"{n}\":1,").unwrap();
        }
        object.push_str("\"\":0}");
        for many in [list, object] {
            let call = call(&client);
            let asked = line.expect("tools/call").await;
            line.say(asked.result_text(&format!(r#"{{"content":[],"structuredContent":{many}}}"#))).await;
            let begin = Instant::now();
            let result = call.await.unwrap().unwrap();
            assert_eq!(result.structured_content.unwrap().as_str().len(), many.len());
            assert!(begin.elapsed() < seconds(20), "{:?}", begin.elapsed());
        }
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn j06_a_million_levels_cost_nothing() {
    run_within(48 * MIB, async {
        let (client, mut peer) = http_legacy(ConnectOptions::default()).await;
        let call = call(&client);
        let request = peer.expect("POST tools/call").await;
        let deep = request.asked().result_text(&"[".repeat(1 << 20));
        request.json(200, deep).await;
        assert_eq!(code(call.await.unwrap()), "E217");
        assert_http_works(&client, &mut peer).await;
    });
}
