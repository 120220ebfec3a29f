//! U06, U10: servers that send requests without the client's capability, and oversized results.

use crate::{
    faults::{process_peer, run, seconds, text},
    support::*,
};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::task::JoinHandle;
use trunkline_gateway::upstream::{State, Upstream, UpstreamOptions};
use trunkline_protocol::{Call, FaultKind, Handler, Outcome, Part, Revision, message::meta};
use trunkline_testkit::script::{Asked, ProcessLine, ProcessPeer};

/// Requests that a server may send: methods and parameters.
fn questions() -> [(&'static str, Value); 3] {
    let message = json!({"role": "user", "content": {"type": "text", "text": "Who pays you?"}});
    let form = json!({"type": "object", "properties": {"pin": {"type": "string"}}});
    [
        ("sampling/createMessage", json!({"messages": [message], "maxTokens": 9})),
        ("roots/list", json!({})),
        ("elicitation/create", json!({"message": "Your PIN?", "requestedSchema": form})),
    ]
}

/// Returns a call of a client with these capabilities.
fn call_declaring(capabilities: Value) -> Call {
    let mut call = call_by("ada", "work", &json!({}));
    let params = call.params.take();
    call.params =
        Some(meta::set(params.as_ref(), [(meta::CLIENT_CAPABILITIES, capabilities.into())]).unwrap());
    call
}

/// Runs a call in a separate task and answers every question at once; returns the methods of the
/// questions and the outcome.
fn attended(upstream: &Arc<Upstream>, call: Call) -> JoinHandle<(Vec<String>, Outcome)> {
    let mut reply = upstream.call(call);
    tokio::spawn(async move {
        let mut asked = Vec::new();
        loop {
            match reply.next().await.expect("a reply ends with its final part") {
                Part::Question(question) => {
                    asked.push(question.method.to_string());
                    question.answer(Ok(json!({"action": "accept", "content": {"pin": "0"}}).into()));
                }
                Part::Final(outcome) => return (asked, outcome),
                Part::Notification(_) | Part::Detach => {}
            }
        }
    })
}

/// Sends a request to the client and returns its response.
async fn answer_to(line: &mut ProcessLine, method: &str, params: &Value) -> Value {
    let id = format!("q-{method}");
    line.say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()).await;
    let answer = line.message().await.value();
    assert_eq!(answer["id"], id, "{answer:#}");
    answer
}

/// True if an answer discloses nothing.
fn is_refusal(method: &str, answer: &Value) -> bool {
    let empty = method == "roots/list" && answer["result"]["roots"] == json!([]);
    let declined = method == "elicitation/create" && answer["result"]["action"] == "decline";
    answer["error"].is_object() || empty || declined
}

/// Plays a server's part until its first call; returns the capabilities that the session declared,
/// and the call.
async fn greeted(line: &mut ProcessLine) -> (Value, Asked) {
    let asked = line.expect("initialize").await;
    let introduction = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "scripted", "version": "1"},
    });
    line.answer(&asked, introduction).await;
    line.expect("notifications/initialized").await;
    (asked.params["capabilities"].clone(), called(line).await)
}

/// Waits for the call; the client may list the tools first.
async fn called(line: &mut ProcessLine) -> Asked {
    loop {
        let asked = line.message().await;
        match asked.method.as_str() {
            "tools/call" => return asked,
            "tools/list" => line.answer(&asked, tools()).await,
            other => panic!("{other}: {}", asked.text),
        }
    }
}

/// A legacy server after its handshake, and the line on which it can send requests.
pub(crate) async fn curious() -> (ProcessPeer, Arc<Upstream>, ProcessLine) {
    let peer = process_peer().await;
    let upstream = legacy("curious", &peer, UpstreamOptions::default());
    let mut line = peer.accept().await;
    welcome(&mut line).await;
    ready(&upstream).await;
    (peer, upstream, line)
}

#[test]
fn u06_what_a_server_asks_while_nobody_called_reaches_nobody() {
    run(async {
        let (_peer, upstream, mut line) = curious().await;
        for (method, params) in questions() {
            let answer = answer_to(&mut line, method, &params).await;
            assert!(is_refusal(method, &answer), "{method}: {answer:#}");
        }
        assert_eq!(answer_to(&mut line, "ping", &json!({})).await["result"], json!({}));
        upstream.stop().await;
    });
}

#[test]
fn u06_a_client_that_declared_nothing_is_asked_nothing() {
    run(async {
        let (_peer, upstream, mut line) = curious().await;
        let call = attended(&upstream, call_declaring(json!({})));
        let asked = called(&mut line).await;
        for (method, params) in questions() {
            let answer = answer_to(&mut line, method, &params).await;
            assert!(is_refusal(method, &answer), "{method}: {answer:#}");
        }
        line.answer(&asked, text("done")).await;
        let (questions, outcome) = call.await.unwrap();
        assert!(questions.is_empty(), "{questions:?}");
        assert!(outcome.unwrap().as_str().contains("done"));
        upstream.stop().await;
    });
}

