//! The stdio transport, as the parent process sees it.

use crate::support::{
    Fixture,
    wire::{HANG, INITIALIZE, modern},
};
use serde_json::Value;
use std::{
    fmt::Write as _,
    io,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};
use tokio::io::{AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use trunkline_serve::{Limits, ServeOptions, serve_stdio};

struct Pipe {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
    server: tokio::task::JoinHandle<std::io::Result<()>>,
}

fn serve(fixture: Arc<Fixture>, limits: Limits) -> Pipe {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (read, write) = tokio::io::split(theirs);
    let options = ServeOptions { limits, ..ServeOptions::default() };
    let server = tokio::spawn(async move { serve_stdio(fixture, options, read, write).await });
    let (read, write) = tokio::io::split(ours);
    Pipe { input: write, output: BufReader::new(read), server }
}

impl Pipe {
    async fn say(&mut self, text: &str) {
        self.input.write_all(text.as_bytes()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        let mut line = String::new();
        tokio::time::timeout(HANG, self.output.read_line(&mut line)).await.expect("an answer comes").unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }
}

#[tokio::test]
async fn t01_a_line_that_is_too_long_is_refused_and_the_next_one_answered() {
    let mut pipe = serve(Fixture::new().0, Limits { body: 10_000, ..Limits::default() });
    pipe.say(&"x".repeat(1_000_000)).await;
    assert_eq!(pipe.hear().await["error"]["code"], -32700);
    pipe.say(&modern("tools/list", "")).await;
    assert_eq!(pipe.hear().await["result"]["tools"][0]["name"], "echo");
}

#[tokio::test]
async fn t06_line_ends_blank_lines_and_single_bytes_are_taken_and_the_end_is_an_end() {
    let mut pipe = serve(Fixture::new().0, Limits::default());
    pipe.say("\r\n\n  ").await;
    for byte in modern("tools/list", "").bytes() {
        pipe.input.write_all(&[byte]).await.unwrap();
    }
    pipe.input.write_all(b"\r\n").await.unwrap();
    assert_eq!(pipe.hear().await["id"], 1);
    pipe.input.write_all(b"{\"jsonrpc\":").await.unwrap();
    pipe.input.shutdown().await.unwrap();
    tokio::time::timeout(HANG, pipe.server).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn j01_m01_nonsense_and_calls_before_the_introduction_are_answered_with_errors() {
    let mut pipe = serve(Fixture::new().0, Limits::default());
    for (bad, code) in [
        ("nonsense", -32700),
        ("{", -32700),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, -32600),
    ] {
        pipe.say(bad).await;
        assert_eq!(pipe.hear().await["error"]["code"], code, "{bad}");
    }
    pipe.say(INITIALIZE).await;
    assert_eq!(pipe.hear().await["result"]["protocolVersion"], "2025-11-25");
    pipe.say(INITIALIZE).await;
    assert_eq!(pipe.hear().await["error"]["code"], -32600);
}

#[tokio::test]
async fn m02_a_line_is_of_the_era_that_its_client_chose_last_and_never_of_both() {
    let mut pipe = serve(Fixture::new().0, Limits::default());
    pipe.say(&modern("server/discover", "")).await;
    assert_eq!(pipe.hear().await["result"]["supportedVersions"][0], "2026-07-28");
    pipe.say(&modern("tools/list", "")).await;
    assert_eq!(pipe.hear().await["result"]["resultType"], "complete");
    // After `server/discover`, a client may still send `initialize`.
    pipe.say(INITIALIZE).await;
    assert_eq!(pipe.hear().await["result"]["protocolVersion"], "2025-11-25");
    // Now there is a session; a modern `_meta` in a request does not end it.
    pipe.say(&modern("tools/list", "")).await;
    let list = pipe.hear().await;
    assert!(list["result"]["tools"].is_array() && list["result"]["resultType"].is_null(), "{list}");
    pipe.say(&modern("server/discover", "")).await;
    assert_eq!(pipe.hear().await["error"]["code"], -32601);
    pipe.say(INITIALIZE).await;
    assert_eq!(pipe.hear().await["error"]["code"], -32600);
}

#[tokio::test]
async fn a_legacy_client_is_asked_and_a_modern_one_told_to_ask_again() {
    let mut pipe = serve(Fixture::new().0, Limits::default());
    pipe.say(&modern("tools/call", r#""name":"ask""#)).await;
    let asked = pipe.hear().await["result"].clone();
    assert_eq!(
        (asked["resultType"].as_str(), asked["inputRequests"]["user_name"]["method"].as_str()),
        (Some("input_required"), Some("elicitation/create"))
    );
    let answers = r#""inputResponses":{"user_name":{"action":"accept","content":{"name":"Ada"}}}"#;
    let state = asked["requestState"].as_str().unwrap();
    pipe.say(&modern("tools/call", &format!(r#""name":"ask",{answers},"requestState":"{state}x""#))).await;
    assert_eq!(pipe.hear().await["error"]["code"], -32602);
    pipe.say(&modern("tools/call", &format!(r#""name":"ask",{answers},"requestState":"{state}""#))).await;
    assert_eq!(pipe.hear().await["result"]["content"][0]["text"], "hello Ada");
    pipe.say(INITIALIZE).await;
    pipe.hear().await;
    pipe.say(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask"}}"#).await;
    let question = pipe.hear().await;
    assert_eq!(question["method"], "elicitation/create");
    pipe.say(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"action":"accept","content":{{"name":"Bob"}}}}}}"#,
        question["id"]
    ))
    .await;
    assert_eq!(pipe.hear().await["result"]["content"][0]["text"], "hello Bob");
}

#[tokio::test]
async fn a_client_that_leaves_ends_what_it_had_under_way() {
    let (fixture, mut told) = Fixture::new();
    let mut pipe = serve(fixture, Limits::default());
    pipe.say(&modern("tools/call", r#""name":"never""#)).await;
    assert_eq!(tokio::time::timeout(HANG, told.recv()).await.unwrap().as_deref(), Some("began"));
    drop(pipe.input);
    pipe.output.into_inner();
    assert_eq!(tokio::time::timeout(HANG, told.recv()).await.unwrap().as_deref(), Some("never"));
    tokio::time::timeout(HANG, pipe.server).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_call_that_panics_is_answered_and_harms_no_other() {
    for era in ["legacy", "modern"] {
        let mut pipe = serve(Fixture::new().0, Limits::default());
        if era == "legacy" {
            pipe.say(INITIALIZE).await;
            pipe.hear().await;
        }
        let call =
            |id: u32, tool: &str| modern("tools/call", tool).replace("\"id\":1", &format!("\"id\":{id}"));
        pipe.say(&[call(7, r#""name":"panic""#), call(8, r#""name":"echo""#)].join("\n")).await;
        let (one, other) = (pipe.hear().await, pipe.hear().await);
        let (broken, fine) = if one["id"] == 7 { (one, other) } else { (other, one) };
        assert_eq!(
            (&broken["id"], &broken["error"]["code"]),
            (&7.into(), &(-32603).into()),
            "{era}: {broken}"
        );
        assert_eq!(fine["result"]["content"][0]["text"], "nothing", "{era}");
        // The id can be reused.
        pipe.say(&call(7, r#""name":"echo""#)).await;
        assert_eq!(pipe.hear().await["result"]["content"][0]["text"], "nothing", "{era}");
    }
}

#[tokio::test]
async fn a_call_that_is_cancelled_ends_in_either_era_and_is_not_answered() {
    for era in ["legacy", "modern"] {
        let (fixture, mut told) = Fixture::new();
        let mut pipe = serve(fixture, Limits::default());
        if era == "legacy" {
            pipe.say(INITIALIZE).await;
            pipe.hear().await;
        }
        pipe.say(&modern("tools/call", r#""name":"never""#)).await;
        assert_eq!(tokio::time::timeout(HANG, told.recv()).await.unwrap().as_deref(), Some("began"), "{era}");
        pipe.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
        assert_eq!(tokio::time::timeout(HANG, told.recv()).await.unwrap().as_deref(), Some("never"), "{era}");
        pipe.say(&modern("tools/call", r#""name":"echo""#)).await;
        assert_eq!(pipe.hear().await["result"]["content"][0]["text"], "nothing", "{era}");
    }
}

/// Counts how often it is written to.
#[derive(Clone, Default)]
struct Counting(Arc<Mutex<(usize, Vec<u8>)>>);

impl AsyncWrite for Counting {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let (writes, text) = &mut *self.0.lock().unwrap();
        *writes += 1;
        text.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn answers_to_what_came_together_go_out_together() {
    let mut input = format!("{INITIALIZE}\n");
    for id in 1..=50 {
        let call = r#""method":"tools/call","params":{"name":"echo"}"#;
        writeln!(input, r#"{{"jsonrpc":"2.0","id":{id},{call}}}"#).unwrap();
    }
    let output = Counting::default();
    let input = io::Cursor::new(input.into_bytes());
    serve_stdio(Fixture::new().0, ServeOptions::default(), input, output.clone()).await.unwrap();
    let (writes, text) = &*output.0.lock().unwrap();
    assert_eq!(String::from_utf8_lossy(text).lines().count(), 51);
    assert!(*writes <= 3, "{writes} writes");
}
