//! Logins that change while the gateway runs: more scopes, sign-outs, and their records.

use crate::{
    browser::{Browser, code_of},
    caller::{Caller, LEGACY, MODERN, text},
    door::Door,
    identities::{bench, link_of, login_server, site},
    site::{HANG, PAUSE, Site},
};
use serde_json::{Value, json};
use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
    time::Instant,
};
use trunkline_oauth::bench::{Bench, Failure};

/// Signs a caller in without any elicitation.
async fn sign_in(caller: &mut Caller, user: &str) {
    let link = link_of(&caller.call("tickets_sign_in", json!({})).await);
    let code = Browser::code(&link, user).await;
    caller.said("tickets_sign_in", json!({"code": code})).await;
    assert_eq!(caller.insist("tickets_whoami", json!({})).await, user);
}

/// Waits until the caller has exactly these tools of the server.
async fn until_tools(caller: &mut Caller, wanted: &[&str]) {
    let began = Instant::now();
    loop {
        let mut tools = caller.tools().await;
        tools.retain(|tool| tool.starts_with("tickets_"));
        tools.sort();
        if tools == wanted {
            return;
        }
        assert!(began.elapsed() < HANG, "{tools:?}");
        tokio::time::sleep(PAUSE).await;
    }
}

/// The events of the audit trail: what happened, and to whom.
fn events(site: &Site) -> Vec<(String, String, String)> {
    let records = trunkline_gateway::audit::tail(site.path("audit"), usize::MAX).unwrap();
    let lines = records.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let word = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    lines
        .filter(|line| line["kind"] == "event")
        .map(|line| (word(&line, "what"), word(&line, "caller"), word(&line, "detail")))
        .collect()
}

