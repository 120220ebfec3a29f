//! Servers that each caller sees with an identity of its own: headers, logins, exchanged tokens.

use crate::{
    authority::{Authority, Product},
    browser::{Browser, code_of},
    caller::{Caller, LEGACY, MODERN, text},
    door::Door,
    signer::{AUDIENCE, ISSUER, Signer, claims},
    site::Site,
    upstream::upstream,
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tokio::task::JoinSet;
use trunkline_oauth::bench::{Bench, BenchOptions, Failure, LogLine};

/// Calls of each caller under load.
const CALLS: usize = 100;
const USERS: [&str; 2] = ["ada", "bob"];

pub(crate) async fn bench() -> Bench {
    Bench::start(BenchOptions::default()).await.unwrap()
}

/// A site with the bench as server `tickets` and the keys of both users.
pub(crate) fn site(name: &str, tickets: &Value, more: &Value) -> (Site, Vec<String>) {
    let site = Site::new(name);
    let mut config = json!({
        "mcp": {"servers": {"tickets": tickets, "echo": site.echo("echo", "modern")}},
        "auth": {"keys": site.path("keys.json")},
    });
    for (key, value) in more.as_object().unwrap() {
        config[key] = value.clone();
    }
    site.configure(&config);
    let keys = site.keys(&[("ada", &[]), ("bob", &[])]);
    (site, keys.into_iter().map(|key| key.token).collect())
}

pub(crate) fn login_server(bench: &Bench) -> Value {
    json!({"url": bench.server(), "oauth": {"grant": "callerLogin"}})
}

/// Both users call in turn; the arguments name the user whose token has to be used.
async fn load(door: &Door, callers: Vec<(String, Vec<(String, String)>)>) {
    let mut running = JoinSet::new();
    for (user, (key, headers)) in USERS.into_iter().zip(callers) {
        for revision in [LEGACY, MODERN] {
            let mut caller = Caller::silent(door, "/mcp", Some(&key), revision).await;
            caller.more.clone_from(&headers);
            caller.begin().await;
            running.spawn(async move {
                for number in 0..CALLS / 2 {
                    let note = format!("{user} {revision} {number}");
                    assert_eq!(caller.said("tickets_whoami", json!({"note": note})).await, user);
                    if number % 20 == 0 {
                        let others: Vec<String> =
                            caller.tools().await.into_iter().filter(|tool| tool.contains("only_")).collect();
                        assert_eq!(others, [format!("tickets_only_{user}")]);
                    }
                }
            });
        }
    }
    while let Some(done) = running.join_next().await {
        done.unwrap();
    }
}

/// The server's own log: every call has the token of the user that its arguments name.
fn crossed(log: &[LogLine]) -> (usize, usize) {
    let calls = log.iter().filter(|line| line.method == "tools/call" && line.status == 200);
    let (mut all, mut crossed) = (0, 0);
    for line in calls {
        let note: Value = serde_json::from_str(line.detail.as_deref().unwrap()).unwrap();
        let Some(meant) = note["note"].as_str().and_then(|note| note.split(' ').next()) else { continue };
        all += 1;
        crossed += usize::from(line.user.as_deref() != Some(meant));
    }
    (all, crossed)
}

/// A token of the bench for this user.
async fn bench_token(bench: &Bench, user: &str) -> String {
    let subject = format!("x.{}.x", URL_SAFE_NO_PAD.encode(json!({"sub": user}).to_string()));
    let form = form_urlencoded::Serializer::new(String::new())
        .append_pair("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")
        .append_pair("subject_token", &subject)
        .append_pair("scope", "read")
        .append_pair("client_secret", "s")
        .append_pair("resource", &bench.server())
        .finish();
    let place = bench.issuer().trim_start_matches("http://");
    let mut wire = crate::wire::Wire::open(place).await.unwrap();
    let kind = "Content-Type: application/x-www-form-urlencoded\r\n";
    let answer = wire.send("POST /token", kind, &form).await.unwrap();
    let answer: Value = serde_json::from_str(&answer.text()).unwrap();
    answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s05_headers_of_two_callers_never_cross() {
    let bench = bench().await;
    let tickets =
        json!({"url": bench.server(), "callerHeaders": {"X-Bench-Token": "Authorization"}, "oauth": false});
    let (site, keys) = site("caller-headers", &tickets, &json!({}));
    let mut door = site.open();
    let mut callers = Vec::new();
    for (user, key) in USERS.iter().zip(&keys) {
        let token = bench_token(&bench, user).await;
        callers.push((key.clone(), vec![("X-Bench-Token".to_owned(), format!("Bearer {token}"))]));
    }
    let adas = callers[0].1.clone();
    load(&door, callers.into_iter().collect()).await;
    assert_eq!(crossed(&bench.log()), (2 * CALLS, 0));
    // The same key with another value, or without the header, is another identity.
    let mut bob = Caller::open(&door, Some(&keys[1]), MODERN).await;
    let without = bob.call("tickets_whoami", json!({})).await;
    assert!(text(&without).is_none(), "{without:#}");
    bob.more = adas;
    assert_eq!(bob.said("tickets_whoami", json!({"note": "ada"})).await, "ada");
    assert_eq!(bob.said("echo_echo", json!({"text": "shared"})).await, "shared");
    // The door's own credential was never passed on.
    let seen = bench.log().iter().filter(|line| line.status == 401).count();
    assert!(seen > 0, "the request without the header reached the server");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s05_logins_of_two_callers_never_cross() {
    let bench = bench().await;
    let (site, keys) = site("caller-logins", &login_server(&bench), &json!({}));
    let mut door = site.open();
    for (user, key) in USERS.iter().zip(&keys) {
        let mut caller = Caller::open(&door, Some(key), MODERN).await;
        let tools: BTreeSet<String> = caller.tools().await.into_iter().collect();
        assert!(tools.contains("tickets_sign_in") && !tools.contains("tickets_whoami"), "{tools:?}");
        let refused = caller.call("tickets_whoami", json!({})).await;
        let link = link_of(&refused);
        // The same link until it is opened.
        assert_eq!(link_of(&caller.call("tickets_sign_in", json!({})).await), link);
        let code = Browser::code(&link, user).await;
        let done = caller.call("tickets_sign_in", json!({"code": code})).await;
        assert!(text(&done).is_some_and(|text| text.contains("signed in")), "{done:#}");
        assert_eq!(caller.insist("tickets_whoami", json!({"note": user})).await, *user);
    }
    load(&door, keys.iter().map(|key| (key.clone(), Vec::new())).collect()).await;
    let (all, wrong) = crossed(&bench.log());
    println!("{all} calls in the server's log, {wrong} with another caller's token");
    assert_eq!((all, wrong), (2 * CALLS + 2, 0));
    // One client was registered for both.
    let registered = bench.log().iter().filter(|line| line.path == "/register").count();
    assert_eq!(registered, 1);
    let sessions = upstream(&door_status(&door, &keys[0]).await, "tickets")["sessions"].clone();
    let owners: BTreeSet<&str> =
        sessions.as_array().unwrap().iter().map(|session| session["principal"].as_str().unwrap()).collect();
    assert_eq!(owners, ["key:ada", "key:bob"].into());
    // Logins outlive the gateway.
    door.stop().await;
    let mut door = site.open();
    let mut ada = Caller::open(&door, Some(&keys[0]), LEGACY).await;
    assert_eq!(ada.insist("tickets_whoami", json!({"note": "ada"})).await, "ada");
    door.stop().await;
    site.emptied().await;
}

async fn door_status(door: &Door, key: &str) -> Value {
    serde_json::from_str(&door.page("/status", Some(key)).await).unwrap()
}

/// The login link of an error, which is in its text, too.
pub(crate) fn link_of(message: &Value) -> String {
    let data = &message["error"]["data"];
    let link = data["loginUrl"].as_str().unwrap_or_else(|| panic!("{message:#}")).to_owned();
    assert!(message["error"]["message"].as_str().unwrap().contains(&link), "{message:#}");
    assert_eq!(data["elicitations"][0]["url"], link.as_str(), "{message:#}");
    link
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o06_a_login_can_be_finished_by_its_own_caller_and_browser_only() {
    let bench = bench().await;
    let (site, keys) = site("stolen-logins", &login_server(&bench), &json!({}));
    let mut door = site.open();
    let mut ada = Caller::open(&door, Some(&keys[0]), MODERN).await;
    let mut eve = Caller::open(&door, Some(&keys[1]), MODERN).await;
    let link = link_of(&ada.call("tickets_sign_in", json!({})).await);
    let mut browser = Browser::default();
    // A form of another site does not start it, and a preview does not use it up.
    let target = link.split_once("/login").unwrap().1;
    let mut wire = crate::wire::Wire::open(&door.address).await.unwrap();
    for (headers, status) in [("Origin: https://evil.example\r\n", 403), ("", 403)] {
        let refused = wire.send(&format!("POST /login{target}"), headers, "").await.unwrap();
        assert_eq!(refused.status, status, "{}", refused.text());
    }
    let page = browser.start(&link).await;
    // The link was used.
    assert_eq!(Browser::default().submit(&link).await.status, 400);
    let back = Browser::sign_in(&page, "ada").await;
    // Another browser has no cookie, and its answer changes nothing.
    let refused = Browser::default().come_back(&back).await;
    assert!(refused.status == 400 && code_of(&refused).is_none(), "{}", refused.text());
    let code = code_of(&browser.come_back(&back).await).unwrap();
    assert_eq!(browser.come_back(&back).await.status, 400, "an answer counts once");
    // The person who finished has to be the caller: nobody else can use the code, and without it
    // the login does not count.
    for wrong in [code.clone(), String::from("AAAA-AAAA")] {
        let refused = eve.call("tickets_sign_in", json!({"code": wrong})).await;
        assert!(text(&refused).is_none(), "{refused:#}");
    }
    let refused = ada.call("tickets_whoami", json!({})).await;
    assert!(text(&refused).is_none(), "{refused:#}");
    let code = code.replace('-', "").to_lowercase();
    ada.said("tickets_sign_in", json!({"code": code})).await;
    assert_eq!(ada.insist("tickets_whoami", json!({})).await, "ada");
    // Eve sends her link to Ada, who signs in; Eve does not see the code, and guesses in vain.
    let link = link_of(&eve.call("tickets_sign_in", json!({})).await);
    let code = Browser::code(&link, "ada").await;
    for number in 0..6 {
        let refused = eve.call("tickets_sign_in", json!({"code": format!("AAAA-AAA{number}")})).await;
        assert!(text(&refused).is_none(), "{refused:#}");
    }
    let late = eve.call("tickets_sign_in", json!({"code": code})).await;
    assert!(text(&late).is_none(), "after too many guesses the tokens are discarded: {late:#}");
    assert_eq!(bench.log().iter().filter(|line| line.user.as_deref() == Some("bob")).count(), 0);
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_with_url_elicitation_is_asked_and_its_call_goes_on() {
    let bench = bench().await;
    let (site, keys) = site("asked-logins", &login_server(&bench), &json!({}));
    let mut door = site.open();
    let mut ada = Caller::open(&door, Some(&keys[0]), MODERN).await;
    ada.capabilities = json!({"elicitation": {"url": {}, "form": {}}});
    let mut call = json!({"name": "tickets_whoami", "arguments": {"note": "ada"}});
    let asked = ada.request("tools/call", call.clone()).await;
    let question = &asked["result"]["inputRequests"]["sign-in"]["params"];
    assert_eq!(question["mode"], "url", "{asked:#}");
    let code = Browser::code(question["url"].as_str().unwrap(), "ada").await;
    call["requestState"] = asked["result"]["requestState"].clone();
    call["inputResponses"] = json!({"sign-in": {"action": "accept"}});
    let asked = ada.request("tools/call", call.clone()).await;
    assert!(asked["result"]["inputRequests"]["code"].is_object(), "{asked:#}");
    call["requestState"] = asked["result"]["requestState"].clone();
    call["inputResponses"] = json!({"code": {"action": "accept", "content": {"code": code}}});
    let answered = ada.request("tools/call", call).await;
    assert_eq!(text(&answered).as_deref(), Some("ada"), "{answered:#}");
    // The tokens become invalid: the caller is asked again, and nobody else's are used.
    bench.set(Failure::RefreshRefused, true);
    bench.expire_tokens();
    let asked = ada.call("tickets_whoami", json!({})).await;
    assert_eq!(asked["result"]["inputRequests"]["sign-in"]["params"]["mode"], "url", "{asked:#}");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o08_fifty_calls_with_an_expired_token_cause_one_refresh() {
    let bench = bench().await;
    let (site, keys) = site("expired-logins", &login_server(&bench), &json!({}));
    let mut door = site.open();
    let mut ada = Caller::open(&door, Some(&keys[0]), MODERN).await;
    let link = link_of(&ada.call("tickets_sign_in", json!({})).await);
    let code = Browser::code(&link, "ada").await;
    ada.said("tickets_sign_in", json!({"code": code})).await;
    ada.insist("tickets_whoami", json!({})).await;
    bench.expire_tokens();
    let mut running = JoinSet::new();
    for _ in 0..50 {
        let mut caller = Caller::open(&door, Some(&keys[0]), MODERN).await;
        running.spawn(async move { caller.said("tickets_whoami", json!({})).await });
    }
    let said = running.join_all().await;
    assert!(said.iter().all(|user| user == "ada"), "{said:?}");
    assert_eq!(bench.grants("refresh_token"), 1);
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s05_exchanged_tokens_of_two_callers_never_cross() {
    let bench = bench().await;
    let (site, signer) = (Site::new("exchanged"), Signer::new("k1"));
    site.write("secret", "a-long-secret-of-the-gateway");
    let oauth = json!({
        "grant": "tokenExchange",
        "tokenEndpoint": format!("{}/token", bench.issuer()),
        "clientId": "gateway",
        "clientSecret": format!("{{file:{}}}", site.path("secret").display()),
        "scopes": ["read"],
    });
    site.write("jwks.json", &signer.jwks());
    site.configure(&json!({
        "mcp": {"servers": {"tickets": {"url": bench.server(), "oauth": oauth}}},
        "auth": {
            "keys": site.path("keys.json"),
            "jwt": {"issuer": ISSUER, "audience": AUDIENCE, "jwks": site.path("jwks.json")},
        },
    }));
    let keys = site.keys(&[("ada", &[])]);
    let token = |user: &str| {
        let mut claims = claims();
        claims["sub"] = user.into();
        signer.sign(&signer.header(), &claims)
    };
    let mut door = site.open();
    let callers: Vec<(String, Vec<(String, String)>)> =
        USERS.iter().map(|user| (token(user), Vec::new())).collect();
    load(&door, callers.clone()).await;
    assert_eq!(crossed(&bench.log()), (2 * CALLS, 0));
    let exchange = "urn:ietf:params:oauth:grant-type:token-exchange";
    assert_eq!(bench.grants(exchange), 2, "each token is exchanged once");
    // A caller with a key has nothing to exchange, whatever its name is.
    let mut keyed = Caller::open(&door, Some(&keys[0].token), MODERN).await;
    let refused = keyed.call("tickets_whoami", json!({})).await;
    assert!(text(&refused).is_none(), "{refused:#}");
    assert_eq!(bench.grants(exchange), 2);
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_caller_signs_in_at_a_real_authorization_server() {
    let authority = Authority::start(Product::NodeOidcProvider);
    let tickets = json!({"url": authority.server, "oauth": {"grant": "callerLogin"}});
    let (site, keys) = site("real-login", &tickets, &json!({}));
    let mut door = site.open();
    let mut ada = Caller::open(&door, Some(&keys[0]), LEGACY).await;
    let link = link_of(&ada.call("tickets_whoami", json!({})).await);
    let mut browser = Browser::default();
    let page = browser.start(&link).await;
    let shown = browser.come_back(&Browser::follow(&page).await).await;
    let code = code_of(&shown).unwrap_or_else(|| panic!("{}", shown.text()));
    ada.said("tickets_sign_in", json!({"code": code})).await;
    assert!(ada.insist("tickets_whoami", json!({})).await.starts_with("tester"));
    let mut bob = Caller::open(&door, Some(&keys[1]), LEGACY).await;
    link_of(&bob.call("tickets_whoami", json!({})).await);
    door.stop().await;
    site.emptied().await;
}
