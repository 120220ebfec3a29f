//! Policy rules: A05, A06, H13, X02.

use super::{
    Client, Gateway, client,
    fake::{Fake, Lists},
    gateway, raw,
};
use crate::{
    catalog::{ItemRules, KindRules, Rules, ServerRules},
    policy::{ArgumentSpec, Effect, PolicyRules, RuleSet, RuleSpec},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use trunkline_protocol::{FaultKind, Handler, Object, Raw, method::*};

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn tools(effect: Effect, tools: &[&str]) -> RuleSpec {
    RuleSpec { effect, tools: texts(tools), ..RuleSpec::default() }
}

fn set(default: Effect, rules: Vec<RuleSpec>) -> PolicyRules {
    PolicyRules { rules: RuleSet { default, rules }, ..PolicyRules::default() }
}

fn server() -> Arc<Fake> {
    let mut lists = Lists::tools(&["read_file", "write_file"]);
    lists
        .tools
        .push(raw(r#"{"name":"liar","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#));
    lists.prompts = vec![raw(r#"{"name":"letter"}"#)];
    lists.resources = Lists::resources(&["x:a", "x:b"]).resources;
    Fake::new("fs", lists)
}

fn guarded(policy: PolicyRules) -> (Gateway, Arc<Fake>) {
    let fs = server();
    (gateway(&[&fs], Rules { policy, ..Rules::default() }), fs)
}

async fn kind(client: &Client, gateway: &Gateway, method: &'static str, params: Value) -> Option<FaultKind> {
    client.ask(gateway, method, params).await.err().map(|fault| fault.kind())
}

#[tokio::test]
async fn a06_the_first_rule_that_matches_decides_for_every_kind_of_item() {
    let rules = vec![
        tools(Effect::Deny, &["fs_write*", "fs_x:b"]),
        tools(Effect::Allow, &["fs_*file", "fs_x:*"]),
        tools(Effect::Deny, &["*"]),
    ];
    let (gateway, fs) = guarded(set(Effect::Allow, rules));
    let client = client();
    assert_eq!(client.names(&gateway, TOOLS_LIST).await, ["fs_read_file"]);
    assert_eq!(client.names(&gateway, RESOURCES_LIST).await, ["x:a"]);
    assert!(client.names(&gateway, PROMPTS_LIST).await.is_empty());
    let call = |name: &str| json!({ "name": name });
    assert_eq!(kind(&client, &gateway, TOOLS_CALL, call("fs_read_file")).await, None);
    for denied in ["fs_write_file", "fs_liar"] {
        let fault = client.ask(&gateway, TOOLS_CALL, call(denied)).await.unwrap_err();
        let unknown = client.ask(&gateway, TOOLS_CALL, call("fs_nix")).await.unwrap_err();
        assert_eq!(fault.message().replace(denied, ""), unknown.message().replace("fs_nix", ""));
    }
    assert_eq!(kind(&client, &gateway, PROMPTS_GET, call("fs_letter")).await, Some(FaultKind::NotAvailable));
    assert_eq!(kind(&client, &gateway, RESOURCES_READ, json!({"uri": "x:a"})).await, None);
    let hidden = kind(&client, &gateway, RESOURCES_READ, json!({"uri": "x:b"})).await;
    assert_eq!(hidden, Some(FaultKind::ResourceNotFound));
    assert_eq!(fs.calls().len(), 2);
}

#[tokio::test]
async fn a05_a_renamed_tool_is_denied_by_each_of_its_names() {
    for glob in ["fs_write_file", "write_file", "fs_harmless"] {
        let fs = server();
        let change = ItemRules { rename: Some("harmless".to_owned()), ..ItemRules::default() };
        let items = vec![("write_file".to_owned(), change)];
        let kind = KindRules { items, ..KindRules::default() };
        let server = ServerRules { tools: kind, ..ServerRules::default() };
        let rules = Rules {
            policy: set(Effect::Allow, vec![tools(Effect::Deny, &[glob])]),
            servers: [("fs".parse().unwrap(), server)].into(),
            ..Rules::default()
        };
        let gateway = gateway(&[&fs], rules);
        let names = client().names(&gateway, TOOLS_LIST).await;
        assert!(!names.contains(&"fs_harmless".to_owned()), "{glob}: {names:?}");
    }
}

#[tokio::test]
async fn x02_hints_of_a_server_authorise_nothing() {
    let reads = |effect, value: bool| RuleSpec {
        effect,
        annotations: Map::from_iter([("readOnlyHint".to_owned(), json!(value))]),
        ..RuleSpec::default()
    };
    let (strict, _) = guarded(set(Effect::Deny, vec![reads(Effect::Allow, true)]));
    assert!(client().names(&strict, TOOLS_LIST).await.is_empty());
    let (lenient, _) = guarded(set(Effect::Allow, vec![reads(Effect::Deny, false)]));
    assert!(client().names(&lenient, TOOLS_LIST).await.is_empty());
    // The operator's word counts.
    let fs = server();
    let mut annotations = Object::new();
    annotations.set("readOnlyHint", Raw::from(json!(true)));
    let items = vec![("read_*".to_owned(), ItemRules { annotations, ..ItemRules::default() })];
    let kind = KindRules { items, ..KindRules::default() };
    let rules = Rules {
        policy: set(Effect::Deny, vec![reads(Effect::Allow, true)]),
        servers: [("fs".parse().unwrap(), ServerRules { tools: kind, ..ServerRules::default() })].into(),
        ..Rules::default()
    };
    assert_eq!(client().names(&gateway(&[&fs], rules), TOOLS_LIST).await, ["fs_read_file"]);
}

#[tokio::test]
async fn h13_arguments_are_judged_whole() {
    let condition =
        ArgumentSpec { at: "/path".to_owned(), within: Some("/etc".to_owned()), ..ArgumentSpec::default() };
    let rule = RuleSpec { arguments: vec![condition], ..tools(Effect::Deny, &["fs_read_file"]) };
    let (gateway, fs) = guarded(set(Effect::Allow, vec![rule]));
    let ask = |arguments: String| {
        let params = format!(r#"{{"name":"fs_read_file","arguments":{arguments}}}"#);
        let mut call = trunkline_protocol::Call::new(TOOLS_CALL, Some(raw(&params)));
        call.caller = trunkline_protocol::Caller::local();
        gateway.call(call).outcome()
    };
    let padding = "x".repeat(3 << 20);
    for denied in [
        format!(r#"{{"a":"{padding}","path":"/etc/passwd"}}"#),
        r#"{"p\u0061th":"/\u0065tc/passwd"}"#.to_owned(),
        r#"{"path":["/srv/a","/etc/passwd"]}"#.to_owned(),
        r#"{"path":"/srv/../etc/passwd"}"#.to_owned(),
    ] {
        let fault = ask(denied).await.unwrap_err();
        assert_eq!(fault.kind(), FaultKind::DeniedByPolicy, "{fault}");
    }
    assert!(ask(r#"{"path":"/srv/a"}"#.to_owned()).await.is_ok());
    assert!(ask(r#"{"a":{"path":"/etc/passwd"}}"#.to_owned()).await.is_ok());
    assert_eq!(fs.calls().len(), 2);
    // A member twice never gets here.
    assert!(Raw::parse(r#"{"path":"/srv/a","p\u0061th":"/etc/passwd"}"#.to_owned()).is_err());
}

#[tokio::test]
async fn roles_bound_what_rules_can_allow() {
    let rules = vec![tools(Effect::Allow, &["*"])];
    let reader = crate::policy::FilterRules { allow: Some(texts(&["fs_read*"])), deny: Vec::new() };
    let policy =
        PolicyRules { roles: [("reader".to_owned(), reader.into())].into(), ..set(Effect::Deny, rules) };
    let (gateway, _) = guarded(policy);
    assert_eq!(Client::named("r", &["reader"]).names(&gateway, TOOLS_LIST).await, ["fs_read_file"]);
    assert!(Client::named("x", &["other"]).names(&gateway, TOOLS_LIST).await.is_empty());
}
