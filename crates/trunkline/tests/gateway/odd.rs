//! Servers whose answers are odd: not UTF-8, floods of notifications, refusals with `Retry-After`.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    door::Door,
    site::{HANG, Site, until},
};
use serde_json::{Value, json};
use std::{
    fs,
    path::PathBuf,
    process::{Child, Command},
    time::{Duration, Instant},
};

/// Most bytes of log because of one flood.
const MOST_LOG: u64 = 2_000;

fn words() -> Vec<String> {
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "gateway", "odd_server.py"].iter().collect();
    vec!["python3".to_owned(), script.display().to_string()]
}

/// The odd server over HTTP, which is killed at the end of the test.
struct OddHttp(Child);

impl OddHttp {
    async fn start(site: &Site) -> (Self, Value) {
        let (words, port) = (words(), site.path("port"));
        let process = Self(Command::new(&words[0]).arg(&words[1]).arg(&port).spawn().unwrap());
        until(|| port.exists(), || "it does not listen".to_owned()).await;
        let port = fs::read_to_string(port).unwrap();
        (process, json!({"url": format!("http://127.0.0.1:{port}/mcp")}))
    }
}

impl Drop for OddHttp {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A gateway whose log goes to a file.
fn logged(site: &Site) -> Door {
    let mut command = site.binary();
    command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]).arg(site.path("trunkline.json"));
    let log = fs::File::create(site.path("log")).unwrap();
    Door::start_with_errors(&mut command, log.into())
}

fn log(site: &Site) -> String {
    fs::read_to_string(site.path("log")).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u18_an_answer_that_is_not_utf8_fails_at_once() {
    let site = Site::new("garbled");
    let (_http, remote) = OddHttp::start(&site).await;
    let servers = json!({"pipe": site.local("pipe", &words()), "http": remote});
    site.configure(&json!({"mcp": {"servers": servers}}));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    for server in ["pipe", "http"] {
        caller.insist(&format!("{server}_good"), json!({})).await;
        let began = Instant::now();
        let answer = caller.call(&format!("{server}_garbled"), json!({})).await;
        assert!(began.elapsed() < Duration::from_secs(30), "{server}: {:?}", began.elapsed());
        let told = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(told.contains(server) && told.contains("UTF-8"), "{server}: {answer:#}");
        assert_eq!(caller.said(&format!("{server}_good"), json!({})).await, "good was called");
    }
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u18_retry_after_of_a_server_reaches_the_client() {
    let site = Site::new("busy");
    let (_http, remote) = OddHttp::start(&site).await;
    site.configure(&json!({"mcp": {"servers": {"http": remote}}}));
    let mut door = site.open();
    for revision in [MODERN, LEGACY] {
        let mut caller = Caller::open(&door, None, revision).await;
        caller.insist("http_good", json!({})).await;
        let params = json!({"name": "http_busy", "arguments": {}});
        let answer = caller.ask(&json!(1), "tools/call", params).await.unwrap();
        assert_eq!(answer.header("retry-after"), Some("7"), "{revision}: {}", answer.text());
        assert_eq!(answer.status, 503, "{revision}: {}", answer.text());
        assert_eq!(answer.messages()[0]["error"]["data"]["retryAfter"], 7, "{}", answer.text());
    }
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u18_a_call_refused_with_429_is_repeated_after_the_pause_that_the_server_named() {
    let site = Site::new("limited");
    let (_http, remote) = OddHttp::start(&site).await;
    site.configure(&json!({"mcp": {"servers": {"http": remote}}}));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    caller.insist("http_good", json!({})).await;
    assert_eq!(caller.said("http_limited", json!({})).await, "limited was called");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u05_a_flood_of_list_changes_is_logged_in_few_lines() {
    let site = Site::new("flood");
    site.configure(&json!({"mcp": {"servers": {"odd": site.local("odd", &words())}}}));
    let mut door = logged(&site);
    let mut caller = Caller::open(&door, None, MODERN).await;
    caller.insist("odd_good", json!({})).await;
    let began = Instant::now();
    for _ in 0..5 {
        assert_eq!(caller.said("odd_flood", json!({})).await, "flood was called");
        assert!(began.elapsed() < HANG);
    }
    door.stop().await;
    let size = fs::metadata(site.path("log")).unwrap().len();
    assert!(size < MOST_LOG, "{size} bytes: {:.2000}", log(&site));
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u02_a_dead_server_is_logged_once_per_outage() {
    let site = Site::new("dead");
    let words = ["sh", "-c", "exit 7"].map(str::to_owned);
    let mut dead = site.local("dead", &words);
    dead["restart"] = json!({"first": "20ms", "most": "50ms"});
    dead["start"] = "eager".into();
    site.configure(&json!({"mcp": {"servers": {"dead": dead}}}));
    let mut door = logged(&site);
    let failures = |status: &Value| status["upstreams"][0]["failures"].as_u64();
    door.until(|status| failures(status) > Some(6)).await;
    door.stop().await;
    let log = log(&site);
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("cannot connect")).collect();
    assert_eq!(lines.len(), 1, "{log}");
    site.emptied().await;
}
