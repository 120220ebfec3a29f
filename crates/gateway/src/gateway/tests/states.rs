//! S05: a request state that a modern server gave one caller is refused from another.

use super::{
    Client, client,
    fake::{Fake, Lists},
    gateway,
};
use crate::catalog::Rules;
use serde_json::json;
use std::sync::Arc;
use trunkline_protocol::{FaultKind, Reply, method::*};

/// A server that asks for input first, and then accepts any state.
fn asking(name: &str) -> Arc<Fake> {
    let lists = Lists {
        prompts: vec![json!({"name": "x"}).into()],
        resources: vec![json!({"uri": "note://x", "name": "x"}).into()],
        ..Lists::tools(&["x", "y"])
    };
    Fake::new(name, lists).answers(|call| {
        let brought = call.params.as_ref().and_then(|params| params.member("requestState"));
        Reply::ready(Ok(match brought {
            Some(state) => json!({"resultType": "complete", "brought": state}).into(),
            None => json!({"resultType": "input_required", "requestState": "own.state", "x": 1}).into(),
        }))
    })
}

#[tokio::test]
async fn s05_a_state_is_its_callers_alone() {
    let a = asking("a");
    let gateway = gateway(&[&a], Rules::default());
    for (method, params) in [
        (TOOLS_CALL, json!({"name": "a_x"})),
        (PROMPTS_GET, json!({"name": "a_x"})),
        (RESOURCES_READ, json!({"uri": "note://x"})),
    ] {
        let ada = Client::named("ada", &[]);
        let first = ada.ask(&gateway, method, params.clone()).await.unwrap();
        let state: String = first.member_as("requestState").unwrap();
        assert!(state != "own.state" && first.member("x").is_some(), "{}", first.as_str());
        let mut again = params.clone();
        let before = a.calls().len();
        for (who, state) in [
            (Client::named("eve", &[]), state.clone()),
            (Client::named("ada", &[]), state.replace("own", "eve")),
            (Client::named("ada", &[]), "own.state".to_owned()),
        ] {
            again["requestState"] = state.into();
            let fault = who.ask(&gateway, method, again.clone()).await.unwrap_err();
            assert_eq!(fault.kind(), FaultKind::InvalidRequest);
        }
        assert_eq!(a.calls().len(), before, "it was not sent to the server");
        again["requestState"] = state.into();
        let last = ada.ask(&gateway, method, again).await.unwrap();
        assert_eq!(last.member_as::<String>("brought").unwrap(), "own.state");
    }
}

#[tokio::test]
async fn m09_a_state_is_refused_for_another_tool_other_arguments_and_another_server() {
    let (a, b) = (asking("a"), asking("b"));
    let gateway = gateway(&[&a, &b], Rules::default());
    let first = json!({"name": "a_x", "arguments": {"n": 1}});
    let asked = client().ask(&gateway, TOOLS_CALL, first).await.unwrap();
    let state: String = asked.member_as("requestState").unwrap();
    for (name, n) in [("a_y", 1), ("b_x", 1), ("a_x", 2)] {
        let again = json!({"name": name, "arguments": {"n": n}, "requestState": state});
        let fault = client().ask(&gateway, TOOLS_CALL, again).await.unwrap_err();
        assert_eq!(fault.kind(), FaultKind::InvalidRequest, "{name} {n}");
    }
    let prompt = json!({"name": "a_x", "arguments": {"n": 1}, "requestState": state});
    assert!(client().ask(&gateway, PROMPTS_GET, prompt).await.is_err());
    assert_eq!((a.calls().len(), b.calls().len()), (1, 0));
    // A client whose response was lost repeats its request.
    for _ in 0..2 {
        let again = json!({"name": "a_x", "arguments": {"n": 1}, "requestState": state});
        assert!(client().ask(&gateway, TOOLS_CALL, again).await.is_ok());
    }
}
