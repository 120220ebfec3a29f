//! Lists: pages and cursors (M06), unchanged items, marks for disconnected servers, stable order.

use super::{
    Client, client,
    fake::{Fake, Lists, tool},
    gateway, next_snapshot, raw, with_options,
};
use crate::{
    catalog::{ItemRules, KindRules, Rules, ServerRules},
    gateway::Gateway,
    policy::{FilterRules, PolicyRules, RoleRules},
    view::{Naming, ViewRules},
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;
use trunkline_protocol::{Era, Fault, FaultKind, Object, Part, Raw, Reply, method::*};

#[tokio::test]
async fn pages_follow_each_other_to_the_end() {
    let names: Vec<String> = (0..25).map(|n| format!("t{n}")).collect();
    let a = Fake::new("a", Lists { tools: names.iter().map(|n| tool(n)).collect(), ..Lists::default() });
    let gateway = with_options(&[&a], Rules::default(), |options| options.page_size = 10);
    let (mut seen, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let params = cursor.take().map_or_else(|| json!({}), |cursor: String| json!({"cursor": cursor}));
        let page: Value = client().ask(&gateway, TOOLS_LIST, params).await.unwrap().decode().unwrap();
        seen.extend(page["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap().to_owned()));
        pages += 1;
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(pages, 3);
    assert_eq!(seen, names.iter().map(|n| format!("a_{n}")).collect::<Vec<_>>());
}

#[tokio::test]
async fn m06_a_forged_or_foreign_cursor_is_refused() {
    let lists = Lists {
        prompts: vec![raw(r#"{"name":"a"}"#), raw(r#"{"name":"b"}"#)],
        ..Lists::tools(&["a", "b", "c"])
    };
    let a = Fake::new("a", lists);
    let all = || FilterRules::default();
    let policy = PolicyRules {
        roles: [("r".to_owned(), RoleRules::default()), ("s".to_owned(), RoleRules::default())].into(),
        otherwise: Some(all().into()),
        ..PolicyRules::default()
    };
    let rules = Rules { policy, ..Rules::default() };
    let one = with_options(&[&a], rules.clone(), |options| options.page_size = 1);
    let two = with_options(&[&a], rules, |options| options.page_size = 1);
    let first = |asking: Client| {
        let gateway = one.clone();
        async move {
            asking
                .ask(&gateway, TOOLS_LIST, json!({}))
                .await
                .unwrap()
                .member_as::<String>("nextCursor")
                .unwrap()
        }
    };
    let cursor = first(Client::named("x", &["r"])).await;
    let ask = async |asking: Client, gateway: &super::Gateway, method, cursor: &Value| {
        asking.ask(gateway, method, json!({"cursor": cursor})).await
    };
    assert!(ask(Client::named("x", &["r"]), &one, TOOLS_LIST, &json!(cursor)).await.is_ok());
    let reader = || Client::named("x", &["r"]);
    let mut changed = cursor.clone().into_bytes();
    changed[0] ^= 1;
    let changed = String::from_utf8(changed).unwrap();
    let refused = [
        ask(reader(), &one, PROMPTS_LIST, &json!(cursor)).await,
        ask(reader().at("server/a"), &one, TOOLS_LIST, &json!(cursor)).await,
        ask(Client::named("x", &["s"]), &one, TOOLS_LIST, &json!(cursor)).await,
        ask(reader(), &two, TOOLS_LIST, &json!(cursor)).await,
        ask(reader(), &one, TOOLS_LIST, &json!(changed)).await,
        ask(reader(), &one, TOOLS_LIST, &json!("")).await,
        ask(reader(), &one, TOOLS_LIST, &json!("2")).await,
        ask(reader(), &one, TOOLS_LIST, &json!(7)).await,
        ask(reader(), &one, TOOLS_LIST, &json!("A".repeat(100_000))).await,
    ];
    for (place, answer) in refused.into_iter().enumerate() {
        assert_eq!(answer.unwrap_err().to_error(Era::Modern).code, -32602, "{place}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cursor_outlives_changes_elsewhere_and_dies_with_its_own_list() {
    let (a, b) = (Fake::new("a", Lists::tools(&["x", "y"])), Fake::new("b", Lists::tools(&["z"])));
    let gateway = with_options(&[&a, &b], Rules::default(), |options| options.page_size = 1);
    let list = async || client().at("server/a").ask(&gateway, TOOLS_LIST, json!({})).await.unwrap();
    let cursor: String = list().await.member_as("nextCursor").unwrap();
    let next = async || client().at("server/a").ask(&gateway, TOOLS_LIST, json!({"cursor": cursor})).await;
    next_snapshot(&gateway, || b.offers(Lists::tools(&["other"]))).await;
    assert!(next().await.is_ok());
    next_snapshot(&gateway, || a.offers(Lists::tools(&["x", "new"]))).await;
    assert!(next().await.is_err());
}

#[tokio::test]
async fn items_keep_every_byte_that_no_rule_names() {
    let written = r#"{ "zeta" : 1.50, "name":"\u0061dd", "icons":[{"src":"data:,"}], "inputSchema":{"type":"object","x":123456789012345678901234567890}, "description":"old",
        "_meta":{"ui":{"resourceUri":"ui://a"}}, "annotations":{"readOnlyHint":true, "vendor":[ ]}, "execution":{"taskSupport":"optional"}}"#;
    let annotations: Object = [("destructiveHint".to_owned(), raw("false"))].into_iter().collect();
    let item = ItemRules { description: Some("new".to_owned()), annotations, ..ItemRules::default() };
    let tools = KindRules { items: vec![("add".to_owned(), item)], ..KindRules::default() };
    let server = ServerRules { tools, ..ServerRules::default() };
    let rules = Rules { servers: [("b".parse().unwrap(), server)].into(), ..Rules::default() };
    let lists = Lists { tools: vec![raw(written)], ..Lists::default() };
    let (a, b) = (Fake::new("a", lists.clone()), Fake::new("b", lists));
    let gateway = gateway(&[&a, &b], rules);
    let list = client().ask(&gateway, TOOLS_LIST, json!({})).await.unwrap();
    let prefixed = written.replace(r#""\u0061dd""#, r#""a_add""#);
    let described = written
        .replace(r#""\u0061dd""#, r#""b_add""#)
        .replace(r#""old""#, r#""new""#)
        .replace(r#""vendor":[ ]}"#, r#""vendor":[ ],"destructiveHint":false}"#);
    let want = format!(r#"{{"tools":[{prefixed},{described}],"ttlMs":0,"cacheScope":"public"}}"#);
    assert_eq!(list.as_str(), want);
    let alone = client().at("server/a").ask(&gateway, TOOLS_LIST, json!({})).await.unwrap();
    assert_eq!(alone.as_str(), format!(r#"{{"tools":[{written}],"ttlMs":0,"cacheScope":"public"}}"#));
}

#[tokio::test]
async fn what_a_server_says_beside_its_items_is_kept_where_it_is_shown_alone() {
    let beside: Object = raw(r#"{"x-origin": 1.50,"_meta":{"example.com/a":[ ]}}"#).object().unwrap();
    let a = Fake::new("a", Lists { beside, ..Lists::tools(&["x", "y"]) });
    let gateway = with_options(&[&a], Rules::default(), |options| options.page_size = 1);
    let first = client().at("server/a").ask(&gateway, TOOLS_LIST, json!({})).await.unwrap();
    let cursor: String = first.member_as("nextCursor").unwrap();
    let second =
        client().at("server/a").ask(&gateway, TOOLS_LIST, json!({ "cursor": cursor })).await.unwrap();
    for page in [first, second] {
        assert_eq!(page.member("x-origin").unwrap().as_str(), "1.50");
        assert_eq!(page.member("_meta").unwrap().as_str(), r#"{"example.com/a":[ ]}"#);
    }
    let all = client().ask(&gateway, TOOLS_LIST, json!({})).await.unwrap();
    assert!(all.member("x-origin").is_none() && all.member("_meta").is_none(), "{}", all.as_str());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_away_is_marked_and_one_never_heard_is_named() {
    let a = Fake::new("a", Lists { stale: true, ..Lists::tools(&["x"]) });
    let (b, c) = (Fake::unconnected("b"), Fake::new("c", Lists::tools(&["y"])));
    let gateway = gateway(&[&a, &b, &c], Rules::default());
    let list: Value = client().ask(&gateway, TOOLS_LIST, json!({})).await.unwrap().decode().unwrap();
    assert_eq!(list["tools"][0]["_meta"], json!({"trunkline/stale": true}));
    assert_eq!((list["tools"][1].get("_meta"), &list["_meta"]), (None, &json!({"trunkline/missing": ["b"]})));
    assert_eq!(b.wakes(), 1, "the missing server is requested");
    let answer = client().ask(&gateway, TOOLS_CALL, json!({"name": "b_tool"})).await.unwrap_err();
    assert!(answer.retryable() && answer.message().contains("`b` is not connected"));
}

#[tokio::test(start_paused = true)]
async fn lists_wait_for_servers_that_were_just_started_where_they_are_told_to() {
    let a = Fake::unconnected("a");
    let wait = std::time::Duration::from_secs(5);
    let gateway = with_options(&[&a], Rules::default(), |options| options.settle = wait);
    let asked = tokio::spawn({
        let gateway = gateway.clone();
        async move { client().names(&gateway, TOOLS_LIST).await }
    });
    while a.wakes() == 0 {
        tokio::task::yield_now().await;
    }
    a.offers(Lists::tools(&["x"]));
    assert_eq!(asked.await.unwrap(), ["a_x"]);
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_delays_the_first_list_by_a_moment_and_is_told_of_when_it_comes() {
    let (a, b) = (Fake::new("a", Lists::tools(&["x"])), Fake::unconnected("b"));
    let gateway = with_options(&[&a, &b], Rules::default(), |options| {
        options.grace = Duration::from_secs(2);
        options.settle = Duration::from_secs(5);
    });
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut listening = client().start(&gateway, LISTEN, &filter);
    assert!(
        matches!(listening.next().await, Some(Part::Notification(notification)) if notification.method == ACKNOWLEDGED)
    );
    let began = Instant::now();
    assert_eq!(client().names(&gateway, TOOLS_LIST).await, ["a_x"]);
    assert_eq!(began.elapsed().as_secs(), 2);
    assert_eq!(b.wakes(), 1);
    assert_eq!(client().names(&gateway, TOOLS_LIST).await, ["a_x"]);
    assert_eq!(began.elapsed().as_secs(), 2, "no later caller waits");
    b.offers(Lists::tools(&["y"]));
    assert!(
        matches!(listening.next().await, Some(Part::Notification(notification)) if notification.method == TOOLS_CHANGED)
    );
    assert_eq!(client().names(&gateway, TOOLS_LIST).await, ["a_x", "b_y"]);
}

/// A view without prefixes of two servers that have not connected yet, with a grace of two
/// seconds.
fn cold_view(a: &Arc<Fake>, b: &Arc<Fake>) -> Gateway {
    let bare = ViewRules { naming: Naming::Bare, ..ViewRules::default() };
    let rules = Rules { views: [("flat".to_owned(), bare)].into(), ..Rules::default() };
    with_options(&[a, b], rules, |options| options.grace = Duration::from_secs(2))
}

#[tokio::test(start_paused = true)]
async fn a_bare_name_waits_for_the_servers_that_may_have_it() {
    let (a, b) = (Fake::unconnected("a"), Fake::unconnected("b"));
    let gateway = cold_view(&a, &b);
    let ask = |method: &'static str, params: Value| {
        let gateway = gateway.clone();
        tokio::spawn(async move { client().at("flat").ask(&gateway, method, params).await })
    };
    let began = Instant::now();
    let called = ask(TOOLS_CALL, json!({"name": "y"}));
    let read = ask(RESOURCES_READ, json!({"uri": "note://b"}));
    let unknown = ask(TOOLS_CALL, json!({"name": "nobodys"}));
    while b.wakes() < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(a.wakes(), 3);
    let note = raw(r#"{"uri":"note://b","name":"note"}"#);
    b.offers(Lists { resources: vec![note], ..Lists::tools(&["y"]) });
    assert_eq!(called.await.unwrap().unwrap().member_as::<String>("server").unwrap(), "b");
    assert_eq!(read.await.unwrap().unwrap().member_as::<String>("server").unwrap(), "b");
    assert!(began.elapsed() < Duration::from_secs(1), "the server that stays silent is not waited for");
    let fault = unknown.await.unwrap().unwrap_err();
    assert_eq!((fault.kind(), began.elapsed().as_secs()), (FaultKind::NotAvailable, 2));
    ask(TOOLS_CALL, json!({"name": "nobodys"})).await.unwrap().unwrap_err();
    assert_eq!(began.elapsed().as_secs(), 2, "no later caller waits");
}

#[tokio::test(start_paused = true)]
async fn while_servers_are_waited_for_a_forbidden_name_takes_as_long_as_an_unknown_one() {
    let (a, b) = (Fake::new("a", Lists::tools(&["secret"])), Fake::unconnected("b"));
    let bare = ViewRules { naming: Naming::Bare, ..ViewRules::default() };
    let mut rules = Rules { views: [("flat".to_owned(), bare)].into(), ..Rules::default() };
    rules.policy.otherwise = Some(FilterRules { allow: None, deny: vec!["a_secret".to_owned()] }.into());
    for name in ["secret", "nobodys"] {
        let gateway =
            with_options(&[&a, &b], rules.clone(), |options| options.grace = Duration::from_secs(2));
        let began = Instant::now();
        let asked = client().at("flat").ask(&gateway, TOOLS_CALL, json!({ "name": name })).await;
        assert_eq!(asked.unwrap_err().message(), format!("unknown tool `{name}`"));
        assert_eq!(began.elapsed().as_secs(), 2, "{name}");
    }
}

/// The outcome of a tool call that is made before its server has connected, and that wakes it.
async fn asked_before_it_is_heard(gateway: &Gateway, a: &Fake) -> Result<Raw, Fault> {
    let asked = tokio::spawn({
        let gateway = gateway.clone();
        async move { client().ask(&gateway, TOOLS_CALL, json!({"name": "a_x"})).await }
    });
    while a.wakes() == 0 {
        tokio::task::yield_now().await;
    }
    a.offers(Lists::tools(&["x"]));
    asked.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_its_server_to_be_heard_and_for_no_other() {
    let (a, b) = (Fake::unconnected("a"), Fake::unconnected("b"));
    let gateway = gateway(&[&a, &b], Rules::default());
    let asked = asked_before_it_is_heard(&gateway, &a).await;
    assert_eq!(asked.unwrap().member("params").unwrap().as_str(), r#"{"name":"x"}"#);
    assert_eq!(b.wakes(), 0);
    b.answers(|_| Reply::ready(Err(Fault::new(FaultKind::CannotStart, "no such program"))));
    let fault = client().ask(&gateway, TOOLS_CALL, json!({"name": "b_x"})).await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::CannotStart);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_server_is_not_kept_until_the_others_are_quiet() {
    let a = Fake::unconnected("a");
    let gateway = with_options(&[&a], Rules::default(), |options| options.quiet = Duration::from_hours(1));
    let asked = asked_before_it_is_heard(&gateway, &a).await;
    assert!(asked.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_shuffles_its_list_keeps_its_first_order() {
    let a = Fake::new("a", Lists::tools(&["x", "y", "z"]));
    let gateway = gateway(&[&a], Rules::default());
    next_snapshot(&gateway, || a.offers(Lists::tools(&["z", "x", "y"]))).await;
    assert_eq!(client().names(&gateway, TOOLS_LIST).await, ["a_x", "a_y", "a_z"]);
    next_snapshot(&gateway, || a.offers(Lists::tools(&["z", "x", "new"]))).await;
    assert_eq!(client().names(&gateway, TOOLS_LIST).await, ["a_z", "a_x", "a_new"]);
}

#[tokio::test]
async fn a_list_is_made_once_for_each_standing() {
    let a = Fake::new("a", Lists::tools(&["x"]));
    let roles = [("r".to_owned(), RoleRules::default())].into();
    let rules = Rules { policy: PolicyRules { roles, ..PolicyRules::default() }, ..Rules::default() };
    let gateway = gateway(&[&a], rules);
    let place =
        async |asking: Client| asking.ask(&gateway, TOOLS_LIST, json!({})).await.unwrap().as_bytes().as_ptr();
    let first = place(Client::named("x", &["r"])).await;
    assert_eq!(first, place(Client::named("y", &["r", "other"])).await);
    assert_ne!(first, place(Client::named("z", &[])).await);
}