#[test]
fn u06_a_client_that_declared_nothing_hears_what_the_server_could_not_do_without() {
    run(async {
        let (_peer, upstream, mut line) = curious().await;
        let [(sample, sampling), ..] = questions();
        let failed = json!({"content": [], "isError": true});
        for revision in [Revision::NEWEST, Revision::NEWEST_LEGACY] {
            for how in [None, Some(&failed)] {
                let mut call = call_declaring(json!({}));
                call.revision = revision;
                let call = attended(&upstream, call);
                let asked = called(&mut line).await;
                let answer = answer_to(&mut line, sample, &sampling).await;
                assert!(is_refusal(sample, &answer), "{answer:#}");
                match how {
                    None => line.say(asked.error(-32603, "nobody to ask")).await,
                    Some(result) => line.answer(&asked, result.clone()).await,
                }
                let (_, outcome) = call.await.unwrap();
                let names_capability = outcome.as_ref().is_err_and(|fault| {
                    let needed = fault.data().map(|data| data.decode::<Value>().unwrap());
                    fault.kind() == FaultKind::ClientCapabilityMissing
                        && needed == Some(json!({"requiredCapabilities": {"sampling": {}}}))
                });
                assert_eq!(names_capability, revision == Revision::NEWEST, "{outcome:?}");
            }
        }
        upstream.stop().await;
    });
}

#[test]
fn u06_a_client_is_asked_what_it_declared_and_nothing_else() {
    run(async {
        let peer = process_peer().await;
        let upstream = legacy("curious", &peer, UpstreamOptions::default());
        let mut own = peer.accept().await;
        welcome(&mut own).await;
        ready(&upstream).await;
        let call = attended(&upstream, call_declaring(json!({"elicitation": {"form": {}}})));
        let mut line = peer.accept().await;
        let (declared, _) = greeted(&mut line).await;
        assert!(declared.get("elicitation").is_some(), "{declared:#}");
        assert!(declared.get("sampling").is_none() && declared.get("roots").is_none(), "{declared:#}");
        let [(sample, sampling), _, (elicit, form)] = questions();
        let answer = answer_to(&mut line, elicit, &form).await;
        assert_eq!(answer["result"]["action"], "accept", "{answer:#}");
        let answer = answer_to(&mut line, sample, &sampling).await;
        assert!(is_refusal(sample, &answer), "{answer:#}");
        // A server that sends the request nevertheless needs the capability; the client's error
        // names it.
        let (questions, outcome) = call.await.unwrap();
        assert_eq!(questions, [elicit]);
        let fault = outcome.unwrap_err();
        assert_eq!(fault.kind(), FaultKind::ClientCapabilityMissing, "{fault}");
        assert!(fault.data().is_some_and(|data| data.as_str().contains("sampling")), "{fault:?}");
        upstream.stop().await;
    });
}

/// Larger than the limit of one message.
const RESULT: u64 = 50 * 1024 * 1024;

#[test]
fn u10_a_result_of_fifty_megabytes_fails_its_call_and_the_server_goes_on() {
    run(async {
        let peer = process_peer().await;
        let upstream = legacy("verbose", &peer, UpstreamOptions::default());
        let mut line = peer.accept().await;
        welcome(&mut line).await;
        ready(&upstream).await;
        let call = begin(&upstream, call_of("work", &json!({})));
        let asked = called(&mut line).await;
        let whole = asked.result(&json!({"content": [{"type": "text", "text": "|"}]}));
        let (head, tail) = whole.split_once('|').unwrap();
        line.write(head).await;
        line.fill_output(b'x', RESULT).await;
        line.say(tail).await;
        let fault = tokio::time::timeout(seconds(60), call).await.expect("it is not waited for").unwrap();
        let fault = fault.unwrap_err();
        assert!(fault.message().contains("verbose"), "{fault}");
        assert_ne!(fault.kind(), FaultKind::Timeout, "{fault}");
        // The same process may continue, or the transport may start a new one.
        let next = begin(&upstream, call_of("work", &json!({})));
        let asked = line.expect("tools/call").await;
        line.answer(&asked, text("short")).await;
        assert!(next.await.unwrap().unwrap().as_str().contains("short"));
        assert_eq!(upstream.status().state, State::Ready);
        upstream.stop().await;
    });
}

#[test]
fn u10_a_result_that_does_not_fit_its_own_schema_passes_as_it_is() {
    run(async {
        let peer = process_peer().await;
        let upstream = legacy("sloppy", &peer, UpstreamOptions::default());
        let mut line = peer.accept().await;
        welcome(&mut line).await;
        ready(&upstream).await;
        let call = begin(&upstream, call_of("work", &json!({})));
        let asked = line.expect("tools/call").await;
        // Validation is up to the client; a gateway that rejected it would hide the server's
        // fault.
        line.answer(&asked, json!({"content": [], "structuredContent": {"sum": "not a number"}})).await;
        let result = call.await.unwrap().unwrap();
        assert_eq!(result.member("structuredContent").unwrap().as_str(), r#"{"sum":"not a number"}"#);
        upstream.stop().await;
    });
}
