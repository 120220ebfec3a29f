//! P4–P7: order of the handshake, revisions, capabilities and states.

use crate::support::*;
use serde_json::json;
use trunkline_client::{Client, RevisionChoice, State};
use trunkline_protocol::{Era, Object, Revision};
use trunkline_testkit::script::ProcessLine;

async fn initialize_with(
    result: serde_json::Value,
) -> (Result<Client, trunkline_protocol::Fault>, ProcessLine) {
    let (peer, connecting) = process(speaking(RevisionChoice::Exactly(Revision::V2025_06_18))).await;
    let mut line = peer.accept().await;
    let asked = line.expect("initialize").await;
    assert_eq!(asked.params["protocolVersion"], "2025-06-18");
    line.answer(&asked, result).await;
    (connecting.await.unwrap(), line)
}

#[test]
fn p4_nothing_is_sent_before_the_answer_and_initialized_comes_first_after_it() {
    run(async {
        let (peer, connecting) = process(speaking(RevisionChoice::Era(Era::Legacy))).await;
        let mut line = peer.accept().await;
        let asked = line.expect("initialize").await;
        // The server may send requests before it answers; it receives none until it has.
        line.say(r#"{"jsonrpc":"2.0","id":"early","method":"ping"}"#).await;
        assert_eq!(line.message().await.id.as_deref(), Some("\"early\""));
        assert!(!connecting.is_finished());
        line.answer(&asked, introduction("2025-11-25")).await;
        let confirmed = line.expect(INITIALIZED).await;
        assert_eq!(confirmed.id, None);
        let client = connecting.await.unwrap().unwrap();
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn p5_a_revision_we_do_not_know_ends_the_connection() {
    run(async {
        for (answered, names) in
            [("1999-01-01", "1999-01-01"), ("2026-07-28", "a revision without it"), ("", "``")]
        {
            let (outcome, line) = initialize_with(introduction(answered)).await;
            let (code, text) = code_and_text(&outcome.unwrap_err());
            assert_eq!(code, "E208", "{answered}: {text}");
            assert!(text.contains(names), "{text}");
            assert_eq!(line.gone().await, b"", "nothing is confirmed");
        }
    });
}

#[test]
fn p5_another_revision_that_we_know_is_spoken() {
    run(async {
        let (outcome, mut line) = initialize_with(introduction("2024-11-05")).await;
        let client = outcome.unwrap();
        assert_eq!(client.server().revision, Revision::V2024_11_05);
        line.expect(INITIALIZED).await;
        assert_works(&client, &mut line).await;
    });
}

#[test]
fn p5_an_answer_without_a_revision_breaks_the_protocol() {
    run(async {
        for result in [json!({"capabilities": {}}), json!({"protocolVersion": 5}), json!([]), json!(null)] {
            let (outcome, _line) = initialize_with(result.clone()).await;
            assert_eq!(code(outcome), "E217", "{result}");
        }
    });
}

#[test]
fn p5_a_server_that_refuses_initialize_is_quoted() {
    run(async {
        let (peer, connecting) = process(speaking(RevisionChoice::Era(Era::Legacy))).await;
        let mut line = peer.accept().await;
        let asked = line.expect("initialize").await;
        line.refuse(&asked, -32603, "licence expired").await;
        let fault = connecting.await.unwrap().unwrap_err();
        let told = "the server refused the handshake (`initialize`): licence expired";
        assert_eq!(code_and_text(&fault), ("E201", told.to_owned()));
        assert_eq!(fault.original_mcp_code(), Some(-32603));
    });
}

#[test]
fn p6_what_the_server_does_not_offer_is_refused_here() {
    run(async {
        let (outcome, mut line) =
            initialize_with(json!({"protocolVersion": "2025-06-18", "capabilities": {"prompts": {}}})).await;
        let client = outcome.unwrap();
        line.expect(INITIALIZED).await;
        assert!(client.has_capability("prompts") && !client.has_capability("tools"));
        let (code_of_tools, text) = code_and_text(&client.tools().await.unwrap_err());
        assert_eq!((code_of_tools, text.as_str()), ("E205", "the server does not offer `tools`"));
        assert_eq!(code(client.call("work", Object::new()).await), "E205");
        assert_eq!(code(client.resources().await), "E205");
        assert_eq!(code(client.read("file:///x").await), "E205");
        // None of these requests was sent: the next message is the allowed one.
        let prompts = tokio::spawn(async move { client.prompts().await.map(|_| ()) });
        let asked = line.expect("prompts/list").await;
        line.answer(&asked, json!({"prompts": []})).await;
        prompts.await.unwrap().unwrap();
    });
}

#[test]
fn p7_the_states_follow_each_other_and_a_closed_connection_takes_nothing() {
    run(async {
        let peer = process_peer().await;
        let command = peer.command_reading(trunkline_testkit::script::relay::Reading::Stay);
        let target = trunkline_client::Target::command(command).unwrap();
        let connecting = connect(target, speaking(RevisionChoice::Era(Era::Legacy)));
        let mut line = peer.accept().await;
        initialize(&mut line, "2025-11-25").await;
        let client = connecting.await.unwrap().unwrap();
        let mut states = client.watch_state();
        assert_eq!(*states.borrow_and_update(), State::Ready);
        let open = call(&client);
        line.expect("tools/call").await;
        let closing = tokio::spawn({
            let client = client.clone();
            async move { client.close().await }
        });
        states.changed().await.unwrap();
        assert_eq!(*states.borrow_and_update(), State::ShuttingDown);
        assert_eq!(code(open.await.unwrap()), "E221", "a call in flight ends");
        let (code_of_call, text) = code_and_text(&client.call("work", Object::new()).await.unwrap_err());
        assert_eq!((code_of_call, text.as_str()), ("E221", "the connection is shutting down, not ready"));
        // The process ignores EOF, so the client sends a signal after its grace period.
        assert_eq!(line.line().await, None);
        jump(seconds(3)).await;
        closing.await.unwrap();
        assert_eq!(client.state(), State::Disconnected);
        assert_eq!(code(client.ping().await), "E221");
        client.close().await;
        line.gone().await;
    });
}
