//! Guesses from an address lock out nobody else behind it.

use crate::{
    caller::{Caller, LEGACY},
    door::Door,
    site::Site,
    wire::{Answer, Wire},
};
use serde_json::json;
use trunkline_auth::keys;

/// More guesses than are answered at once.
const GUESSES: usize = 25;
const TRIES: usize = 60;

fn guarded(name: &str, proxies: Option<&str>) -> (Site, String) {
    let site = Site::new(name);
    let mut auth = json!({"keys": site.path("keys.json")});
    if let Some(proxies) = proxies {
        auth["trustedProxies"] = json!([proxies]);
    }
    site.configure(&json!({"mcp": {"servers": {"echo": site.echo("echo", "modern")}}, "auth": auth}));
    let keys = site.keys(&[("ada", &[])]);
    (site, keys[0].token.clone())
}

/// Sends a wrong key with these further headers.
async fn guess(door: &Door, headers: &str) -> Answer {
    guess_with(door, &keys::generate().token, headers).await
}

async fn guess_with(door: &Door, token: &str, headers: &str) -> Answer {
    let mut wire = Wire::open(&door.address).await.unwrap();
    let headers = format!("Authorization: Bearer {token}\r\n{headers}");
    wire.send("GET /status", &headers, "").await.unwrap()
}

/// True if a guess is refused for its number and not for its key.
fn is_slowed(answer: &Answer) -> bool {
    let slowed = answer.status == 429;
    assert!(slowed || answer.status == 401, "{}: {}", answer.status, answer.text());
    let wait = answer.header("retry-after").map(|wait| wait.parse::<u64>().unwrap());
    assert_eq!(wait.is_some_and(|wait| (1..=60).contains(&wait)), slowed, "{wait:?}");
    slowed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a13_a_valid_key_passes_while_its_address_guesses() {
    let (site, key) = guarded("lockout", None);
    let mut door = site.open();
    let mut session = Caller::open(&door, Some(&key), LEGACY).await;
    session.insist("echo_echo", json!({"text": "there"})).await;
    let mut slowed = 0;
    for number in 0..GUESSES {
        // Only a trusted proxy may name the address of a client.
        let claimed = format!("X-Forwarded-For: 203.0.113.{number}\r\n");
        slowed += usize::from(is_slowed(&guess(&door, &claimed).await));
    }
    assert!(slowed > 0, "no guess was slowed down");
    for _ in 0..TRIES {
        door.page("/status", Some(&key)).await;
        assert_eq!(session.said("echo_echo", json!({"text": "still"})).await, "still");
        assert!(is_slowed(&guess(&door, "").await));
    }
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a13_behind_a_trusted_proxy_guesses_count_for_the_address_that_made_them() {
    let (site, key) = guarded("proxied", Some("127.0.0.0/8"));
    let mut door = site.open();
    let from = |address: &str| format!("X-Forwarded-For: 198.51.100.1, {address}\r\n");
    let mut slowed = 0;
    for _ in 0..GUESSES {
        slowed += usize::from(is_slowed(&guess(&door, &from("203.0.113.7")).await));
    }
    assert!(slowed > 0, "no guess was slowed down");
    assert!(!is_slowed(&guess(&door, &from("203.0.113.8")).await));
    assert!(!is_slowed(&guess(&door, "Forwarded: for=203.0.113.9;proto=https\r\n").await));
    assert!(is_slowed(&guess(&door, "Forwarded: for=203.0.113.7\r\n").await));
    // One key, guessed from many addresses.
    let mut slowed = 0;
    for number in 0..GUESSES {
        let token = format!("tl_abcdefghijkl{number:040}");
        let address = from(&format!("192.0.2.{number}"));
        slowed += usize::from(is_slowed(&guess_with(&door, &token, &address).await));
    }
    assert!(slowed > 0, "no guess was slowed down");
    door.page("/status", Some(&key)).await;
    door.stop().await;
    site.emptied().await;
}

#[test]
fn a13_a_proxy_that_is_no_address_is_refused_at_start() {
    let (site, _) = guarded("no-address", Some("proxy.example"));
    let mut command = site.binary();
    command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(site.path("trunkline.json"));
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("trustedProxies") && told.contains("proxy.example"), "{told}");
}
