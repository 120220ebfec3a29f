//! Lists are kept between runs: the first list after a start is complete.

use crate::{
    caller::{Caller, MODERN},
    site::{Site, until},
};
use serde_json::{Value, json};
use std::fs;

/// The echoing server, which starts only when the file `hold` is gone.
fn held(site: &Site) -> Value {
    let mut server = site.echo("slow", "modern");
    let command = server["command"].as_array_mut().unwrap();
    let script = "while [ -e hold ]; do sleep 0.05; done; exec \"$@\"";
    command.splice(0..0, ["sh", "-c", script, "sh"].map(Value::from));
    server
}

fn kept(site: &Site) -> usize {
    fs::read_dir(site.path(".cache/trunkline/lists")).map_or(0, Iterator::count)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_list_after_a_restart_is_complete_though_the_server_is_still_starting() {
    let site = Site::of("kept", |site| json!({"slow": held(site)}));
    let mut door = site.open();
    let first = Caller::open(&door, None, MODERN).await.tools().await;
    assert!(first.contains(&"slow_echo".to_owned()), "{first:?}");
    until(|| kept(&site) == 1, || "no lists were kept".to_owned()).await;
    door.stop().await;

    fs::write(site.path("hold"), "").unwrap();
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    assert_eq!(caller.tools().await, first, "known from the last run");
    fs::remove_file(site.path("hold")).unwrap();
    door.until(|status| status["upstreams"][0]["stale"] == json!(false)).await;
    assert_eq!(caller.tools().await, first);
    door.stop().await;

    // Another command is another server: nothing is known of it.
    fs::write(site.path("hold"), "").unwrap();
    let mut other = held(&site);
    other["command"].as_array_mut().unwrap().push("other".into());
    site.configure(&json!({"mcp": {"servers": {"slow": other}}, "limits": {"listGrace": "10ms"}}));
    let mut door = site.open();
    let list = Caller::open(&door, None, MODERN).await.request("tools/list", json!({})).await;
    assert_eq!(list["result"]["_meta"]["trunkline/missing"], json!(["slow"]), "{list}");
    fs::remove_file(site.path("hold")).unwrap();
    door.stop().await;
}

/// Number of lists after the first one, and the seconds that each would take if it waited.
const LATER_LISTS: u32 = 20;
const GRACE: u32 = 5;

#[tokio::test]
async fn a_dead_server_delays_only_the_first_list() {
    let site = Site::new("dead");
    let servers =
        json!({"good": site.echo("good", "modern"), "dead": site.local("dead", &["false".to_owned()])});
    site.configure(&json!({"mcp": {"servers": servers}, "limits": {"listGrace": format!("{GRACE}s")}}));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    assert!(caller.tools().await.contains(&"good_echo".to_owned()));
    let began = std::time::Instant::now();
    for _ in 0..LATER_LISTS {
        assert!(caller.tools().await.contains(&"good_echo".to_owned()));
    }
    let took = began.elapsed();
    assert!(took.as_secs() < u64::from(LATER_LISTS * GRACE / 2), "{LATER_LISTS} lists took {took:?}");
    door.stop().await;
}
