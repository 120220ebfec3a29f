//! A `requestState` is accepted for the call that it was given for, and for no other.

use crate::{
    caller::{Caller, MODERN, text},
    door::Door,
    site::Site,
};
use serde_json::{Value, json};

/// A caller that can answer questions.
async fn able(door: &Door, path: &str, token: Option<&str>) -> Caller {
    let mut caller = Caller::at(door, path, token, MODERN).await;
    caller.capabilities = json!({"elicitation": {"form": {}}});
    caller
}

/// Calls a tool that asks, and returns its state.
async fn asked(caller: &mut Caller, tool: &str, arguments: &Value) -> Value {
    let asked = caller.call(tool, arguments.clone()).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked:#}");
    asked["result"]["requestState"].clone()
}

/// Calls a tool with a state and an answer to its question.
async fn answered(caller: &mut Caller, tool: &str, arguments: &Value, state: &Value) -> Value {
    let answers = json!({"who": {"action": "accept", "content": {"name": "Ada"}}});
    let params =
        json!({"name": tool, "arguments": arguments, "requestState": state, "inputResponses": answers});
    caller.request("tools/call", params).await
}

/// Tries a state of `ask` at other tools, and then twice where it belongs.
async fn replayed(caller: &mut Caller, (ask, others): (&str, &[&str])) {
    let (arguments, other) = (json!({"n": 1}), json!({"n": 2}));
    let state = asked(caller, ask, &arguments).await;
    for tool in others {
        let refused = answered(caller, tool, &arguments, &state).await;
        assert!(refused["error"].is_object(), "{tool}: {refused:#}");
    }
    let refused = answered(caller, ask, &other, &state).await;
    assert!(refused["error"].is_object(), "{refused:#}");
    // A client whose response was lost repeats its request, so the second use is the server's
    // decision.
    for _ in 0..2 {
        let given = answered(caller, ask, &arguments, &state).await;
        assert!(text(&given).is_some_and(|text| text.contains("Ada")), "{given:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m09_a_state_is_refused_for_another_tool_other_arguments_and_another_server() {
    let site = Site::of(
        "replay",
        |site| json!({"one": site.echo("one", "modern"), "two": site.echo("two", "modern")}),
    );
    let mut door = site.open();
    let mut caller = able(&door, "/mcp", None).await;
    for server in ["one", "two"] {
        caller.insist(&format!("{server}_echo"), json!({"text": "there"})).await;
    }
    replayed(&mut caller, ("one_ask", &["one_ask_too", "two_ask"])).await;
    let mut single = able(&door, "/mcp/server/one", None).await;
    replayed(&mut single, ("ask", &["ask_too"])).await;
    let state = asked(&mut single, "ask", &json!({})).await;
    let mut other = able(&door, "/mcp/server/two", None).await;
    let refused = answered(&mut other, "ask", &json!({}), &state).await;
    assert!(refused["error"].is_object(), "{refused:#}");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m09_a_bridge_refuses_a_state_of_another_call() {
    let site = Site::new("replay-bridge");
    let server = site.echo("alone", "modern");
    let mut command = site.binary();
    command.args(["--json", "bridge", "--no-cache", "--listen", "127.0.0.1:0", "--"]);
    command.args(server["command"].as_array().unwrap().iter().filter_map(Value::as_str));
    let mut door = Door::start(&mut command);
    let mut caller = able(&door, "/mcp", None).await;
    replayed(&mut caller, ("ask", &["ask_too"])).await;
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn m09_gateways_with_one_key_accept_each_others_states_and_others_do_not() {
    let site = Site::new("replay-shared");
    site.write("state.key", &"k".repeat(40));
    let configure = |key: Value| {
        let servers = json!({"one": site.echo("one", "modern")});
        site.configure(&json!({"mcp": {"servers": servers}, "auth": {"stateKey": key}}));
        site.open()
    };
    let mut doors = [json!("state.key"), json!("state.key"), Value::Null].map(configure);
    let mut callers = Vec::new();
    for door in &doors {
        let mut caller = able(door, "/mcp", None).await;
        caller.insist("one_echo", json!({"text": "there"})).await;
        callers.push(caller);
    }
    let state = asked(&mut callers[0], "one_ask", &json!({})).await;
    let shared = answered(&mut callers[1], "one_ask", &json!({}), &state).await;
    assert!(text(&shared).is_some_and(|text| text.contains("Ada")), "{shared:#}");
    let foreign = answered(&mut callers[2], "one_ask", &json!({}), &state).await;
    assert!(foreign["error"].is_object(), "{foreign:#}");
    for door in &mut doors {
        door.stop().await;
    }
    site.emptied().await;
}
