//! T: faults of a server's standard streams. The target `fault_memory` measures memory.

use crate::support::*;
use trunkline_client::{ConnectOptions, RevisionChoice, State, Target};
use trunkline_protocol::{Era, Object, Raw};
use trunkline_testkit::script::relay::Reading;
use trunkline_transport::child::ChildLimits;

#[test]
fn t02_a_line_beyond_the_limit_fails_the_call_and_the_next_one_works() {
    run(async {
        let limits = ChildLimits { line: 1 << 20, ..ChildLimits::default() };
        let (client, mut line) = legacy(ConnectOptions { process_limits: limits, ..options() }).await;
        let (other, mut other_line) = legacy(options()).await;
        let call = call(&client);
        line.expect("tools/call").await;
        line.write(r#"{"jsonrpc":"2.0","id":2,"result":{"x":""#).await;
        line.fill_output(b'x', 3 << 20).await;
        line.say("\"}}").await;
        let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
        assert_eq!((code, text.as_str()), ("E218", "the server sent a line longer than 1048576 bytes"));
        assert_works(&client, &mut line).await;
        assert_works(&other, &mut other_line).await;
    });
}

#[test]
fn t03_banners_on_standard_output_are_skipped_and_counted() {
    run(async {
        let (tap, noise) = noise_counter();
        let (client, mut line) = legacy(ConnectOptions { tap: Some(tap), ..options() }).await;
        line.say("Server listening on stdio").await;
        line.say("\u{1b}[32m✓ ready\u{1b}[0m").await;
        line.say(&b"\xff\xfe binary"[..]).await;
        assert_works(&client, &mut line).await;
        assert_eq!(client.connection().noise(), 3);
        assert_eq!(noise.lock().unwrap()[0], b"Server listening on stdio");
    });
}

#[test]
fn t03_a_server_that_only_prints_is_given_up() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let call = call(&client);
        line.expect("tools/call").await;
        line.write("chatter\n".repeat(10_001)).await;
        let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
        assert_eq!(code, "E217");
        assert_eq!(text, "the server wrote more than 10000 lines that are not JSON-RPC messages");
        client.watch_state().wait_for(|state| *state == State::Disconnected).await.unwrap();
        assert_eq!(code_of_next(&client).await, "E217");
    });
}

async fn code_of_next(client: &trunkline_client::Client) -> &'static str {
    code(client.call("work", Object::new()).await)
}

#[test]
fn t05_a_server_that_reads_nothing_costs_a_bounded_queue_and_a_clear_error() {
    run(async {
        let peer = process_peer().await;
        // The server reads `initialize` and `notifications/initialized`, and then stops reading.
        let command = Target::command(peer.command_reading(Reading::Lines(2))).unwrap();
        let connecting = connect(command, speaking(RevisionChoice::Era(Era::Legacy)));
        let mut line = peer.accept().await;
        initialize(&mut line, "2025-11-25").await;
        let client = connecting.await.unwrap().unwrap();
        let mut calls = tokio::task::JoinSet::new();
        // Twice the capacity of the queue: half of the calls find it full.
        for _ in 0..32 {
            let client = client.clone();
            calls.spawn(async move {
                let mut arguments = Object::new();
                arguments.set("text", Raw::string(&"x".repeat(1 << 20)));
                client.call("work", arguments).await
            });
        }
        // After these yields every call has been polled and is waiting.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        jump(seconds(26)).await;
        for _ in 0..16 {
            let (code, text) = code_and_text(&calls.join_next().await.unwrap().unwrap().unwrap_err());
            assert_eq!(code, "E202", "{text}");
            assert!(text.starts_with("the server does not read its input"), "{text}");
        }
        // Later calls fail at once; the circuit breaker opens after five such failures.
        let (code, text) = code_and_text(&client.call("work", Object::new()).await.unwrap_err());
        assert_eq!(code, "E201", "{text}");
        assert!(text.contains("does not read its input"), "{text}");
    });
}

#[test]
fn t06_line_ends_of_all_kinds_blank_lines_and_single_bytes_are_read() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let crlf = call(&client);
        let asked = line.expect("tools/call").await;
        line.write(format!("\r\n\n  \n{}\r\n", asked.result(&text("crlf")))).await;
        crlf.await.unwrap().unwrap();
        let slow = call(&client);
        let asked = line.expect("tools/call").await;
        for byte in format!("{}\n", asked.result(&text("slow"))).bytes() {
            line.write([byte]).await;
        }
        slow.await.unwrap().unwrap();
        assert_eq!((client.connection().noise(), client.connection().strays()), (0, 0));
    });
}

#[test]
fn t06_a_fragment_and_then_the_end_is_no_answer() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let call = call(&client);
        line.expect("tools/call").await;
        line.write(r#"{"jsonrpc":"2.0","i"#).await;
        line.exit(0).await;
        let (code, text) = code_and_text(&call.await.unwrap().unwrap_err());
        assert_eq!(code, "E220", "{text}");
    });
}

#[test]
fn t06_an_answer_without_its_newline_counts_when_the_server_leaves() {
    run(async {
        let (client, mut line) = legacy(options()).await;
        let call = call(&client);
        let asked = line.expect("tools/call").await;
        line.write(asked.result(&text("last"))).await;
        line.exit(0).await;
        call.await.unwrap().unwrap();
    });
}

#[test]
fn t08_a_server_that_closes_its_input_is_told_from_one_that_died() {
    run(async {
        let script = r#"read -r line
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}'
read -r line
exec <&-
echo '{"jsonrpc":"2.0","method":"notifications/deaf"}'
exec /bin/sleep 1000"#;
        let command = Target::command(["/bin/sh", "-c", script]).unwrap();
        let client = connect(command, speaking(RevisionChoice::Era(Era::Legacy))).await.unwrap().unwrap();
        // The notification may arrive before we listen; the input is closed by then or soon after.
        let (code, text) = loop {
            let fault = client.call("work", Object::new()).timeout(seconds(1)).await.unwrap_err();
            // A call that was written before the input was closed is never answered.
            if fault.entry().code != "E202" {
                break code_and_text(&fault);
            }
        };
        assert_eq!(code, "E215", "{text}");
        assert!(text.starts_with("the server no longer reads its input"), "{text}");
        client.close().await;
        assert_eq!(client.state(), State::Disconnected);
    });
}
