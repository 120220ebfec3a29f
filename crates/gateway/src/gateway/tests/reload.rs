//! Replacing rules and servers while calls are in flight.

use super::{
    client,
    fake::{Fake, Lists},
    gateway, sources,
};
use crate::{
    catalog::{BadRules, Rules},
    view::ViewRules,
};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Semaphore;
use trunkline_protocol::{Part, Reply, method::*};

#[tokio::test]
async fn a_call_under_way_keeps_its_server_while_everything_else_is_replaced() {
    let gate = Arc::new(Semaphore::new(0));
    let waiting = gate.clone();
    let old = Fake::new("a", Lists::tools(&["slow"])).answers(move |_| {
        let gate = waiting.clone();
        Reply::from_future(async move {
            gate.acquire().await.unwrap().forget();
            Ok(json!({"from": "old"}).into())
        })
    });
    let gateway = gateway(&[&old], Rules::default());
    let mut reply = client().start(&gateway, TOOLS_CALL, &json!({"name": "a_slow"}));
    let new = Fake::new("b", Lists::tools(&["quick"]));
    gateway.replace(&Rules::default(), sources(&[&new])).unwrap();
    assert_eq!(client().names(&gateway, TOOLS_LIST).await, ["b_quick"]);
    assert!(client().ask(&gateway, TOOLS_CALL, json!({"name": "a_slow"})).await.is_err());
    gate.add_permits(1);
    assert!(
        matches!(reply.next().await, Some(Part::Final(Ok(result))) if result.as_str() == r#"{"from":"old"}"#)
    );
}

#[tokio::test]
async fn rules_that_cannot_be_used_change_nothing() {
    let a = Fake::new("a", Lists::tools(&["x"]));
    let gateway = gateway(&[&a], Rules::default());
    let bad = ViewRules { servers: Some(vec!["nobody".parse().unwrap()]), ..ViewRules::default() };
    let rules = Rules { views: [("v".to_owned(), bad)].into(), ..Rules::default() };
    let refused = gateway.replace(&rules, Vec::new()).unwrap_err();
    assert!(matches!(&refused, BadRules::UnknownServer { .. }));
    assert_eq!(refused.to_string(), "view `v` names the server `nobody`, which is not configured");
    assert_eq!(client().names(&gateway, TOOLS_LIST).await, ["a_x"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_lose_nothing_while_rules_are_replaced_over_and_over() {
    let (a, b) = (Fake::new("a", Lists::tools(&["x"])), Fake::new("b", Lists::tools(&["x"])));
    let gateway = gateway(&[&a, &b], Rules::default());
    let replacing = tokio::spawn({
        let (gateway, servers) = (gateway.clone(), sources(&[&a, &b]));
        async move {
            for _ in 0..200 {
                gateway.replace(&Rules::default(), servers.clone()).unwrap();
                tokio::task::yield_now().await;
            }
        }
    });
    let mut asked = 0;
    while !replacing.is_finished() || asked < 500 {
        for server in ["a", "b"] {
            let name = format!("{server}_x");
            let echo = client().ask(&gateway, TOOLS_CALL, json!({"name": name})).await.unwrap();
            assert_eq!(echo.member_as::<String>("server").unwrap(), server);
        }
        asked += 1;
    }
    replacing.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn servers_that_came_by_a_reload_are_watched_and_the_old_ones_are_not() {
    let (a, b) = (Fake::new("a", Lists::tools(&["x"])), Fake::new("b", Lists::tools(&["x"])));
    let gateway = gateway(&[&a], Rules::default());
    gateway.replace(&Rules::default(), sources(&[&b])).unwrap();
    let mut snapshots = gateway.inner.changed.subscribe();
    b.offers(Lists::tools(&["y"]));
    while client().names(&gateway, TOOLS_LIST).await != ["b_y"] {
        snapshots.changed().await.unwrap();
    }
    drop(gateway);
    assert!(
        snapshots.changed().await.is_err() || snapshots.changed().await.is_err(),
        "the keeper lets the gateway go"
    );
}

#[tokio::test(start_paused = true)]
async fn a_subscription_to_a_view_that_is_gone_ends() {
    let a = Fake::new("a", Lists::tools(&["x"]));
    let rules = Rules { views: [("v".to_owned(), ViewRules::default())].into(), ..Rules::default() };
    let gateway = gateway(&[&a], rules);
    let mut reply =
        client().at("v").start(&gateway, LISTEN, &json!({"notifications": {"toolsListChanged": true}}));
    assert!(matches!(reply.next().await, Some(Part::Notification(_))));
    gateway.replace(&Rules::default(), sources(&[&a])).unwrap();
    assert!(matches!(reply.next().await, Some(Part::Final(Ok(result))) if result.as_str() == "{}"));
}