fn with_audit(site: &Site) -> Value {
    json!({"enabled": true, "directory": site.path("audit")})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o12_a_caller_widens_its_login_when_the_server_asks_for_more_scopes() {
    let bench = bench().await;
    let (site, keys) = site("step-up", &login_server(&bench), &json!({}));
    let mut door = site.open();
    for revision in [MODERN, LEGACY] {
        let (user, key) = if revision == MODERN { ("ada", &keys[0]) } else { ("bob", &keys[1]) };
        let mut caller = Caller::open(&door, Some(key), revision).await;
        sign_in(&mut caller, user).await;
        let asked = caller.call("tickets_admin", json!({})).await;
        let link = link_of(&asked);
        assert!(asked["error"]["message"].as_str().unwrap().contains("(admin)"), "{asked:#}");
        // Until then the old login goes on.
        assert_eq!(caller.said("tickets_whoami", json!({})).await, user);
        let mut browser = Browser::default();
        let page = browser.start(&link).await;
        assert!(page.contains("scope=read+admin"), "both scopes are asked for: {page}");
        let shown = browser.come_back(&Browser::sign_in(&page, user).await).await;
        caller.said("tickets_sign_in", json!({"code": code_of(&shown).unwrap()})).await;
        for tool in ["tickets_admin", "tickets_whoami"] {
            assert_eq!(caller.said(tool, json!({})).await, user);
        }
    }
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_with_url_elicitation_is_asked_for_more_scopes_and_its_call_goes_on() {
    let bench = bench().await;
    let (site, keys) = site("asked-step-up", &login_server(&bench), &json!({}));
    let mut door = site.open();
    let mut ada = Caller::open(&door, Some(&keys[0]), MODERN).await;
    sign_in(&mut ada, "ada").await;
    ada.capabilities = json!({"elicitation": {"url": {}, "form": {}}});
    let mut call = json!({"name": "tickets_admin", "arguments": {}});
    let asked = ada.request("tools/call", call.clone()).await;
    let question = &asked["result"]["inputRequests"]["sign-in"]["params"];
    assert!(question["message"].as_str().unwrap().contains("(admin)"), "{asked:#}");
    let code = Browser::code(question["url"].as_str().unwrap(), "ada").await;
    call["requestState"] = asked["result"]["requestState"].clone();
    call["inputResponses"] = json!({"sign-in": {"action": "accept"}});
    let asked = ada.request("tools/call", call.clone()).await;
    call["requestState"] = asked["result"]["requestState"].clone();
    call["inputResponses"] = json!({"code": {"action": "accept", "content": {"code": code}}});
    let answered = ada.request("tools/call", call).await;
    assert_eq!(text(&answered).as_deref(), Some("ada"), "{answered:#}");
    // A server that is never content is asked once per call, and other tools still work.
    bench.set(Failure::ScopeLoop, true);
    ada.capabilities = json!({});
    let refused = ada.call("tickets_admin", json!({})).await;
    assert!(text(&refused).is_none(), "{refused:#}");
    bench.set(Failure::ScopeLoop, false);
    assert_eq!(ada.said("tickets_whoami", json!({})).await, "ada");
    door.stop().await;
    site.emptied().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn o12_a_service_account_asks_for_more_scopes_by_itself_or_says_what_is_missing() {
    let bench = bench().await;
    let site = Site::new("service-step-up");
    site.write("secret", "a-long-secret-of-the-gateway");
    let oauth = json!({
        "grant": "clientCredentials",
        "clientId": "gateway",
        "clientSecret": format!("{{file:{}}}", site.path("secret").display()),
    });
    let servers = json!({"tickets": {"url": bench.server(), "oauth": oauth}});
    site.configure(&json!({"mcp": {"servers": servers}, "audit": with_audit(&site)}));
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    assert_eq!(caller.insist("tickets_whoami", json!({})).await, "service");
    assert_eq!(caller.said("tickets_admin", json!({})).await, "service");
    assert_eq!(bench.grants("client_credentials"), 2, "one token for each set of scopes");
    bench.set(Failure::ScopeLoop, true);
    let refused = caller.call("tickets_admin", json!({})).await.to_string();
    assert!(refused.contains("still asks for more scopes") && refused.contains("read admin"), "{refused}");
    assert!(refused.contains("check the client's credentials and scopes"), "{refused}");
    assert!(!refused.contains("auth login"), "nobody can sign in for a service account: {refused}");
    door.stop().await;
    site.emptied().await;
    let logins: Vec<_> = events(&site).into_iter().filter(|(what, ..)| what == "login").collect();
    assert!(logins[1].2.contains("scopes `read admin`"), "{logins:?}");
}

/// `auth login` of the operator, without a browser.
async fn operator_login(site: &Site, more: &[&str]) {
    let mut command = site.binary();
    command.args(["auth", "login", "tickets", "--headless"]).args(more);
    command.env("TRUNKLINE_CONFIG", site.path("trunkline.json"));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut told = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    let page = told.find_map(|line| line.ok().filter(|line| line.trim_start().starts_with("http://")));
    let answer = Browser::sign_in(page.unwrap().trim(), "operator").await;
    writeln!(child.stdin.as_mut().unwrap(), "{answer}").unwrap();
    drop(told);
    assert!(child.wait().unwrap().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_gateway_takes_over_a_login_with_more_scopes() {
    let bench = bench().await;
    let site = Site::new("widened");
    site.configure(&json!({"mcp": {"servers": {"tickets": {"url": bench.server()}}}}));
    operator_login(&site, &[]).await;
    let mut door = site.open();
    let mut caller = Caller::open(&door, None, MODERN).await;
    assert_eq!(caller.insist("tickets_whoami", json!({})).await, "operator");
    let refused = caller.call("tickets_admin", json!({})).await.to_string();
    assert!(refused.contains("trunkline auth login tickets --scope admin"), "{refused}");
    operator_login(&site, &["--scope", "admin"]).await;
    assert_eq!(caller.said("tickets_admin", json!({})).await, "operator");
    door.stop().await;
    site.emptied().await;
}

fn revocations(bench: &Bench) -> usize {
    bench.log().iter().filter(|line| line.path == "/revoke" && line.status == 200).count()
}

async fn open_both(door: &Door, keys: &[String]) -> (Caller, Caller) {
    let mut ada = Caller::open(door, Some(&keys[0]), MODERN).await;
    let mut bob = Caller::open(door, Some(&keys[1]), LEGACY).await;
    sign_in(&mut ada, "ada").await;
    sign_in(&mut bob, "bob").await;
    (ada, bob)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s05_a_sign_out_ends_the_login_of_its_caller_only_and_is_recorded() {
    let bench = bench().await;
    let (site, keys) = site("sign-out", &login_server(&bench), &json!({}));
    let config = std::fs::read_to_string(site.path("trunkline.json")).unwrap();
    let mut config: Value = serde_json::from_str(&config).unwrap();
    config["audit"] = with_audit(&site);
    site.configure(&config);
    let mut door = site.open();
    let (mut ada, mut bob) = open_both(&door, &keys).await;
    let mut second = Caller::open(&door, Some(&keys[0]), LEGACY).await;
    assert_eq!(second.insist("tickets_whoami", json!({})).await, "ada");
    bench.expire_tokens();
    assert_eq!(ada.said("tickets_whoami", json!({})).await, "ada");
    let said = ada.said("tickets_sign_out", json!({})).await;
    assert_eq!(said, "You are signed out of `tickets`.");
    assert_eq!(revocations(&bench), 2, "refresh token and access token");
    // All sessions of this caller end, and nothing of the other caller does.
    for caller in [&mut ada, &mut second] {
        until_tools(caller, &["tickets_sign_in"]).await;
        link_of(&caller.call("tickets_whoami", json!({})).await);
    }
    assert_eq!(bob.said("tickets_whoami", json!({})).await, "bob");
    let own = ["tickets_admin", "tickets_only_bob", "tickets_sign_in", "tickets_sign_out", "tickets_whoami"];
    until_tools(&mut bob, &own).await;
    // The operator signs the other caller out.
    let mut command = site.binary();
    command.args(["auth", "logout", "tickets", "--user", "key:bob"]);
    let run = command.env("TRUNKLINE_CONFIG", site.path("trunkline.json")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&run.stdout), "signed out; the tokens were revoked\n");
    link_of(&bob.call("tickets_whoami", json!({})).await);
    door.stop().await;
    site.emptied().await;
    let found = events(&site);
    let of = |what: &str, who: &str| found.iter().filter(|(w, c, _)| w == what && c == who).count();
    assert_eq!((of("login", "key:ada"), of("login", "key:bob")), (1, 1), "{found:?}");
    assert_eq!((of("login-renewed", "key:ada"), of("logout", "key:ada")), (1, 1), "{found:?}");
    assert_eq!(of("logout", "key:bob"), 0, "{found:?}");
    let login = found.iter().find(|(what, ..)| what == "login").unwrap();
    assert!(login.2.contains("server `tickets`") && login.2.contains("scopes `read`"), "{login:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn x01_an_enforced_lock_and_allowed_names_leave_our_own_tools() {
    let bench = bench().await;
    let mut tickets = login_server(&bench);
    tickets["allow"] = json!(["whoami", "only_*"]);
    let (site, keys) = site("locked-logins", &tickets, &json!({"lock": "enforce"}));
    operator_login(&site, &[]).await;
    let mut lock = site.binary();
    let locked = lock.args(["lock", "--config"]).arg(site.path("trunkline.json")).output().unwrap();
    assert_eq!(locked.status.code(), Some(0), "{locked:?}");
    let mut door = site.open();
    let mut ada = Caller::open(&door, Some(&keys[0]), MODERN).await;
    until_tools(&mut ada, &["tickets_sign_in"]).await;
    sign_in(&mut ada, "ada").await;
    // `only_ada` was not accepted, `admin` is not allowed.
    until_tools(&mut ada, &["tickets_sign_in", "tickets_sign_out", "tickets_whoami"]).await;
    ada.said("tickets_sign_out", json!({})).await;
    until_tools(&mut ada, &["tickets_sign_in"]).await;
    door.stop().await;
    site.emptied().await;
}
