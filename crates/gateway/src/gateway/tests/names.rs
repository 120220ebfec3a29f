//! Names: U08, U09, U10.

use super::{
    client,
    fake::{Fake, Lists, tool},
    gateway, raw,
};
use crate::{
    catalog::{ItemRules, KindRules, Rules, ServerRules},
    view::{Naming, ViewRules},
};
use proptest::prelude::*;
use serde_json::json;
use std::collections::HashSet;
use trunkline_protocol::method::{PROMPTS_GET, PROMPTS_LIST, TOOLS_CALL, TOOLS_LIST};

fn hostile_names() -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof![
        "[a-z_]{1,6}",
        "[A-Za-z0-9_./ -]{1,90}",
        "\\PC{1,40}",
        Just("constructor".to_owned()),
        Just("__proto__".to_owned()),
        Just("b__c".to_owned()),
        Just("x_x0123456789".to_owned()),
        Just(String::new()),
    ];
    prop::collection::vec(name, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn u09_every_listed_name_is_plain_unique_and_leads_back(one in hostile_names(), two in hostile_names()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let texts = |names: &[String]| names.iter().map(|name| tool(name)).collect();
            let a = Fake::new("a", Lists { tools: texts(&one), ..Lists::default() });
            let b = Fake::new("b-1", Lists { tools: texts(&two), ..Lists::default() });
            let gateway = gateway(&[&a, &b], Rules::default());
            let listed = client().names(&gateway, TOOLS_LIST).await;
            prop_assert_eq!(listed.iter().collect::<HashSet<_>>().len(), listed.len());
            let good = |names: &[String]| names.iter().filter(|n| !n.is_empty()).collect::<HashSet<_>>().len();
            let kept: usize = gateway.catalog_report().servers.iter().map(|s| s.tools).sum();
            prop_assert_eq!(kept, good(&one) + good(&two));
            prop_assert_eq!(listed.len(), kept);
            let mut reached = HashSet::new();
            for name in &listed {
                let plain = name.len() <= 64 && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_' || c == b'-');
                prop_assert!(plain, "{}", name);
                let echo = client().ask(&gateway, TOOLS_CALL, json!({"name": name, "arguments": {}})).await.unwrap();
                let echo: serde_json::Value = echo.decode().unwrap();
                let (server, inner) = (echo["server"].as_str().unwrap(), echo["params"]["name"].as_str().unwrap());
                let names = if server == "a" { &one } else { &two };
                prop_assert!(names.iter().any(|n| n == inner));
                prop_assert!(reached.insert((server.to_owned(), inner.to_owned())));
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn u08_names_that_could_meet_do_not() {
    let a = Fake::new("a", Lists::tools(&["b__c", "same", "same"]));
    let ab = Fake::new("a-b", Lists::tools(&["c", "same"]));
    let gateway = gateway(&[&a, &ab], Rules::default());
    let want = ["a_b__c", "a_same", "a-b_c", "a-b_same"];
    assert_eq!(client().names(&gateway, TOOLS_LIST).await, want);
    let report = gateway.catalog_report();
    assert_eq!(report.servers[0].quarantined.len(), 1);
    assert_eq!(report.servers[0].quarantined[0].what.reason, "its server lists it twice");
}

#[tokio::test]
async fn a_rename_that_meets_another_name_is_quarantined_with_the_reason() {
    let rules = |name: &str, rename: &str| {
        (name.to_owned(), ItemRules { rename: Some(rename.to_owned()), ..ItemRules::default() })
    };
    // The first matching rule wins.
    let items = vec![rules("old", "taken"), rules("f?ne", "better"), rules("fine", "worse")];
    let server = ServerRules { tools: KindRules { items, ..KindRules::default() }, ..ServerRules::default() };
    let rules = Rules { servers: [("a".parse().unwrap(), server)].into(), ..Rules::default() };
    let a = Fake::new("a", Lists::tools(&["taken", "old", "fine"]));
    let gateway = gateway(&[&a], rules);
    assert_eq!(client().names(&gateway, TOOLS_LIST).await, ["a_taken", "a_better"]);
    let kept = &gateway.catalog_report().servers[0].quarantined[0].what;
    assert_eq!(
        (kept.name.as_str(), kept.reason.as_str()),
        ("old", "its public name `a_taken` is taken by `a/taken`")
    );
    let echo = client().ask(&gateway, TOOLS_CALL, json!({"name": "a_better"})).await.unwrap();
    assert_eq!(echo.member("params").unwrap().as_str(), r#"{"name":"fine"}"#);
    assert!(client().ask(&gateway, TOOLS_CALL, json!({"name": "a_fine"})).await.is_err());
}

#[tokio::test]
async fn bare_names_of_several_servers_fall_back_to_prefixed_ones() {
    let bare = ViewRules { naming: Naming::Bare, ..ViewRules::default() };
    let rules = Rules { main: bare, ..Rules::default() };
    let a =
        Fake::new("a", Lists { prompts: vec![raw(r#"{"name":"hello"}"#)], ..Lists::tools(&["x", "b_x"]) });
    let b =
        Fake::new("b", Lists { prompts: vec![raw(r#"{"name":"hello"}"#)], ..Lists::tools(&["x", "y.z"]) });
    let gateway = gateway(&[&a, &b], rules);
    // `b_x` is a's own name, so the second `x` gets no name at all.
    assert_eq!(client().names(&gateway, TOOLS_LIST).await, ["x", "b_x", "y.z"]);
    assert_eq!(gateway.catalog_report().servers[1].quarantined.len(), 1);
    assert_eq!(client().names(&gateway, PROMPTS_LIST).await, ["hello", "b_hello"]);
    let echo = client().ask(&gateway, PROMPTS_GET, json!({"name": "b_hello"})).await.unwrap();
    assert_eq!(echo.member("server").unwrap().as_str(), "\"b\"");
    assert_eq!(echo.member("params").unwrap().as_str(), r#"{"name":"hello"}"#);
}

#[tokio::test]
async fn u10_one_broken_tool_is_quarantined_and_the_rest_served() {
    let huge =
        json!({"name": "huge", "description": "d".repeat(1024 * 1024), "inputSchema": {"type": "object"}});
    let header = json!({"name": "header", "inputSchema": {"type": "object", "properties": {"a": {"type": "number", "x-mcp-header": "A"}}}});
    let lists = Lists {
        tools: vec![
            tool("good"),
            raw("7"),
            raw(r#"{"inputSchema":{"type":"object"}}"#),
            raw(r#"{"name":"null","inputSchema":null}"#),
            raw(r#"{"name":"array","inputSchema":{"type":"array"}}"#),
            raw(r#"{"name":"none"}"#),
            huge.into(),
            header.clone().into(),
            tool("last"),
        ],
        ..Lists::default()
    };
    let http = ServerRules { over_http: true, ..ServerRules::default() };
    let rules = Rules { servers: [("h".parse().unwrap(), http)].into(), ..Rules::default() };
    let (h, p) = (Fake::new("h", lists.clone()), Fake::new("p", lists));
    let gateway = gateway(&[&h, &p], rules);
    assert_eq!(
        client().names(&gateway, TOOLS_LIST).await,
        ["h_good", "h_last", "p_good", "p_header", "p_last"]
    );
    let report = gateway.catalog_report();
    let reasons: Vec<&str> =
        report.servers[0].quarantined.iter().map(|kept| kept.what.reason.as_str()).collect();
    assert_eq!(reasons[0], "it is not an object");
    assert_eq!(reasons[1], "it has no `name`");
    assert_eq!(reasons[2], "its `inputSchema` is missing or not an object");
    assert_eq!(reasons[3], "its `inputSchema` does not describe an object");
    assert!(reasons[5].starts_with("it has 1048") && reasons[6].contains("x-mcp-header"), "{reasons:?}");
    let list = client().ask(&gateway, TOOLS_LIST, json!({})).await.unwrap();
    assert!(!list.as_str().contains("x-mcp-header"), "an unusable header is not listed");
}
