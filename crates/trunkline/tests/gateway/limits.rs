//! Rate limits count what a caller asked for, and nothing else.

use crate::{
    caller::{Caller, LEGACY, MODERN, text},
    site::Site,
};
use serde_json::{Value, json};

fn site(name: &str, limits: &Value) -> Site {
    let site = Site::new(name);
    let config = json!({
        "mcp": {"servers": {"good": site.echo("good", "modern")}},
        "views": {"flat": {"servers": ["good"], "naming": "bare"}},
        "limits": limits,
        "audit": {"directory": site.path("audit")},
    });
    site.configure(&config);
    site
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l06_requests_of_our_own_are_neither_charged_to_the_caller_nor_audited() {
    let site = site("charged", &json!({"perCaller": {"calls": 2, "per": "1h"}}));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    for said in ["first", "second"] {
        assert_eq!(caller.said("good_echo", json!({"text": said})).await, said);
    }
    let third = caller.call("good_echo", json!({"text": "third"})).await;
    assert!(third["error"]["data"]["retryAfter"].is_u64(), "{third:#}");
    door.stop().await;
    let records = trunkline_gateway::audit::tail(site.path("audit"), usize::MAX).unwrap();
    let records: Vec<Value> = records.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let methods: Vec<&str> = records.iter().filter_map(|record| record["method"].as_str()).collect();
    assert!(!methods.is_empty() && methods.iter().all(|method| *method == "tools/call"), "{methods:?}");
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l06_a_tool_has_one_limit_at_all_addresses() {
    let site = site("doors", &json!({"perTool": {"calls": 1, "per": "1h"}}));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    assert_eq!(caller.said("good_echo", json!({"text": "once"})).await, "once");
    for (path, tool) in [("/mcp", "good_echo"), ("/mcp/server/good", "echo"), ("/mcp/flat", "echo")] {
        for revision in [MODERN, LEGACY] {
            let mut caller = Caller::at(&door, path, None, revision).await;
            let again = caller.call(tool, json!({"text": "again"})).await;
            assert!(again["error"]["data"]["retryAfter"].is_u64(), "{path} {revision}: {again:#}");
        }
    }
    let mut caller = Caller::at(&door, "/mcp/server/good", None, MODERN).await;
    let other = caller.call("pid", json!({})).await;
    assert!(text(&other).is_some(), "{other:#}");
    door.stop().await;
    site.emptied().await;
}
