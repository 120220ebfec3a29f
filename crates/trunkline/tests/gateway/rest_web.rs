//! REST for web pages and impatient clients: CORS, quotas in headers, the page for people.

use crate::{
    installed,
    rest::{Rest, body_of, code, echo_site},
    site::Site,
};
use serde_json::{Value, json};
use std::{path::PathBuf, process::Command};

const PAGE: &str = "https://app.example.com";

fn names(list: &Value) -> Vec<String> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_lists_are_filtered_by_server() {
    let site = Site::of(
        "two",
        |site| json!({"echo": site.echo("echo", "modern"), "echo-two": site.echo("two", "legacy")}),
    );
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let all = names(&body_of(&rest.get("/mcp/tools").await));
    let one = body_of(&rest.get("/mcp/tools?server=echo").await);
    let two = names(&body_of(&rest.get("/mcp/tools?server=echo-two").await));
    assert!(one["tools"].as_array().unwrap().iter().all(|tool| tool["server"] == "echo"), "{one}");
    assert_eq!(names(&one).len() + two.len(), all.len());
    assert!(two.iter().all(|name| name.starts_with("echo-two_")), "{two:?}");
    // To a caller, an unknown server is like one that it may not use.
    assert_eq!(body_of(&rest.get("/mcp/tools?server=nowhere").await)["tools"], json!([]));
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h3_the_rest_of_a_quota_is_in_the_headers() {
    let site = Site::new("quota");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "limits": {"perCaller": {"calls": 3, "per": "1h"}},
    }));
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    for left in ["2", "1", "0"] {
        let (answer, _) = rest.execute("echo_echo", &json!({"params": {"text": "x"}})).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("ratelimit-limit"), Some("3"));
        assert_eq!(answer.header("ratelimit-remaining"), Some(left));
    }
    let (refused, body) = rest.execute("echo_echo", &json!({"params": {"text": "x"}})).await;
    assert_eq!((refused.status, code(&body)), (429, "RATE_LIMIT_ERROR"));
    assert_eq!(refused.header("ratelimit-remaining"), Some("0"));
    let seconds = |name| refused.header(name).unwrap().parse::<u64>().unwrap();
    let (wait, reset) = (seconds("retry-after"), seconds("ratelimit-reset"));
    assert!((1..=1200).contains(&wait) && (2400..=3600).contains(&reset), "{wait} {reset}");
    assert_eq!(body["error"]["details"]["retryable"], true, "{body}");
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h02_pages_of_named_origins_may_call_and_no_others() {
    let site = Site::new("cors");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "auth": {"keys": site.path("keys.json"), "origins": [PAGE]},
    }));
    let keys = site.keys(&[("ada", &[])]);
    let mut door = site.open();
    let mut rest = Rest::at(&door, Some(&keys[0].token)).await;
    let asked = |origin: &str| {
        format!(
            "Origin: {origin}\r\nAccess-Control-Request-Method: POST\r\n\
             Access-Control-Request-Headers: authorization,content-type,idempotency-key\r\n"
        )
    };
    for path in ["/mcp/tools/echo_echo/execute", "/mcp"] {
        // A browser asks without credentials.
        let allowed = rest.wire.send(&format!("OPTIONS {path}"), &asked(PAGE), "").await.unwrap();
        assert_eq!((allowed.status, allowed.header("access-control-allow-origin")), (204, Some(PAGE)));
        assert!(allowed.header("access-control-allow-methods").unwrap().contains("DELETE"));
        let headers = allowed.header("access-control-allow-headers");
        assert_eq!(headers, Some("authorization,content-type,idempotency-key"));
        assert_eq!(allowed.header("access-control-allow-credentials"), None);
        let other = asked("https://other.example.com");
        let other = rest.wire.send(&format!("OPTIONS {path}"), &other, "").await.unwrap();
        assert_eq!((other.status, other.header("access-control-allow-origin")), (403, None), "{path}");
    }
    let headers = rest.headers(&format!("Origin: {PAGE}\r\n"));
    let read = rest.wire.send("GET /mcp/tools", &headers, "").await.unwrap();
    assert_eq!((read.status, read.header("access-control-allow-origin")), (200, Some(PAGE)));
    assert!(read.header("access-control-expose-headers").unwrap().contains("ratelimit-remaining"));
    // A refusal must be readable for the page, too.
    let refused = rest.wire.send("GET /mcp/tools", &format!("Origin: {PAGE}\r\n"), "").await.unwrap();
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (401, Some(PAGE)));
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h02_without_named_origins_there_is_no_cors() {
    let site = echo_site("closed");
    let mut door = site.open();
    let mut rest = Rest::at(&door, None).await;
    let asked = format!("Origin: {PAGE}\r\nAccess-Control-Request-Method: POST\r\n");
    let refused = rest.wire.send("OPTIONS /mcp/tools", &asked, "").await.unwrap();
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (403, None));
    let own = format!("Origin: http://{}\r\n", door.address);
    let read = rest.wire.send("GET /mcp/tools", &own, "").await.unwrap();
    assert_eq!((read.status, read.header("access-control-allow-origin")), (200, None));
    door.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h1_the_page_for_people_works_in_a_browser() {
    let site = Site::new("docs-page");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "auth": {"keys": site.path("keys.json")},
    }));
    let keys = site.keys(&[("ada", &[])]);
    let mut door = site.open();
    let page = Rest::at(&door, None).await.get("/docs").await;
    let policy = page.header("content-security-policy").unwrap();
    assert!(page.status == 200 && policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "gateway", "docs_page.mjs"].iter().collect();
    let mut node = site.prepare(Command::new("node"));
    node.arg(script).args([&door.address, &keys[0].token]).env("TRUNKLINE_PEERS", installed::root());
    let output = tokio::task::spawn_blocking(move || node.output()).await.unwrap().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    door.stop().await;
}
