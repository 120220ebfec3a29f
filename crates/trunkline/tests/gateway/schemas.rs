//! Schemas of servers and arguments of callers that are designed to exhaust memory and CPU time.

use crate::{
    caller::{Caller, LEGACY, MODERN, text},
    processes,
    site::Site,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use tokio::task::JoinSet;

/// Number of concurrent calls whose arguments are too expensive to check.
const CALLS: usize = 12;
/// Memory limit of the gateway with all of them, in KiB.
const MEMORY_KIB: u64 = 400 * 1024;

/// Number of tools whose compiled schemas take half a gigabyte in all, each within its own limits.
const LARGE: usize = 300;

fn site() -> Site {
    site_with("schemas", 0)
}

fn site_with(name: &str, large: usize) -> Site {
    let site = Site::new(name);
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "hostile_schemas.py"].iter().collect();
    let words = ["python3".to_owned(), script.display().to_string(), large.to_string()];
    let mut hostile = site.local("hostile", &words);
    hostile["arguments"] = "checked".into();
    let servers = json!({"hostile": hostile, "good": site.echo("good", "modern")});
    site.configure(&json!({"mcp": {"servers": servers}}));
    site
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn j13_tools_whose_schemas_unfold_are_set_aside_with_the_reason() {
    let site = site();
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, LEGACY).await;
    caller.insist("hostile_honest", json!({"text": "x"})).await;
    let tools = caller.tools().await;
    for (tool, offered) in [("honest", true), ("deep", true), ("wide", false), ("tall", false)] {
        assert_eq!(tools.contains(&format!("hostile_{tool}")), offered, "{tool}: {tools:?}");
        let answer = caller.call(&format!("hostile_{tool}"), json!({"a": {"b": 1}})).await;
        assert!(offered || answer["error"].is_object(), "{tool}: {answer:#}");
    }
    let status = door.status().await.to_string();
    for part in ["wide", "tall", "the schema is too expensive"] {
        assert!(status.contains(part), "{part}: {status}");
    }
    assert!(processes::resident_kib(door.pid()) < MEMORY_KIB);
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn j13_arguments_that_unfold_are_refused_while_others_are_served() {
    let site = site();
    let mut door = site.open();
    let mut good = Caller::open(&door, None, MODERN).await;
    good.insist("good_echo", json!({"text": "there"})).await;
    good.insist("hostile_honest", json!({"text": "there"})).await;
    let deep = (0..60).fold(json!(1), |inner, _| json!({"a": inner}));
    let long = json!({"a": "ab".repeat(50_000)});
    let mut calls = JoinSet::new();
    for number in 0..CALLS {
        let (tool, arguments) = if number % 2 == 0 { ("deep", deep.clone()) } else { ("text", long.clone()) };
        let mut caller = Caller::open(&door, None, [LEGACY, MODERN][number / 2 % 2]).await;
        calls.spawn(async move { caller.call(&format!("hostile_{tool}"), arguments).await });
    }
    let mut refused = 0;
    while refused < CALLS {
        assert!(door.page("/healthz", None).await.contains("ok"));
        assert_eq!(good.said("good_echo", json!({"text": "fine"})).await, "fine");
        while let Some(answer) = calls.try_join_next() {
            let answer: Value = answer.unwrap();
            assert!(answer["error"]["message"].as_str().unwrap().contains("too expensive"), "{answer:#}");
            refused += 1;
        }
    }
    let fits = good.call("hostile_deep", json!({"b": {"a": 1}})).await;
    assert_eq!(text(&fits).as_deref(), Some("deep was called"), "{fits:#}");
    assert!(processes::resident_kib(door.pid()) < MEMORY_KIB);
    door.stop().await;
    site.emptied().await;
}

/// The caller disconnects during the check; no work must keep running.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn j13_a_check_ends_soon_after_its_caller_left() {
    let site = site();
    let mut door = site.open();
    let mut good = Caller::open(&door, None, MODERN).await;
    good.insist("hostile_honest", json!({"text": "there"})).await;
    let deep = (0..60).fold(json!(1), |inner, _| json!({"a": inner}));
    for _ in 0..CALLS {
        let mut caller = Caller::open(&door, None, MODERN).await;
        let call = tokio::spawn({
            let deep = deep.clone();
            async move { caller.call("hostile_deep", deep).await }
        });
        assert!(door.page("/healthz", None).await.contains("ok"));
        call.abort();
    }
    // The slots for long checks are free again, so another call is answered.
    let answer = good.call("hostile_deep", deep).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("too expensive"), "{answer:#}");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn j13_many_large_schemas_have_one_memory_budget() {
    let site = site_with("large-schemas", LARGE);
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    caller.insist("hostile_honest", json!({"text": "x"})).await;
    let tools = caller.tools().await;
    assert_eq!(tools.iter().filter(|tool| tool.starts_with("hostile_large")).count(), LARGE);
    let listed = processes::resident_kib(door.pid());
    for number in 0..LARGE {
        let said = caller.said(&format!("hostile_large{number}"), json!({"a": 1})).await;
        assert_eq!(said, format!("large{number} was called"));
    }
    let called = processes::resident_kib(door.pid());
    println!("{listed} KiB after the list, {called} KiB after all calls");
    assert!(listed < MEMORY_KIB && called < MEMORY_KIB, "{listed}, {called} KiB");
    // Tools whose checker was evicted are still checked.
    let wrong = caller.call("hostile_honest", json!({"text": 1})).await;
    assert_eq!(wrong["result"]["isError"], true, "{wrong:#}");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn j13_arguments_too_large_to_check_are_refused() {
    let site = site();
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    caller.insist("hostile_honest", json!({"text": "x"})).await;
    let large = "x".repeat(1100 * 1024);
    // A plain schema is checked while the text is read, whatever its length.
    caller.said("hostile_honest", json!({"text": large})).await;
    for (tool, arguments) in [("honest", json!({"text": 1, "more": large})), ("deep", json!({"b": large}))] {
        let answer = caller.call(&format!("hostile_{tool}"), arguments).await;
        let told = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(told.contains("1048576"), "{tool}: {}", &answer.to_string()[..200]);
    }
    door.stop().await;
    site.emptied().await;
}
