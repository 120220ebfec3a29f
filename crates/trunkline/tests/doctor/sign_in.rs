//! The chain from a 401 to a token.

use crate::{
    site::{Said, Site, json, reply},
    visit::{Folder, Visit, about},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};

/// A protected server with the given metadata documents; `SELF` is replaced by its own address.
fn protected(resource: Option<&'static str>, server: Option<&'static str>) -> Visit {
    let site = Site::new(move |asked| {
        let host =
            asked.head.split("\nhost: ").nth(1).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let filled = |document: &str| json(&document.replace("SELF", &format!("http://{host}")));
        let missing = || reply(404, "", "");
        match asked.path.as_str() {
            "/mcp" => reply(401, "www-authenticate: Bearer", ""),
            "/.well-known/oauth-protected-resource/mcp" => resource.map_or_else(missing, filled),
            "/.well-known/oauth-authorization-server" => server.map_or_else(missing, filled),
            _ => missing(),
        }
    });
    about(&site.url("/mcp"))
}

const RESOURCE: &str = r#"{"resource":"SELF/mcp","authorization_servers":["SELF"]}"#;
const SERVER: &str = r#"{"issuer":"SELF","authorization_endpoint":"SELF/authorize","registration_endpoint":"SELF/register","code_challenge_methods_supported":["S256"]}"#;

#[test]
fn a_server_that_wants_a_token_and_says_whose() {
    let visit = protected(Some(RESOURCE), Some(SERVER));
    visit.names("sign-in-required", 3, "/authorize");
    assert_eq!(visit.broken_step(), "token-obtained");
}

#[test]
fn a_server_that_does_not_say_whose_token_it_wants() {
    protected(None, None).names("sign-in-metadata-missing", 3, "WWW-Authenticate: Bearer resource_metadata=");
}

#[test]
fn metadata_for_another_address_or_of_nobody() {
    let other = r#"{"resource":"https://other.example/mcp","authorization_servers":["SELF"]}"#;
    protected(Some(other), Some(SERVER)).names(
        "sign-in-metadata-wrong",
        3,
        "\"resource\": \"http://127.0.0.1",
    );
    let nobody = r#"{"resource":"SELF/mcp","authorization_servers":[]}"#;
    protected(Some(nobody), Some(SERVER)).names("sign-in-metadata-wrong", 3, "\"authorization_servers\"");
}

#[test]
fn an_issuer_that_does_not_answer_or_is_another() {
    protected(Some(RESOURCE), None).names("issuer-unreachable", 3, "/.well-known/oauth-authorization-server");
    let other = r#"{"issuer":"https://other.example","code_challenge_methods_supported":["S256"]}"#;
    protected(Some(RESOURCE), Some(other)).names("issuer-mismatch", 3, "\"issuer\": \"http://127.0.0.1");
}

#[test]
fn an_issuer_without_pkce() {
    let plain = r#"{"issuer":"SELF","code_challenge_methods_supported":["plain"]}"#;
    protected(Some(RESOURCE), Some(plain)).names("no-pkce", 3, "S256");
}

/// An examination with a token that the server refuses.
fn refused(token: &str) -> Visit {
    let site = Site::new(|_| reply(401, "www-authenticate: Bearer error=\"invalid_token\"", ""));
    Folder::new().visit(&["-H", &format!("Authorization: Bearer {token}"), &site.url("/mcp")], &[])
}

fn token(claims: &str) -> String {
    format!("eyJhbGciOiJub25lIn0.{}.c2lnbmF0dXJl", URL_SAFE_NO_PAD.encode(claims))
}

#[test]
fn tokens_that_are_refused_for_a_reason_that_can_be_read() {
    refused(&token(r#"{"exp":1000000000}"#)).names("token-expired", 3, "get a new token");
    let visit = refused(&token(r#"{"exp":4000000000,"aud":"https://other.example"}"#));
    visit.names("token-audience", 3, "resource=http://127.0.0.1");
    let visit = refused("opaque-canary-token");
    visit.names("token-refused", 3, "Authorization: Bearer");
    assert!(!visit.said.to_string().contains("opaque-canary"));
}

#[test]
fn a_token_without_the_scope() {
    let site = Site::new(|_| {
        reply(403, "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"files:write\"", "")
    });
    let visit = Folder::new().visit(&["-H", "Authorization: Bearer abcdefgh", &site.url("/mcp")], &[]);
    visit.names("scope-missing", 3, "files:write");
}

#[test]
fn metadata_of_strangers_is_not_asked_for_with_our_headers() {
    let stranger = Site::new(|asked| {
        assert!(!asked.head.contains("canary"), "{}", asked.head);
        Said::Whole(String::new())
    });
    let place = stranger.url("/metadata");
    let site = Site::new(move |_| {
        reply(401, &format!("www-authenticate: Bearer resource_metadata=\"{place}\""), "")
    });
    let visit =
        Folder::new().visit(&["-H", "X-Extra: canary-value", "--timeout", "3s", &site.url("/mcp")], &[]);
    visit.names("sign-in-metadata-missing", 3, "TOKEN");
}
