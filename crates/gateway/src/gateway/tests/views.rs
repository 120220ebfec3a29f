//! Views, introductions, and waiting for a server that has not connected yet.

use super::{
    client,
    fake::{Fake, Lists},
    gateway, raw, with_options,
};
use crate::{
    catalog::{BadRules, Rules},
    policy::FilterRules,
    view::{Naming, ViewRules},
};
use serde_json::{Value, json};
use trunkline_protocol::{Fault, FaultKind, Handler, Reply, method::*};

fn view(servers: &[&str], naming: Naming) -> ViewRules {
    let servers = Some(servers.iter().map(|name| name.parse().unwrap()).collect());
    ViewRules { servers, naming, ..ViewRules::default() }
}

#[tokio::test]
async fn a_view_shows_its_servers_and_what_its_globs_let_pass() {
    let (a, b, c) = (
        Fake::new("a", Lists::tools(&["x", "y"])),
        Fake::new("b", Lists::tools(&["x"])),
        Fake::new("c", Lists::tools(&["z"])),
    );
    let few = FilterRules { allow: Some(vec!["a_x".to_owned(), "b_*".to_owned()]), deny: Vec::new() };
    let views = [
        ("few".to_owned(), ViewRules { tools: few, ..view(&["b", "a"], Naming::Prefixed) }),
        ("plain".to_owned(), view(&["a", "c"], Naming::Bare)),
    ];
    let gateway = gateway(&[&a, &b, &c], Rules { views: views.into(), ..Rules::default() });
    assert_eq!(client().names(&gateway, TOOLS_LIST).await, ["a_x", "a_y", "b_x", "c_z"]);
    assert_eq!(client().at("few").names(&gateway, TOOLS_LIST).await, ["a_x", "b_x"]);
    assert_eq!(client().at("plain").names(&gateway, TOOLS_LIST).await, ["x", "y", "z"]);
    assert_eq!(client().at("server/c").names(&gateway, TOOLS_LIST).await, ["z"]);
    for there in ["few", "plain", "server/a", "server/b", "server/c"] {
        assert!(gateway.has_view(there));
    }
    for absent in ["", "main", "server/d", "server/", "FEW", "few/"] {
        assert!(!gateway.has_view(absent), "{absent}");
        assert!(client().at(absent).ask(&gateway, TOOLS_LIST, json!({})).await.is_err());
    }
    // S04: an item that a view does not show cannot be called there.
    for (at, name) in [("few", "a_y"), ("few", "c_z"), ("plain", "a_x")] {
        let answer = client().at(at).ask(&gateway, TOOLS_CALL, json!({"name": name})).await;
        assert!(answer.unwrap_err().message().starts_with("unknown tool"), "{at} {name}");
    }
}

#[tokio::test]
async fn rules_that_cannot_be_used_are_refused() {
    let a = Fake::new("a", Lists::default());
    let try_views = |name: &str, rules: ViewRules| {
        let mut options =
            super::GatewayOptions::new(trunkline_protocol::message::Implementation::new("g", "1"));
        options.servers = super::sources(&[&a]);
        options.rules = Rules { views: [(name.to_owned(), rules)].into(), ..Rules::default() };
        super::Gateway::new(options).map(drop)
    };
    assert!(matches!(try_views("v", view(&["b"], Naming::Bare)), Err(BadRules::UnknownServer { .. })));
    assert!(matches!(try_views("server/a", ViewRules::default()), Err(BadRules::ViewName(_))));
    assert!(matches!(try_views("", ViewRules::default()), Err(BadRules::ViewName(_))));
    let negated = FilterRules { allow: None, deny: vec!["!x".to_owned()] };
    assert!(matches!(
        try_views("v", ViewRules { tools: negated, ..ViewRules::default() }),
        Err(BadRules::Glob(_))
    ));
    let options = super::GatewayOptions {
        servers: super::sources(&[&a, &a]),
        ..super::GatewayOptions::new(trunkline_protocol::message::Implementation::new("g", "1"))
    };
    assert!(matches!(super::Gateway::new(options), Err(BadRules::Twice(_))));
}

