//! `kill -9` at random points with executions under way: none is lost, none runs twice, and each
//! ends in a state that the tool's own log does not contradict.

use crate::{
    redis_process::RedisProcess,
    rest::Rest,
    site::{Site, rounds},
};
use futures_util::future::join_all;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    fs,
    time::{Duration, SystemTime},
};

/// Executions under way when the gateway is killed.
const EXECUTIONS: usize = 20;
/// Points tried at once: each waits for leases and processes most of the time.
const AT_ONCE: usize = 8;
/// The latest point, counted from the first request.
const LATEST: Duration = Duration::from_millis(400);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e04_killed_at_random_points_with_a_store_on_disk() {
    let points = rounds(6, 200);
    let mut states = Vec::new();
    for batch in 0..points.div_ceil(AT_ONCE) {
        let these = (batch * AT_ONCE)..points.min((batch + 1) * AT_ONCE);
        states.extend(
            join_all(these.map(|point| async move {
                let site = Site::new(&format!("killed-disk-{point}"));
                let store = json!({"path": site.path("store.redb")});
                killed(&site, &store, point).await
            }))
            .await,
        );
    }
    println!("disk: {}", report(points, &states.concat()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e04_killed_at_random_points_with_a_store_in_redis() {
    let points = rounds(4, 200);
    let redis = RedisProcess::start().await;
    let mut states = Vec::new();
    for batch in 0..points.div_ceil(AT_ONCE) {
        let these = (batch * AT_ONCE)..points.min((batch + 1) * AT_ONCE);
        let url = redis.url();
        states.extend(
            join_all(these.map(|point| {
                let url = url.clone();
                async move {
                    let site = Site::new(&format!("killed-redis-{point}"));
                    killed(&site, &json!({ "url": url }), point).await
                }
            }))
            .await,
        );
    }
    println!("redis: {}", report(points, &states.concat()));
}

/// Starts executions, kills the gateway at a random moment, and compares what the next one says
/// with the tool's log. Returns the final states.
async fn killed(site: &Site, store: &Value, point: usize) -> Vec<String> {
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "store": store,
        "limits": {"executions": 10},
    }));
    let (open, log) = (site.path("trunkline.json"), site.path("log"));
    let mut door = site.open();
    // The server is started before the clock runs, so that points are spread over the executions.
    Rest::at(&door, None).await.execute("echo_echo", &json!({"params": {"text": "x"}})).await;
    let killed_after = LATEST.mul_f64(random(point));
    let mut rest = Rest::at(&door, None).await;
    let starting = async {
        let mut accepted = Vec::new();
        for number in 0..EXECUTIONS {
            // Half of them end at once, the others wait at a gate that never opens.
            let path = if number % 2 == 0 { open.clone() } else { site.path("never") };
            let params = json!({"text": number.to_string(), "path": path, "log": log, "steps": 2});
            let body = json!({"params": params, "mode": "async"}).to_string();
            let headers = rest.headers(crate::rest::JSON);
            let sent = rest.wire.send("POST /mcp/tools/echo_gate/execute", &headers, &body).await;
            let Ok(answer) = sent else { break };
            let told: Value = serde_json::from_str(&answer.text()).unwrap();
            assert_eq!(answer.status, 202, "{told}");
            accepted.push((number, told["executionId"].as_str().unwrap().to_owned()));
        }
        accepted
    };
    let killing = async {
        tokio::time::sleep(killed_after).await;
        door.signal(Signal::KILL);
    };
    let (accepted, ()) = tokio::join!(starting, killing);
    door.ended().await;
    site.emptied().await;
    let ran = runs(&fs::read_to_string(&log).unwrap_or_default());

    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let mut states = Vec::new();
    for (number, id) in accepted {
        let record = rest.reaches(&id, &["done", "failed", "unknown", "cancelled"]).await;
        let state = record["state"].as_str().unwrap().to_owned();
        let (begun, ended) = ran.get(&number.to_string()).copied().unwrap_or_default();
        assert!(begun <= 1 && ended <= 1, "{number} ran twice: {ran:?}");
        match state.as_str() {
            "done" => assert_eq!((begun, ended), (1, 1), "{record}"),
            // Only an execution that had not begun is called failed.
            "failed" => assert_eq!((begun, ended), (0, 0), "{record}"),
            "unknown" => {}
            other => panic!("{other}: {record}"),
        }
        states.push(state);
    }
    assert_eq!(runs(&fs::read_to_string(&log).unwrap_or_default()), ran, "the new gateway ran something");
    door.stop().await;
    states
}

/// Number of starts and ends of each execution, as the tool tells it.
fn runs(log: &str) -> HashMap<String, (usize, usize)> {
    let mut runs: HashMap<String, (usize, usize)> = HashMap::new();
    for line in log.lines() {
        let (word, number) = line.split_once(' ').unwrap();
        let run = runs.entry(number.to_owned()).or_default();
        match word {
            "begin" => run.0 += 1,
            _ => run.1 += 1,
        }
    }
    runs
}

/// The number of executions in each state.
fn report(points: usize, states: &[String]) -> String {
    let count = |wanted: &str| states.iter().filter(|state| *state == wanted).count();
    let (done, failed, unknown) = (count("done"), count("failed"), count("unknown"));
    assert!(!states.is_empty(), "no execution was ever accepted");
    format!("{points} points, {done} done, {failed} failed, {unknown} unknown")
}

/// A number from 0 to 1; the first points are spread evenly.
fn random(point: usize) -> f64 {
    let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos();
    if point < 4 {
        (f64::from(u32::try_from(point).unwrap()) + 0.5) / 4.0
    } else {
        f64::from(nanos % 100_000) / 100_000.0
    }
}
