//! `kill -9` at random points with executions under way: none is lost, none runs twice, and each
//! ends in a state that the tool's own log does not contradict.

use crate::{
    door::Door,
    redis_process::RedisProcess,
    rest::{JSON, Rest},
    site::{Site, rounds},
    wire::Wire,
};
use futures_util::future::join_all;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    fs,
    time::{Duration, Instant, SystemTime},
};

/// Executions under way when the gateway is killed.
const EXECUTIONS: usize = 20;
/// Points tried at once: each waits for leases and processes most of the time.
const AT_ONCE: usize = 8;

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

/// Starts executions at once, kills the gateway at a random moment, and compares what the next one
/// says with the tool's log. Returns the final states.
async fn killed(site: &Site, store: &Value, point: usize) -> Vec<String> {
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "store": store,
        "limits": {"executions": 10, "executionBytes": 1 << 30},
    }));
    let (gate, log) = (site.path("gate"), site.path("log"));
    let mut door = site.open();
    let whole = rehearsed(&door).await;
    let starting = join_all((0..EXECUTIONS).map(|number| {
        // Half of them end when the gate opens, the others wait at one that never does.
        let path = if number % 2 == 0 { gate.clone() } else { site.path("never") };
        let params = json!({"text": number.to_string(), "path": path, "log": log, "steps": 2});
        start(&door, number, json!({"params": params, "mode": "async"}))
    }));
    let opening = async {
        tokio::time::sleep(whole.mul_f64(random(point) / 2.0)).await;
        fs::write(&gate, "").unwrap();
    };
    let killing = async {
        tokio::time::sleep(whole.mul_f64(random(point) * 1.5)).await;
        door.signal(Signal::KILL);
    };
    let (accepted, (), ()) = tokio::join!(starting, opening, killing);
    door.ended().await;
    site.emptied().await;
    let ran = runs(&fs::read_to_string(&log).unwrap_or_default());
    assert!(ran.values().all(|(begun, ended)| *begun <= 1 && *ended <= 1), "one ran twice: {ran:?}");

    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let mut states = Vec::new();
    for (number, id) in accepted.into_iter().flatten() {
        let record = rest.reaches(&id, &["done", "failed", "unknown", "cancelled"]).await;
        let state = record["state"].as_str().unwrap().to_owned();
        let (begun, ended) = ran.get(&number.to_string()).copied().unwrap_or_default();
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

/// Starts an execution. `None` if the gateway was killed before it answered.
async fn start(door: &Door, number: usize, body: Value) -> Option<(usize, String)> {
    let mut wire = Wire::open(&door.address).await.ok()?;
    let sent = wire.send("POST /mcp/tools/echo_gate/execute", JSON, &body.to_string()).await;
    let answer = sent.ok()?;
    let told: Value = serde_json::from_str(&answer.text()).ok()?;
    assert_eq!(answer.status, 202, "{told}");
    Some((number, told["executionId"].as_str().unwrap().to_owned()))
}

/// Runs as many executions to their end, and returns the time that they took: the points are spread
/// over that time, however busy the machine is.
async fn rehearsed(door: &Door) -> Duration {
    // The first call starts the server.
    Rest::at(door, None).await.execute("echo_echo", &json!({"params": {"text": "x"}})).await;
    let began = Instant::now();
    join_all((0..EXECUTIONS).map(|_| async {
        let mut rest = Rest::at(door, None).await;
        let id = rest.start("echo_echo", &json!({"text": "x", "steps": 2})).await;
        rest.get(&format!("/mcp/executions/{id}?wait=30")).await
    }))
    .await;
    began.elapsed()
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
    format!(
        "{points} points, {} executions accepted: {done} done, {failed} failed, {unknown} unknown",
        states.len()
    )
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
