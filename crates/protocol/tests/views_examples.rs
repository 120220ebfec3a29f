//! Example messages of every revision, read through the public views.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::time::Duration;
use trunkline_protocol::{Raw, message::*};

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned()).unwrap()
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    raw(text).decode().map_err(|e: serde_json::Error| e.to_string())
}

#[test]
fn an_initialize_result_says_what_the_server_can_do() {
    let text = r#"{"protocolVersion":"2025-06-18","capabilities":{"resources":{"subscribe":true},"tasks":{"requests":{"tools":{"call":{}}}},
        "extensions":{"io.modelcontextprotocol/tasks":{}}},"serverInfo":{"name":"s","version":"1"}}"#;
    let result: InitializeResult = read(text).unwrap();
    assert_eq!(result.capabilities.resources.as_ref().unwrap().subscribe, Some(true));
    assert!(result.capabilities.tasks.as_ref().unwrap().covers("tools/call"));
    assert!(!result.capabilities.tasks.as_ref().unwrap().covers("sampling/createMessage"));
    assert!(result.capabilities.extension("io.modelcontextprotocol/tasks").is_some());
    assert!(result.capabilities.tools.is_none());
}

#[test]
fn an_empty_elicitation_capability_means_forms() {
    let modes = |text| read::<ElicitationCapability>(text).map(|c| (c.has_form(), c.has_url())).unwrap();
    assert_eq!(modes("{}"), (true, false));
    assert_eq!(modes(r#"{"url":{}}"#), (false, true));
    assert_eq!(modes(r#"{"form":{},"url":{}}"#), (true, true));
}

#[test]
fn a_discover_result_without_cache_hints_is_read() {
    let text = r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#;
    assert!(read::<DiscoverResult>(text).unwrap().ttl_ms.is_none());
}

#[test]
fn errors_name_the_member() {
    let error =
        read::<Tool>(r#"{"name":"t","inputSchema":{},"annotations":{"readOnlyHint":"yes"}}"#).unwrap_err();
    assert!(error.starts_with("`annotations`: `readOnlyHint`: invalid type: string \"yes\""), "{error}");
    assert_eq!(error.matches("at line").count(), 1, "{error}");
    let error = read::<Tool>(r#"{"name":"t"}"#).unwrap_err();
    assert!(error.starts_with("missing field `inputSchema`"), "{error}");
    let error = serde_json::from_str::<Tool>(r#"{"name":"t","name":"u","inputSchema":{}}"#).unwrap_err();
    assert!(error.to_string().starts_with("duplicate field `name`"), "{error}");
    assert!(read::<Tool>("[]").unwrap_err().contains("an object (Tool)"));
}

#[test]
fn one_bad_tool_does_not_lose_the_others() {
    let text = r#"{"tools":[{"name":"a","inputSchema":{}},{"name":"b"},null,{"name":"c","inputSchema":{}}]}"#;
    let (tools, bad) = read::<ListToolsResult>(text).unwrap().items();
    assert_eq!(tools.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    let bad: Vec<_> = bad.iter().map(|b| (b.index, b.name.as_deref())).collect();
    assert_eq!(bad, [(1, Some("b")), (2, None)]);
}

#[test]
fn null_is_absent_unless_it_means_something() {
    let tool: Tool = read(r#"{"name":"t","inputSchema":{},"title":null,"annotations":null}"#).unwrap();
    assert!(tool.title.is_none() && tool.annotations.is_none());
    assert_eq!(Raw::encode(&tool).unwrap().as_str(), r#"{"name":"t","inputSchema":{}}"#);
    let result: CallToolResult = read(r#"{"content":[],"structuredContent":null}"#).unwrap();
    assert!(result.structured_content.is_some_and(|content| content.is_null()));
    let task: Task = read(r#"{"taskId":"t","status":"working","ttl":null}"#).unwrap();
    assert_eq!(task.ttl, Some(Ttl::Unlimited));
}

#[test]
fn odd_content_is_kept_beside_good_content() {
    let text = r#"{"content":[{"type":"hologram","n":1e400},{"type":"resource_link","uri":"a:b"},7,
        {"type":"text","text":"t","annotations":{"audience":["system"]}},{"type":"resource","resource":{"uri":"a:b"}}]}"#;
    let result: CallToolResult = read(text).unwrap();
    let unknown = |block: &ContentBlock| matches!(block, ContentBlock::Unknown(_));
    assert_eq!(result.blocks().iter().map(unknown).collect::<Vec<_>>(), [true, true, true, false, false]);
    let ContentBlock::Text(text_block) = &result.blocks()[3] else { panic!() };
    let audience = text_block.annotations.as_ref().unwrap().audience.as_ref().unwrap();
    assert_eq!(audience, &[Role::Unknown("system".to_owned())]);
    let ContentBlock::Resource(embedded) = &result.blocks()[4] else { panic!() };
    assert!(matches!(embedded.resource, ResourceContents::Unknown(_)));
    let written = Raw::encode(&result).unwrap();
    assert!(written.as_str().contains("1e400"), "{written}");
}

#[test]
fn a_result_says_what_kind_it_is() {
    let kind = |text| ResultType::of(&raw(text));
    assert_eq!(kind("{}"), ResultType::Complete);
    assert_eq!(kind(r#"{"resultType":"complete"}"#), ResultType::Complete);
    assert_eq!(kind(r#"{"resultType":"input_required"}"#), ResultType::InputRequired);
    assert_eq!(kind(r#"{"resultType":"task"}"#), ResultType::Task);
    assert_eq!(kind(r#"{"resultType":"later"}"#), ResultType::Unknown("later".to_owned()));
    assert_eq!(kind(r#"{"resultType":null}"#), ResultType::Unknown("null".to_owned()));
}

#[test]
fn input_requests_keep_the_servers_order() {
    let text = r#"{"resultType":"input_required","inputRequests":{"b":{"method":"elicitation/create","params":{"message":"m"}},"a":{"method":"roots/list"}},"requestState":"s"}"#;
    let needed: InputRequired = read(text).unwrap();
    let requests = needed.input_requests.unwrap();
    assert_eq!(
        requests.iter().map(|(k, r)| (k, r.method.as_str())).collect::<Vec<_>>(),
        [("b", "elicitation/create"), ("a", "roots/list")]
    );
    assert!(requests.get("a").unwrap().params.is_none());
    let stateless: InputRequired = read(r#"{"resultType":"input_required","requestState":""}"#).unwrap();
    assert_eq!(stateless.request_state.as_deref(), Some(""));
    assert!(read::<InputRequired>(r#"{"resultType":"complete"}"#).is_err());
    assert!(read::<InputRequired>("{}").is_err());
}

#[test]
fn a_task_is_read_from_either_form() {
    let nested = r#"{"task":{"taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"l","ttl":60000,"pollInterval":500}}"#;
    let flat = r#"{"resultType":"task","taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"l","ttlMs":60000,"pollIntervalMs":500}"#;
    let got = r#"{"taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"l","ttl":60000,"pollInterval":500}"#;
    let want = TaskState::read(&raw(nested)).unwrap();
    assert_eq!(
        (want.ttl, want.poll_interval),
        (Some(Duration::from_mins(1)), Some(Duration::from_millis(500)))
    );
    assert_eq!(TaskState::read(&raw(flat)).unwrap(), want);
    assert_eq!(TaskState::read(&raw(got)).unwrap(), want);
    assert!(TaskState::read(&raw(r#"{"content":[]}"#)).is_err());
}

#[test]
fn a_finished_extension_task_carries_its_outcome() {
    let done =
        r#"{"resultType":"complete","taskId":"t","status":"completed","ttlMs":null,"result":{"content":[]}}"#;
    let state = TaskState::read(&raw(done)).unwrap();
    assert!(state.status.is_final() && state.ttl.is_none());
    assert_eq!(state.outcome.unwrap().unwrap().as_str(), r#"{"content":[]}"#);
    let failed = r#"{"taskId":"t","status":"failed","ttlMs":1,"error":{"code":-32603,"message":"no","data":1.0,"more":2}}"#;
    let error = TaskState::read(&raw(failed)).unwrap().outcome.unwrap().unwrap_err();
    assert_eq!(error.to_raw().as_str(), r#"{"code":-32603,"message":"no","data":1.0,"more":2}"#);
    let asking = r#"{"taskId":"t","status":"input_required","inputRequests":{"k":{"method":"roots/list"}}}"#;
    assert_eq!(TaskState::read(&raw(asking)).unwrap().input_requests.0.len(), 1);
    let odd = TaskState::read(&raw(r#"{"taskId":"t","status":"paused"}"#)).unwrap();
    assert!(!odd.status.is_final());
}

#[test]
fn elicitation_is_told_by_its_mode() {
    let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    assert!(matches!(Elicitation::read(&raw(form)), Ok(Elicitation::Form(_))));
    let url = r#"{"mode":"url","message":"m","url":"https://example.com"}"#;
    assert!(matches!(Elicitation::read(&raw(url)), Ok(Elicitation::Url(p)) if p.elicitation_id.is_none()));
    let later = Elicitation::read(&raw(r#"{"mode":"voice"}"#)).unwrap();
    assert_eq!(later, Elicitation::UnknownMode("voice".to_owned()));
    assert!(Elicitation::read(&raw(r#"{"mode":"url","message":"m"}"#)).is_err());
    assert_eq!(ElicitResult::decline().to_raw().as_str(), r#"{"action":"decline"}"#);
}

#[test]
fn form_fields_are_read_in_their_order_with_their_bounds() {
    let schema = r#"{"type":"object","required":["mail","age"],"properties":{
        "mail":{"type":"string","title":"Mail","description":"d","format":"email","minLength":3,"maxLength":50,"default":"a@b"},
        "age":{"type":"integer","minimum":0,"maximum":123456789012345678901234567890},
        "ratio":{"type":"number","maximum":0.50},"ok":{"type":"boolean","default":false},
        "nested":{"type":"object"},"list":{"type":"array","items":{"type":"number"}},"none":{}}}"#;
    let fields = read_form(&raw(schema)).unwrap();
    let names: Vec<_> = fields.iter().map(|f| (f.name.as_str(), f.required)).collect();
    assert_eq!(names[..3], [("mail", true), ("age", true), ("ratio", false)]);
    let text = FieldKind::Text { format: Some(TextFormat::Email), min_length: Some(3), max_length: Some(50) };
    assert_eq!(fields[0].kind, text);
    assert_eq!(
        (fields[0].title.as_deref(), fields[0].default.as_ref().unwrap().as_str()),
        (Some("Mail"), "\"a@b\"")
    );
    let FieldKind::Integer { maximum: Some(maximum), .. } = &fields[1].kind else { panic!() };
    assert_eq!(maximum.as_str(), "123456789012345678901234567890");
    assert!(
        matches!(&fields[2].kind, FieldKind::Number { minimum: None, maximum: Some(n) } if n.as_str() == "0.50")
    );
    assert_eq!(
        (&fields[3].kind, fields[3].default.as_ref().unwrap().as_str()),
        (&FieldKind::Boolean, "false")
    );
    assert!(fields[4..].iter().all(|f| matches!(f.kind, FieldKind::Unsupported { .. })));
}

#[test]
fn choices_are_read_in_every_spelling() {
    let schema = r#"{"properties":{
        "plain":{"type":"string","enum":["a","b"]},
        "legacy":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},
        "short":{"type":"string","enum":["a","b"],"enumNames":["A"]},
        "titled":{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]},
        "many":{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1,"maxItems":2},
        "titled_many":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}},
        "bad":{"type":"string","enum":[1,2]}}}"#;
    let fields = read_form(&raw(schema)).unwrap();
    let choice = |value: &str, title: Option<&str>| Choice {
        value: value.to_owned(),
        title: title.map(str::to_owned),
    };
    let plain = vec![choice("a", None), choice("b", None)];
    let titled = vec![choice("a", Some("A")), choice("b", Some("B"))];
    let kinds: Vec<_> = fields.into_iter().map(|f| f.kind).collect();
    assert_eq!(kinds[0], FieldKind::One { choices: plain.clone() });
    assert_eq!(kinds[1], FieldKind::One { choices: titled.clone() });
    assert_eq!(kinds[2], FieldKind::One { choices: plain.clone() });
    assert_eq!(kinds[3], FieldKind::One { choices: titled.clone() });
    assert_eq!(kinds[4], FieldKind::Many { choices: plain, min_items: Some(1), max_items: Some(2) });
    assert_eq!(kinds[5], FieldKind::Many { choices: titled, min_items: None, max_items: None });
    assert!(matches!(kinds[6], FieldKind::Unsupported { .. }));
    assert_eq!(read_form(&raw("[]")), Err(BadForm::NotAnObject));
    assert_eq!(read_form(&raw(r#"{"type":"object"}"#)), Err(BadForm::NoProperties));
    assert_eq!(read_form(&raw(r#"{"properties":{},"required":"a"}"#)), Err(BadForm::BadRequired));
}

#[test]
fn references_and_sampled_content_keep_their_shape() {
    let params: CompleteParams =
        read(r#"{"ref":{"type":"ref/later","x":1},"argument":{"name":"a","value":""}}"#).unwrap();
    assert!(matches!(params.reference, Reference::Unknown(_)));
    let one: SamplingMessage = read(r#"{"role":"user","content":{"type":"text","text":"t"}}"#).unwrap();
    let many: SamplingMessage = read(r#"{"role":"user","content":[{"type":"text","text":"t"}]}"#).unwrap();
    assert_eq!(one.content.blocks(), many.content.blocks());
    assert_ne!(one, many);
}

#[test]
fn requests_are_built_from_their_required_members() {
    let call = CallToolParams { arguments: Some(raw(r#"{"a":1}"#)), ..CallToolParams::new("t") };
    assert_eq!(call.to_raw().as_str(), r#"{"name":"t","arguments":{"a":1}}"#);
    let filter = SubscriptionFilter { tools_list_changed: Some(true), ..SubscriptionFilter::default() };
    let listen = ListenParams::new(filter).to_raw();
    assert_eq!(listen.as_str(), r#"{"notifications":{"toolsListChanged":true}}"#);
    assert_eq!(Raw::encode(&ContentBlock::text("t")).unwrap().as_str(), r#"{"type":"text","text":"t"}"#);
    let progress = ProgressParams::new(7, 1_u64);
    assert_eq!(progress.to_raw().as_str(), r#"{"progressToken":7,"progress":1}"#);
}