#[tokio::test]
async fn introductions_are_merged_and_one_servers_passed_on() {
    let a = Fake::new(
        "a",
        Lists {
            capabilities: json!({"tools": {}, "logging": {}, "extensions": {"io.x/one": {"v": 1}}, "odd": {"k": 1.5}}),
            instructions: Some("First."),
            ..Lists::default()
        },
    );
    let b = Fake::new(
        "b",
        Lists {
            capabilities: json!({"tools": {"listChanged": false}, "resources": {"subscribe": true}, "extensions": {"io.x/one": {"v": 2}, "io.x/two": {}}, "completions": {}}),
            instructions: Some("Second."),
            ..Lists::default()
        },
    );
    let gateway = with_options(&[&a, &b], Rules::default(), |options| {
        options.instructions = Some("Welcome.".to_owned());
    });
    let discovered: Value = client().ask(&gateway, DISCOVER, json!({})).await.unwrap().decode().unwrap();
    let want = json!({"tools": {"listChanged": true}, "logging": {}, "extensions": {"io.x/one": {"v": 1}, "io.x/two": {}}, "odd": {"k": 1.5},
        "resources": {"subscribe": true, "listChanged": true}, "completions": {}});
    assert_eq!(discovered["capabilities"], want);
    assert_eq!(discovered["instructions"], "Welcome.\n\n## a\n\nFirst.\n\n## b\n\nSecond.");
    assert_eq!(
        discovered["_meta"]["io.modelcontextprotocol/serverInfo"],
        json!({"name": "gate", "version": "1"})
    );
    let own = client().at("server/b").ask(&gateway, DISCOVER, json!({})).await.unwrap();
    assert_eq!(own, crate::gateway::Source::offer(b.as_ref()).unwrap().introduction);
}

#[tokio::test(start_paused = true)]
async fn one_server_alone_is_waited_for_until_it_is_heard() {
    let a = Fake::unconnected("a");
    let bare = Rules { main: ViewRules { naming: Naming::Bare, ..ViewRules::default() }, ..Rules::default() };
    let gateway = gateway(&[&a], bare);
    let asked = tokio::spawn({
        let gateway = gateway.clone();
        async move { client().ask(&gateway, TOOLS_CALL, json!({"name": "x"})).await }
    });
    while a.calls().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!((a.calls()[0].method.as_ref(), a.wakes()), (DISCOVER, 1));
    a.offers(Lists::tools(&["x"]));
    assert_eq!(asked.await.unwrap().unwrap().member("params").unwrap().as_str(), r#"{"name":"x"}"#);
}

#[tokio::test(start_paused = true)]
async fn one_server_alone_that_cannot_be_reached_says_why() {
    let a = Fake::unconnected("a")
        .answers(|_| Reply::ready(Err(Fault::new(FaultKind::CannotStart, "no such program"))));
    let gateway = gateway(&[&a], Rules::default());
    let fault = client().at("server/a").ask(&gateway, TOOLS_LIST, json!({})).await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::CannotStart);
    // A server that answers `server/discover` but never lists is not waited for without end.
    a.answers(|_| Reply::ready(Ok(raw("{}"))));
    let fault = client().at("server/a").ask(&gateway, TOOLS_LIST, json!({})).await.unwrap_err();
    assert_eq!(fault.message(), "server `a` is not connected yet");
    assert_eq!(fault.kind(), FaultKind::Timeout);
    assert!(fault.retryable(), "nothing was sent");
}

#[tokio::test]
async fn one_server_without_rules_judges_names_that_it_does_not_list() {
    let a = Fake::new("a", Lists::tools(&["x"]));
    let open = gateway(&[&a], Rules::default());
    let ask = async |gateway: &super::Gateway, name: &str| {
        let asking = client().at("server/a");
        (
            asking.ask(gateway, TOOLS_CALL, json!({"name": name})).await,
            asking.ask(gateway, PROMPTS_GET, json!({"name": name})).await,
        )
    };
    let (tool, prompt) = ask(&open, "y").await;
    assert_eq!(tool.unwrap().member("params").unwrap().as_str(), r#"{"name":"y"}"#);
    assert!(prompt.is_ok());
    let hide = FilterRules { allow: None, deny: vec!["y".to_owned()] };
    let tools = crate::catalog::KindRules { filter: hide.clone(), items: Vec::new() };
    let server = crate::catalog::ServerRules { tools, ..crate::catalog::ServerRules::default() };
    let policy =
        crate::policy::PolicyRules { otherwise: Some(hide.into()), ..crate::policy::PolicyRules::default() };
    for rules in [
        Rules { servers: [("a".parse().unwrap(), server)].into(), ..Rules::default() },
        Rules { policy, ..Rules::default() },
    ] {
        let ruled = gateway(&[&a], rules);
        for name in ["y", "Y", "z"] {
            let (tool, prompt) = ask(&ruled, name).await;
            assert!(tool.is_err() && prompt.is_err(), "{name}");
        }
    }
}
