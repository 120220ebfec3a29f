//! Tool calls through a toolbox: arguments, results and refusals.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use trunkline_protocol::{Caller, Era, Fault, Raw, message::ContentBlock, message::TextContent};
use trunkline_toolbox::{
    BadSchema, BuildError, Context, HookCall, HookOutcome, Json, JsonSchema, Metadata, Tool, ToolError,
    Toolbox, Trial,
};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
    note: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

async fn add(args: Add) -> Result<Json<Sum>, ToolError> {
    let sum = args.a.checked_add(args.b).ok_or_else(|| ToolError::new("too large").hint("Use less"))?;
    assert_ne!(args.note.as_deref(), Some(""));
    Ok(Json(Sum { sum }))
}

async fn hello(cx: Context) -> String {
    format!("hello, {}", cx.caller().id)
}

fn with(tool: Tool) -> Trial {
    Toolbox::new("test", "1.0").tool(tool).build().expect("a toolbox").test()
}

fn code(fault: &Fault) -> i64 {
    fault.to_error(Era::Modern).code
}

fn text(result: &trunkline_protocol::message::CallToolResult) -> String {
    let texts = result.blocks().iter().filter_map(|block| match block {
        ContentBlock::Text(TextContent { text, .. }) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn raw(value: Value) -> Raw {
    value.into()
}

#[tokio::test]
async fn every_kind_of_function_is_a_tool() {
    let sum = with(Tool::new("add", add)).call("add", json!({"a": 1, "b": 2})).await;
    assert_eq!(sum.structured_content.as_ref().unwrap().as_str(), r#"{"sum":3}"#);
    assert_eq!(text(&sum), r#"{"sum":3}"#);
    assert_eq!(text(&with(Tool::new("hello", hello)).call("hello", json!({})).await), "hello, local");
    let silent = with(Tool::new("nothing", || async {})).call("nothing", json!({})).await;
    assert!(!silent.failed() && silent.blocks().is_empty());
    let state = Arc::new(40);
    let captured = Tool::new("plus", move |_: Context, add: Add| {
        let state = Arc::clone(&state);
        async move { (*state + add.a + add.b).to_string() }
    });
    assert_eq!(text(&with(captured).call("plus", json!({"a": 1, "b": 1})).await), "42");
}

#[tokio::test]
async fn a_failure_says_what_happened_and_what_to_do() {
    let failed = with(Tool::new("add", add)).call("add", json!({"a": i64::MAX, "b": 1})).await;
    assert!(failed.failed());
    assert_eq!(text(&failed), "too large\nUse less");
    assert_eq!(failed.structured_content, None);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_by_field_reason_and_what_was_given() {
    let tool = with(Tool::new("add", add));
    for (arguments, field, reason, given) in [
        (json!({"a": "one", "b": 2}), "/a", r#"the value is not of type "integer""#, r#""one""#),
        (json!({"a": 1}), "/b", "is required", "nothing"),
        (json!({"a": 1, "b": 2, "c": 3}), "/c", "is not a known field", "3"),
        (json!({"a": 1, "b": null}), "/b", r#"the value is not of type "integer""#, "null"),
    ] {
        let refused = tool.call("add", arguments).await;
        assert!(refused.failed());
        let line = format!("- {field}: {reason} (given: {given})");
        assert!(text(&refused).contains(&line), "{}", text(&refused));
        let invalid = refused.meta.unwrap().member("trunkline/error").unwrap().member("invalid").unwrap();
        let invalid: Vec<Value> = invalid.decode().unwrap();
        assert_eq!(invalid, [json!({"field": field, "reason": reason, "given": given})]);
    }
}

#[tokio::test]
async fn a_null_where_something_may_be_left_out_means_left_out() {
    let sum = with(Tool::new("add", add)).call("add", json!({"a": 1, "b": 2, "note": null})).await;
    assert!(!sum.failed());
}

#[tokio::test]
async fn a_huge_wrong_value_is_not_repeated_whole() {
    let refused = with(Tool::new("add", add)).call("add", json!({"a": "x".repeat(1_000_000), "b": 1})).await;
    assert!(refused.failed() && text(&refused).len() < 1000);
}

#[tokio::test]
async fn an_unknown_tool_and_a_forbidden_one_look_the_same() {
    let tool = with(Tool::new("secret", hello).require_scope("admin").require_role("root"));
    let mut faults = Vec::new();
    for name in ["secret", "absent"] {
        let fault = tool.run_tool(name, json!({})).await.outcome.unwrap_err();
        assert_eq!(code(&fault), -32602);
        faults.push(fault.message().replace(name, "X"));
    }
    assert_eq!(faults[0], faults[1]);
    let listed = tool.run("tools/list", json!({})).await.outcome.unwrap();
    assert_eq!(listed.as_str(), r#"{"tools":[],"cacheScope":"private"}"#);
    let admin =
        Caller { roles: vec!["root".to_owned()], scopes: vec!["admin".to_owned()], ..Caller::named("a") };
    let allowed = tool.clone().caller(admin.clone());
    assert_eq!(text(&allowed.call("secret", json!({})).await), "hello, a");
    let half = tool.caller(Caller { roles: Vec::new(), ..admin });
    assert_eq!(code(&half.run_tool("secret", json!({})).await.outcome.unwrap_err()), -32602);
}

#[tokio::test]
async fn the_listing_says_all_that_was_said() {
    let metadata = Metadata {
        version: Some("2".to_owned()),
        tags: vec!["math".to_owned()],
        deprecates: vec!["plus".to_owned()],
        ..Metadata::default()
    };
    let tool = Tool::new("add", add)
        .title("Add")
        .description("Adds two numbers")
        .read_only()
        .idempotent()
        .closed_world()
        .metadata(metadata)
        .meta("ui", raw(json!({"x": 1})))
        .alias("plus");
    let tool = with(tool);
    let listed: Value = tool.run("tools/list", json!({})).await.outcome.unwrap().decode().unwrap();
    assert_eq!(
        listed["tools"],
        json!([{
            "name": "add",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "note": {"type": "string"}},
                "required": ["a", "b"],
                "additionalProperties": false
            },
            "title": "Add",
            "description": "Adds two numbers",
            "outputSchema": {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]},
            "annotations": {
                "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false
            },
            "_meta": {"ui": {"x": 1}, "trunkline/metadata": {"version": "2", "tags": ["math"], "deprecates": ["plus"]}}
        }])
    );
    assert!(!tool.call("plus", json!({"a": 1, "b": 2})).await.failed(), "an alias calls it too");
}

#[tokio::test]
async fn structured_content_that_is_no_object_stands_below_result() {
    let tool = with(Tool::new("list", || async { Json(vec![1, 2]) }));
    let result = tool.call("list", json!({})).await;
    assert_eq!(result.structured_content.unwrap().as_str(), r#"{"result":[1,2]}"#);
    let listed: Value = tool.run("tools/list", json!({})).await.outcome.unwrap().decode().unwrap();
    let schema = &listed["tools"][0]["outputSchema"];
    assert_eq!(schema["properties"]["result"]["type"], "array");
    assert_eq!(schema.get("x-trunkline-wrapped"), None);
}

#[tokio::test]
async fn a_schema_by_hand_is_listed_and_kept_to() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"name": {"$anchor": "name", "type": "string", "pattern": "^[a-z]+$"}},
        "properties": {"who": {"$ref": "#name"}, "region": {"type": "string", "x-mcp-header": "Region"}},
        "if": {"required": ["who"]}, "then": {"required": ["region"]},
        "additionalProperties": false
    });
    let tool =
        with(Tool::dynamic(
            "odd",
            raw(schema.clone()),
            |_, arguments: Raw| async move { arguments.to_string() },
        ));
    let listed: Value = tool.run("tools/list", json!({})).await.outcome.unwrap().decode().unwrap();
    assert_eq!(listed["tools"][0]["inputSchema"], schema);
    assert!(tool.call("odd", json!({"who": "A", "region": "x"})).await.failed());
    assert!(tool.call("odd", json!({"who": "a"})).await.failed());
    let given = r#"{"name":"odd","arguments":{"who":"a","region":"123456789012345678901234567890"}}"#;
    let arguments = tool.run("tools/call", serde_json::from_str(given).unwrap()).await.result().unwrap();
    assert_eq!(text(&arguments), r#"{"who":"a","region":"123456789012345678901234567890"}"#);
}

#[tokio::test]
async fn hooks_see_the_call_and_its_end_and_may_refuse_it() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |what: &'static str| {
        let seen = Arc::clone(&seen);
        move |end: HookOutcome| {
            seen.lock().unwrap().push(format!("{what} {} {}", end.call.tool, end.outcome.is_ok()));
        }
    };
    let tool = Tool::new("add", add)
        .before(|call: HookCall| async move {
            let forbidden = call.arguments.member("a").is_some_and(|a| a.as_str() == "13");
            if forbidden { Err(ToolError::new("unlucky")) } else { Ok(()) }
        })
        .before(|_: HookCall| Ok(()))
        .after(note("after"))
        .on_error(note("error"));
    let tool = with(tool);
    assert!(!tool.call("add", json!({"a": 1, "b": 2})).await.failed());
    assert_eq!(text(&tool.call("add", json!({"a": 13, "b": 2})).await), "unlucky");
    assert_eq!(*seen.lock().unwrap(), ["after add true", "error add true", "after add true"]);
}

#[test]
fn what_cannot_be_offered_is_refused_when_it_is_built() {
    let build = |tool: Tool| Toolbox::new("t", "1").tool(tool).build().unwrap_err();
    for name in ["", "a b", "ä", "a/b", &"x".repeat(129)] {
        assert!(matches!(build(Tool::new(name, hello)), BuildError::BadName(_)), "{name}");
    }
    assert_eq!(build(Tool::new("a", hello).alias("a")), BuildError::NameTaken("a".to_owned()));
    let no_object = Tool::new("a", |_: String| async {});
    assert!(matches!(build(no_object), BuildError::BadSchema { source: BadSchema::NotOfObjects, .. }));
    assert!(Toolbox::new("t", "1").tool(Tool::new("x".repeat(128), hello)).build().is_ok());
}

#[tokio::test]
async fn j09_a_million_values_are_refused_before_they_are_decoded() {
    let open = raw(json!({"type": "object"}));
    let tool = with(Tool::dynamic("any", open, |_, _: Raw| async {}));
    let many = Value::Array(vec![json!(0); 1_000_000]);
    let fault = tool.run_tool("any", json!({"list": many})).await.outcome.unwrap_err();
    assert_eq!(code(&fault), -32602);
    let in_text = ",[{".repeat(1_000_000);
    assert!(!tool.call("any", json!({"text": in_text})).await.failed(), "what stands in a text is no value");
}

#[test]
fn j10_a_hostile_schema_costs_neither_time_nor_a_connection() {
    let build = |schema: Value| {
        let tool = Tool::dynamic("x", raw(schema), |_, _: Raw| async {});
        Toolbox::new("t", "1").tool(tool).build()
    };
    let bad = |schema: Value| match build(schema) {
        Err(BuildError::BadSchema { source, .. }) => source,
        other => panic!("not refused: {other:?}"),
    };
    for target in ["http://127.0.0.1:9/schema.json", "https://example.com/s", "file:///etc/passwd"] {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": target}}});
        assert!(matches!(bad(schema), BadSchema::Invalid(_)), "{target}");
    }
    let choices: Vec<Value> = (0..10_000).map(|i| json!({"const": i})).collect();
    let schema = json!({"type": "object", "properties": {"a": {"anyOf": choices}}});
    assert!(matches!(bad(schema), BadSchema::TooComplex(_)));
    let schema = json!({"type": "object", "description": "x".repeat(300_000)});
    assert!(matches!(bad(schema), BadSchema::TooLong(_)));
    let schema = json!({"type": "object", "properties": {"a": {"pattern": "(a{1000}){1000}"}}});
    assert!(matches!(bad(schema), BadSchema::TooExpensive(_)));
    let schema = json!({"type": "object", "properties": {"a": {"pattern": "^(?=x)"}}});
    assert!(matches!(bad(schema), BadSchema::Invalid(_)), "look-ahead would need backtracking");
}

#[tokio::test]
async fn j10_cycles_and_evil_patterns_are_checked_in_linear_time() {
    let schema = json!({
        "type": "object",
        "properties": {"next": {"$ref": "#"}, "text": {"type": "string", "pattern": "^(a+)+$"}},
        "additionalProperties": false
    });
    let tool = with(Tool::dynamic("x", raw(schema), |_, _: Raw| async {}));
    let mut nested = json!({"text": "a"});
    for _ in 0..60 {
        nested = json!({"next": nested});
    }
    assert!(!tool.call("x", nested).await.failed());
    let bait = format!("{}!", "a".repeat(200_000));
    assert!(tool.call("x", json!({"text": bait})).await.failed());
}

#[tokio::test]
async fn a_long_text_is_cut_and_the_rest_can_be_read_by_its_caller_only() {
    let tool = Tool::new("long", || async { "äb".repeat(1000) }).result_budget(1000);
    let trial = with(tool);
    let result = trial.call("long", json!({})).await;
    let shown = text(&result);
    assert!(shown.len() < 1300 && shown.contains("[truncated: 999 of 3000 bytes shown"), "{shown}");
    let cut = result.meta.unwrap().member("trunkline/truncated").unwrap();
    assert_eq!(cut.member_as("total"), Some(3000));
    let mut uri: Option<String> = cut.member_as("uri");
    let first = uri.clone().unwrap();
    let mut whole = "äb".repeat(1000)[..999].to_owned();
    while let Some(next) = uri {
        let read: Value =
            trial.run("resources/read", json!({"uri": next})).await.outcome.unwrap().decode().unwrap();
        whole.push_str(read["contents"][0]["text"].as_str().unwrap());
        uri = read["contents"][0]["_meta"]["trunkline/more"]["next"].as_str().map(str::to_owned);
    }
    assert_eq!(whole, "äb".repeat(1000));
    let other = Caller::named("other");
    let foreign = trial.caller(other).run("resources/read", json!({"uri": first})).await;
    assert_eq!(code(&foreign.outcome.unwrap_err()), -32602);
}

#[tokio::test(start_paused = true)]
async fn a_kept_text_is_forgotten_in_time() {
    let trial = with(Tool::new("long", || async { "x".repeat(2000) }).result_budget(1000));
    let result = trial.call("long", json!({})).await;
    let uri: String = result.meta.unwrap().member("trunkline/truncated").unwrap().member_as("uri").unwrap();
    tokio::time::advance(std::time::Duration::from_mins(16)).await;
    assert!(trial.run("resources/read", json!({"uri": uri})).await.outcome.is_err());
}

#[tokio::test]
async fn structured_content_is_whole_or_not_there() {
    let tool = |n: usize| Tool::new("list", move || async move { Json(vec![0; n]) }).result_budget(1000);
    let near = with(tool(1000)).call("list", json!({})).await;
    let list: Value = near.structured_content.unwrap().decode().unwrap();
    assert_eq!(list["result"].as_array().unwrap().len(), 1000);
    let far = with(tool(100_000)).call("list", json!({})).await;
    assert!(far.failed() && far.structured_content.is_none());
    assert!(text(&far).contains("ask for less"));
}

#[tokio::test]
async fn a_method_that_is_not_there_is_told_so() {
    let trial = with(Tool::new("hello", hello));
    for method in ["tasks/result", "tasks/list", "initialize", "ping", "logging/setLevel", "nonsense"] {
        let fault = trial.run(method, json!({})).await.outcome.unwrap_err();
        assert_eq!(code(&fault), -32601, "{method}");
    }
}

#[tokio::test]
async fn tools_can_share_a_state() {
    async fn push(state: Arc<Mutex<Vec<i64>>>, _cx: Context, add: Add) -> String {
        let mut all = state.lock().unwrap();
        all.push(add.a);
        all.len().to_string()
    }
    let state = Arc::new(Mutex::new(Vec::new()));
    let one = Tool::with_state("one", Arc::clone(&state), push);
    let two = Tool::with_state("two", state, push);
    let trial = Toolbox::new("t", "1").tool(one).tool(two).build().unwrap().test();
    trial.call("one", json!({"a": 1, "b": 1})).await;
    assert_eq!(text(&trial.call("two", json!({"a": 1, "b": 1})).await), "2");
}

#[tokio::test]
#[should_panic(expected = "breaks its output schema: /sum: is required")]
async fn a_trial_does_not_let_a_broken_output_pass() {
    let schema = json!({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]});
    let tool = Tool::new("odd", || async { Json(json!({"total": 1})) }).output_schema(raw(schema));
    with(tool).call("odd", json!({})).await;
}
