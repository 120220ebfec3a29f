//! A view that lists three tools in place of all: search, describe, call.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    site::Site,
};
use serde_json::{Value, json};
use std::fs;

fn site(name: &str) -> Site {
    let site = Site::new(name);
    let servers = json!({"one": site.echo("one", "legacy"), "two": site.echo("two", "modern")});
    let audit = json!({"enabled": true, "directory": site.path("audit")});
    let views = json!({"short": {"disclosure": "names"}, "whole": {}});
    site.configure(&json!({"mcp": {"servers": servers}, "audit": audit, "disclosure": "search",
        "toolBudget": 2000, "views": views}));
    site
}

fn text(message: &Value) -> &str {
    message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message:#}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_are_found_and_called_by_their_real_names_in_both_eras() {
    let site = site("disclosed");
    let door = site.open();
    // The first list starts the servers.
    Caller::open(&door, None, LEGACY).await.tools().await;
    door.until(|status| status["catalog"]["costs"][0]["tools"] == 16).await;
    for era in [LEGACY, MODERN] {
        let mut caller = Caller::open(&door, None, era).await;
        assert_eq!(caller.tools().await, ["search_tools", "describe_tool", "call_tool"]);
        let found = caller.call("search_tools", json!({"query": "which process is it", "limit": 2})).await;
        assert!(text(&found).contains("_pid()\n  Tells the process"), "{found:#}");
        let told = caller.call("describe_tool", json!({"names": ["two_echo"]})).await;
        assert!(text(&told).contains("\"steps\""), "{told:#}");
        let wanted = json!({"name": "two_echo", "arguments": {"text": "hello"}});
        let answer = caller.call("call_tool", wanted).await;
        assert_eq!(text(&answer), "hello");
        let unknown = caller.call("call_tool", json!({"name": "two_nothing"})).await;
        assert!(unknown.to_string().contains("unknown tool `two_nothing`"), "{unknown:#}");
    }
    // A tool can be called from the command line, too; its schema decides the types of values.
    for path in ["", "/short"] {
        let endpoint = format!("{}{path}", door.endpoint);
        let called =
            site.binary().args(["call", &endpoint, "two_echo", "text=hi", "steps=1"]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&called.stdout), "hi\n", "{path}: {called:?}");
    }
    let unknown = site.binary().args(["call", &door.endpoint, "two_nothing"]).output().unwrap();
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("E204"), "{unknown:?}");
    let status = door.status().await;
    let costs = &status["catalog"]["costs"];
    let tokens = |place: usize, which: &str| costs[place][which].as_u64().unwrap();
    assert!(tokens(0, "listedTokens") < tokens(0, "allTokens"), "{costs:#}");
    assert!(tokens(1, "listedTokens") < tokens(1, "allTokens"), "names only: {costs:#}");
    assert_eq!(tokens(2, "listedTokens"), tokens(2, "allTokens"), "{costs:#}");
    assert!(status["catalog"]["servers"][0]["tokens"].as_u64().unwrap() > 100, "{status:#}");
    let table = site.binary().arg("status").arg(&door.endpoint).output().unwrap();
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("/mcp: 16 tools, about "), "{table}");
    drop(door);
    let files = fs::read_dir(site.path("audit")).unwrap().map(|entry| entry.unwrap().path());
    let trail: String = files.filter_map(|file| fs::read_to_string(file).ok()).collect();
    assert!(trail.contains("two_echo") && !trail.contains("call_tool"), "{trail}");
}

#[test]
fn list_cost_shows_the_dearest_first() {
    let site = site("cost");
    let run = |words: &[&str]| {
        let output = site.binary().args(words).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    };
    let echo = site.echo("one", "legacy");
    let mut words = vec!["list", "--cost", "--json", "--"];
    words.extend(echo["command"].as_array().unwrap().iter().filter_map(Value::as_str));
    let told = run(&words);
    let tokens: Vec<u64> =
        told["tools"].as_array().unwrap().iter().map(|tool| tool["tokens"].as_u64().unwrap()).collect();
    assert_eq!(tokens.len(), 8);
    assert!(tokens.windows(2).all(|pair| pair[0] >= pair[1]), "{told:#}");
    assert_eq!(told["tokens"].as_u64().unwrap(), tokens.iter().sum::<u64>());
}
