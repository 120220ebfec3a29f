//! The gateway between callers and authorization servers must not be made to sign in for somebody
//! else.

use crate::{
    browser::{Browser, code_of},
    caller::{Caller, MODERN},
    identities::{bench, link_of, login_server, site},
    wire::Wire,
};
use serde_json::json;
use url::Url;

/// The value of a query parameter.
fn parameter(address: &str, name: &str) -> String {
    let url = Url::parse(address).unwrap();
    let mut pairs = url.query_pairs().filter(|(known, _)| known == name);
    let value = pairs.next().unwrap_or_else(|| panic!("{name} in {address}")).1.into_owned();
    assert!(pairs.next().is_none(), "{name} twice in {address}");
    value
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a10_an_earlier_consent_starts_no_login_of_another_caller() {
    let bench = bench().await;
    let (site, keys) = site("deputy", &login_server(&bench), &json!({}));
    let mut door = site.open();
    let mut ada = Caller::open(&door, Some(&keys[0]), MODERN).await;
    let mut eve = Caller::open(&door, Some(&keys[1]), MODERN).await;
    let visited = || bench.log().iter().filter(|line| line.path == "/authorize").count();
    // Ada signs in; her browser keeps its cookie, and the authorization server knows her.
    let mut browser = Browser::default();
    let page = browser.start(&link_of(&ada.call("tickets_sign_in", json!({})).await)).await;
    let (callback, state) = (parameter(&page, "redirect_uri"), parameter(&page, "state"));
    let origin = format!("http://{}", door.address);
    assert_eq!(callback, format!("{origin}/login/callback"));
    let shown = browser.come_back(&Browser::sign_in(&page, "ada").await).await;
    ada.said("tickets_sign_in", json!({"code": code_of(&shown).unwrap()})).await;
    let before = visited();

    // Her browser opens Eve's link, with a redirect of Eve's choice: it shows who asks, and leads
    // nowhere before the button is pressed. There is no `state` before that.
    let link = link_of(&eve.call("tickets_sign_in", json!({})).await);
    let evil = format!("{link}&redirect_uri=https%3A%2F%2Fevil.example%2F&state={state}");
    let target = evil.strip_prefix(&origin).unwrap();
    let mut wire = Wire::open(&door.address).await.unwrap();
    let asked = wire.send(&format!("GET {target}"), &browser.cookies(), "").await.unwrap();
    assert!(asked.status == 200 && asked.text().contains("key:bob"), "{}", asked.text());
    assert!(asked.header("location").is_none() && asked.header("set-cookie").is_none());
    let policy = asked.header("content-security-policy").unwrap();
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert_eq!(visited(), before);

    // After the button, the redirect is exactly ours, and the state is new.
    let begun = browser.submit(&evil).await;
    let page = begun.header("location").unwrap().to_owned();
    assert_eq!(parameter(&page, "redirect_uri"), callback);
    let second = parameter(&page, "state");
    assert!(second != state && second.len() >= 32, "{second}");
    let cookie = begun.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Lax", "Path=/login"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    // A state that was used, or never given, finishes nothing; nor does the right one with the
    // cookie of another login.
    let used = format!("{callback}?code=x&state={state}&iss={}", bench.issuer());
    let unknown = format!("{callback}?code=x&state={}&iss={}", "a".repeat(43), bench.issuer());
    for back in [used, unknown] {
        assert_eq!(browser.come_back(&back).await.status, 400, "{back}");
    }
    let mut other = Browser::default();
    other.start(&link_of(&eve.call("tickets_sign_in", json!({})).await)).await;
    let back = Browser::sign_in(&page, "ada").await;
    let refused = other.come_back(&back).await;
    assert!(refused.status == 400 && code_of(&refused).is_none(), "{}", refused.text());
    // Ada's login is still hers.
    assert_eq!(ada.insist("tickets_whoami", json!({})).await, "ada");
    link_of(&eve.call("tickets_whoami", json!({})).await);
    door.stop().await;
    site.emptied().await;
}
