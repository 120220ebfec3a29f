//! The cost of a call, counted instead of timed; and building a catalog in less than quadratic
//! time.

use super::{
    client,
    fake::{Fake, Lists},
    gateway, raw,
};
use crate::catalog::Rules;
use serde_json::json;
use trunkline_protocol::{Call, Handler, Raw, method::*};

#[tokio::test]
async fn a_call_is_routed_while_the_next_snapshot_is_being_made() {
    let a = Fake::new("a", Lists::tools(&["x"]));
    let gateway = gateway(&[&a], Rules::default());
    // The lock for making a snapshot; a call that needed any lock of the catalog would deadlock.
    let building = gateway.inner.builder();
    for _ in 0..1000 {
        let call = Call::new(TOOLS_CALL, Some(raw(r#"{"name":"a_x"}"#)));
        drop(gateway.call(call));
    }
    drop(building);
    assert_eq!(a.calls().len(), 1000);
    // Without a runtime nothing can be spawned, and the call is still routed.
    let elsewhere =
        std::thread::spawn(move || drop(gateway.call(Call::new(TOOLS_CALL, Some(raw(r#"{"name":"a_x"}"#))))));
    elsewhere.join().unwrap();
    assert_eq!(a.calls().len(), 1001);
}

#[tokio::test]
async fn arguments_are_not_read_on_the_way() {
    let a = Fake::new("a", Lists::tools(&["x"]));
    let gateway = gateway(&[&a], Rules::default());
    // Parsing and serialising again would change every one of these.
    let arguments = r#"{"a":1e+005,"a ":-0.0,"\u0062":"\u0063\/","deep":[[[[{"n":0.10000000000000000000001}]]]] ,  "e":{ }}"#;
    for order in [r#"{"name":"NAME","arguments":ARGS}"#, r#"{"arguments":ARGS,"name":"NAME"}"#] {
        let written = |name: &str| order.replace("ARGS", arguments).replace("NAME", name);
        drop(gateway.call(Call::new(TOOLS_CALL, Some(raw(&written("a_x"))))));
        assert_eq!(a.calls().pop().unwrap().params.unwrap().as_str(), written("x"));
    }
}

#[tokio::test]
async fn ten_thousand_tools_are_catalogued_in_linear_time() {
    let lists = |count: usize| {
        let schema = r#"{"type":"object","properties":{"a":{"type":"string","description":"text"}}}"#;
        let item = |n: usize| {
            raw(&format!(r#"{{"name":"tool_{n}","description":"does {n}","inputSchema":{schema}}}"#))
        };
        let resource = |n: usize| Raw::from(json!({"uri": format!("file:///{n}"), "name": "r"}));
        Lists {
            tools: (0..count).map(item).collect(),
            resources: (0..count).map(resource).collect(),
            ..Lists::default()
        }
    };
    let build = |count: usize| {
        let (a, b) = (Fake::new("a", lists(count)), Fake::new("b", lists(count)));
        let started = std::time::Instant::now();
        let gateway = gateway(&[&a, &b], Rules::default());
        (gateway, started.elapsed())
    };
    let (_, small) = build(1_000);
    let (gateway, large) = build(10_000);
    assert_eq!(client().names(&gateway, RESOURCES_LIST).await.len(), 1000);
    // If it were quadratic, ten times as many would take a hundred times as long.
    assert!(large < small * 50, "{small:?} for 1,000, {large:?} for 10,000");
    let list = client().ask(&gateway, TOOLS_LIST, json!({})).await.unwrap();
    assert!(list.member("nextCursor").is_some());
}
