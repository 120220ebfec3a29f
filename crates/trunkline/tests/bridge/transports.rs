//! Uses of a bridge: other transports, and servers that restart.

use crate::{
    host::Answering,
    questions::text_of,
    site::{Cell, bridge, example},
};
use std::{process::Stdio, sync::Arc};
use trunkline_client::{Client, ConnectOptions, RevisionChoice, Target};
use trunkline_protocol::{Era, Object, Revision};

#[test]
fn a_server_that_cannot_start_is_told_of_at_once_with_the_reason() {
    let mut missing = bridge();
    missing.args(["--listen", "127.0.0.1:0", "--", "/nowhere/no-such-server"]);
    let output = missing.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let mut crashing = bridge();
    crashing.args(["--listen", "127.0.0.1:0", "--", "sh", "-c", "echo the disk is full >&2; exit 7"]);
    let output = crashing.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("the disk is full"), "{output:?}");
}

#[test]
fn what_only_a_person_could_answer_is_refused() {
    let output = bridge().args(["--sample", "http://127.0.0.1:1/mcp"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_servers_introduction_and_names_pass_unchanged() {
    for cell in Cell::all() {
        let site = cell.site();
        let client = site.client(cell.client, Arc::new(Answering::default())).await;
        let server = client.server();
        assert_eq!(server.name.as_deref(), Some("trunkline-conformance-server"), "{cell:?}");
        let instructions = "Everything here exists to be called by the conformance suite.";
        assert_eq!(server.instructions.as_deref(), Some(instructions), "{cell:?}");
        let tools = client.tools().await.unwrap();
        assert_eq!(tools.items[0].name, "test_simple_text", "{cell:?}");
        assert_eq!(tools.bad.len(), 0, "{cell:?}");
        client.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_client_that_leaves_hurts_nobody() {
    for cell in Cell::all().filter(|cell| cell.upstream == crate::site::Upstream::Stdio) {
        let site = cell.site();
        let host = Answering::silent();
        let leaving = site.client(cell.client, host.clone()).await;
        let staying = site.client(cell.client, Arc::new(Answering::default())).await;
        tokio::select! {
            _ = crate::questions::asks_between(&leaving, "form") => panic!("nobody answered"),
            () = host.is_asked() => {}
        }
        leaving.close().await;
        let result = staying.call("test_simple_text", Object::new()).await.unwrap();
        assert!(text_of(&result).contains("simple text"), "{cell:?}");
        staying.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_on_standard_input_reaches_a_server_that_is_a_command() {
    let server = [example().display().to_string(), "--stdio".into(), "--era".into(), "modern".into()];
    let binary = env!("CARGO_BIN_EXE_trunkline");
    let words = [binary, "bridge", "--no-cache", "--"].map(str::to_owned).into_iter().chain(server);
    let target = Target::command(words.collect::<Vec<_>>()).unwrap();
    let options =
        ConnectOptions { speak: RevisionChoice::Exactly(Revision::V2025_06_18), ..ConnectOptions::default() };
    let client = Client::connect(&target, options).await.unwrap();
    assert_eq!(client.server().era(), Era::Legacy);
    let result = client.call("test_simple_text", Object::new()).await.unwrap();
    assert!(text_of(&result).contains("simple text"));
    client.close().await;
}
