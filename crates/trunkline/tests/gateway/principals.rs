//! Callers of different kinds are different callers, whatever their ids are.

use crate::{
    caller::{Caller, LEGACY, MODERN},
    door::Door,
    signer::{AUDIENCE, ISSUER, Signer, claims},
    site::Site,
    wire::Wire,
};
use serde_json::{Value, json};
use std::fs;

/// A site with keys and tokens, and the issuer of the tokens.
fn issued(name: &str, scopes: &[&str], roles: &Value) -> (Site, Signer, String) {
    let (site, signer) = (Site::new(name), Signer::new("k1"));
    site.write("jwks.json", &signer.jwks());
    let mut jwt = json!({"issuer": ISSUER, "audience": AUDIENCE, "jwks": site.path("jwks.json")});
    if !scopes.is_empty() {
        jwt["scopes"] = json!(scopes);
    }
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "roles": roles,
        "auth": {"keys": site.path("keys.json"), "jwt": jwt},
        "audit": {"directory": site.path("audit")},
    }));
    let keys = site.keys(&[("ada", &[])]);
    (site, signer, keys[0].token.clone())
}

fn token(signer: &Signer, subject: &str, scope: &str) -> String {
    let mut claims = claims();
    claims["sub"] = subject.into();
    claims["scope"] = scope.into();
    signer.sign(&signer.header(), &claims)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a15_a_subject_is_neither_the_local_caller_nor_a_key() {
    let roles = json!({
        "owner": {"allow": ["*"], "callers": ["local"]},
        "adas": {"allow": ["echo_echo"], "callers": ["ada"]},
        "bobs": {"allow": ["echo_pid"], "callers": [format!("jwt:{ISSUER}#bob")]},
    });
    let (site, signer, key) = issued("principals", &[], &roles);
    let mut door = site.open();
    let mut ada = Caller::open(&door, Some(&key), LEGACY).await;
    ada.insist("echo_echo", json!({"text": "there"})).await;
    for (subject, tools) in [("local", 0), ("ada", 0), ("key:ada", 0), ("bob", 1)] {
        let mut caller = Caller::open(&door, Some(&token(&signer, subject, "")), MODERN).await;
        let seen = caller.tools().await;
        assert_eq!(seen.len(), tools, "{subject}: {seen:?}");
    }
    let mut thief = Caller::silent(&door, "/mcp", Some(&token(&signer, "ada", "")), LEGACY).await;
    thief.session.clone_from(&ada.session);
    let stolen = thief.ask(&json!(1), "tools/list", json!({})).await.unwrap();
    assert_eq!(stolen.status, 404, "{}", stolen.text());
    assert_eq!(ada.said("echo_echo", json!({"text": "still"})).await, "still");
    door.stop().await;
    site.emptied().await;
    let records: String = fs::read_dir(site.path("audit"))
        .unwrap()
        .filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok())
        .collect();
    for principal in ["key:ada", "jwt:https://id.example#bob", "jwt:https://id.example#local"] {
        assert!(records.contains(&format!("\"caller\":\"{principal}\"")), "{principal}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a14_a_token_without_all_scopes_is_403_and_told_all_that_it_lacks() {
    let (site, signer, _) = issued("scopes", &["tools:read", "tools:call", "base"], &json!({}));
    let mut door = site.open();
    let mut wire = Wire::open(&door.address).await.unwrap();
    let key = |scope: &str| format!("Authorization: Bearer {}\r\n", token(&signer, "ada", scope));
    let lacking = wire.send("GET /status", &key("base other"), "").await.unwrap();
    assert_eq!(lacking.status, 403, "{}", lacking.text());
    let challenge = lacking.header("www-authenticate").unwrap();
    assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
    assert!(challenge.contains("scope=\"tools:read tools:call\""), "{challenge}");
    let none = wire.send("GET /status", "", "").await.unwrap();
    let challenge = none.header("www-authenticate").unwrap();
    assert!(challenge.contains("scope=\"tools:read tools:call base\""), "{challenge}");
    let enough = wire.send("GET /status", &key("base tools:call tools:read"), "").await.unwrap();
    assert_eq!(enough.status, 200, "{}", enough.text());
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a14_a_token_whose_scopes_give_no_role_is_403_and_told_all_that_would() {
    let roles = json!({
        "reader": {"allow": ["echo_echo"], "scopes": ["tools:read"]},
        "writer": {"allow": ["*"], "scopes": ["tools:write", "admin"]},
    });
    let (site, signer, key) = issued("roleless", &[], &roles);
    let mut door = site.open();
    for revision in [LEGACY, MODERN] {
        let other = token(&signer, "ada", "other");
        let mut caller = Caller::silent(&door, "/mcp", Some(&other), revision).await;
        let hello = json!({
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": {"name": "by-hand", "version": "1"},
        });
        let (method, params) =
            if revision == LEGACY { ("initialize", hello) } else { ("tools/list", json!({})) };
        let refused = caller.ask(&json!(1), method, params).await.unwrap();
        assert_eq!(refused.status, 403, "{}", refused.text());
        let challenge = refused.header("www-authenticate").unwrap();
        assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
        assert!(challenge.contains("scope=\"admin tools:read tools:write\""), "{challenge}");
    }
    let mut reader = Caller::open(&door, Some(&token(&signer, "ada", "tools:read")), MODERN).await;
    assert_eq!(reader.tools().await, ["echo_echo"]);
    // A key cannot get other scopes by asking for them.
    let mut keyed = Caller::open(&door, Some(&key), MODERN).await;
    assert_eq!(keyed.tools().await, [""; 0]);
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a14_a_bridge_tells_a_token_without_a_role_the_scopes_that_would_give_one() {
    let roles = json!({"reader": {"allow": ["echo_echo"], "scopes": ["tools:read"]}});
    let (site, signer, _) = issued("bridged-scopes", &[], &roles);
    let mut command = site.binary();
    command.env("TRUNKLINE_CONFIG", site.path("trunkline.json"));
    command.args(["bridge", "echo", "--json", "--listen", "127.0.0.1:0"]);
    command.args(["--issuer", ISSUER, "--audience", AUDIENCE, "--jwks"]).arg(site.path("jwks.json"));
    let mut door = Door::start(&mut command);
    let mut stranger = Caller::silent(&door, "/mcp", Some(&token(&signer, "ada", "other")), MODERN).await;
    let refused = stranger.ask(&json!(1), "tools/list", json!({})).await.unwrap();
    assert_eq!(refused.status, 403, "{}", refused.text());
    let challenge = refused.header("www-authenticate").unwrap();
    assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
    assert!(challenge.contains("scope=\"tools:read\""), "{challenge}");
    let mut reader = Caller::open(&door, Some(&token(&signer, "ada", "tools:read")), MODERN).await;
    assert_eq!(reader.tools().await, ["echo"]);
    door.stop().await;
    site.emptied().await;
}

/// The default share of sessions of one caller.
const SHARE: usize = 256;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s07_one_key_cannot_hold_the_sessions_of_all() {
    let site = Site::new("share");
    site.configure(&json!({
        "mcp": {"servers": {"echo": site.echo("echo", "modern")}},
        "auth": {"keys": site.path("keys.json")},
        "limits": {"sessions": SHARE + 1},
    }));
    let keys = site.keys(&[("greedy", &[]), ("modest", &[])]);
    let mut door = site.open();
    let mut first = Caller::open(&door, Some(&keys[0].token), LEGACY).await;
    for _ in 1..SHARE {
        first.session = None;
        first.begin().await;
    }
    first.session = None;
    let hello = json!({
        "protocolVersion": LEGACY,
        "capabilities": {},
        "clientInfo": {"name": "by-hand", "version": "1"},
    });
    let refused = first.ask(&json!(0), "initialize", hello).await.unwrap();
    assert_eq!(refused.status, 503, "{}", refused.text());
    Caller::open(&door, Some(&keys[1].token), LEGACY).await;
    door.stop().await;
    site.emptied().await;
}
