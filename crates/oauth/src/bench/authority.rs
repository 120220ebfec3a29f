//! The authorization server of the bench. Its page asks nobody: it redirects at once.

use super::{
    Failure,
    http_server::{Asked, json, text, with_header},
    state::{Grant, LogLine, State},
};
use crate::random;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::{Response, StatusCode, header};
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};
use tokio::time::Instant;
use url::Url;

const HUGE: usize = 1024 * 1024;
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";

pub(super) fn answer(state: &State, asked: &Asked) -> Response<Bytes> {
    let form = asked.form();
    let response = match (asked.method.as_str(), asked.path.as_str()) {
        ("GET", "/.well-known/oauth-authorization-server") => metadata(state),
        ("POST", "/register") => register(state, &asked.json()),
        ("GET", "/authorize") => authorize(state, &asked.query),
        ("POST", "/token") => token(state, asked, &form),
        ("POST", "/revoke") => {
            state.revoke(form.get("token").map_or("", String::as_str));
            json(StatusCode::OK, &json!({}))
        }
        _ => text(StatusCode::NOT_FOUND, "text/plain", "not found"),
    };
    state.note(LogLine {
        server: "authorization",
        method: asked.method.clone(),
        path: asked.path.clone(),
        grant: form.get("grant_type").filter(|_| asked.path == "/token").cloned(),
        user: None,
        detail: None,
        status: response.status().as_u16(),
    });
    response
}

fn metadata(state: &State) -> Response<Bytes> {
    if state.has(Failure::IssuerUnknown) {
        return text(StatusCode::NOT_FOUND, "text/plain", "not found");
    }
    let at = |path: &str| format!("{}{path}", state.issuer());
    let mut document = json!({
        "issuer": if state.has(Failure::OtherIssuer) { "https://other.example".to_owned() } else { at("") },
        "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"),
        "revocation_endpoint": at("/revoke"),
        "registration_endpoint": at("/register"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    });
    for (failure, member, value) in [
        (Failure::ScriptEndpoint, "authorization_endpoint", json!("javascript:alert(1)")),
        (Failure::PrivateEndpoint, "token_endpoint", json!("http://192.0.2.1/token")),
        (Failure::PlainPkce, "code_challenge_methods_supported", json!(["plain"])),
        (Failure::NoPkce, "code_challenge_methods_supported", Value::Null),
        (Failure::NoRegistration, "registration_endpoint", Value::Null),
    ] {
        if state.has(failure) {
            document[member] = value;
        }
    }
    json(StatusCode::OK, &document)
}

fn register(state: &State, request: &Value) -> Response<Bytes> {
    if state.has(Failure::RegistrationRefused) {
        let said = "clients of this kind are not registered";
        let refusal = json!({"error": "invalid_client_metadata", "error_description": said});
        return json(StatusCode::BAD_REQUEST, &refusal);
    }
    let mut registered = request.clone();
    registered["client_id"] = format!("client-{}", random::token().unwrap_or_default()).into();
    if state.has(Failure::RegistrationHuge) {
        registered["client_id"] = "x".repeat(HUGE).into();
    }
    json(StatusCode::CREATED, &registered)
}

/// Redirects at once. The user is `bench_user` of the request.
fn authorize(state: &State, query: &BTreeMap<String, String>) -> Response<Bytes> {
    let get = |name: &str| query.get(name).cloned().unwrap_or_default();
    let bad = |why: &str| text(StatusCode::BAD_REQUEST, "text/plain", why);
    let Ok(mut redirect) = Url::parse(&get("redirect_uri")) else { return bad("no redirect_uri") };
    if get("code_challenge_method") != "S256" || get("code_challenge").is_empty() {
        return bad("no PKCE with S256");
    }
    if get("resource") != state.resource() {
        return bad("the resource is missing or wrong");
    }
    let user = query.get("bench_user").cloned().unwrap_or_else(|| "tester".to_owned());
    let grant = Grant {
        user,
        scope: get("scope"),
        client: get("client_id"),
        challenge: get("code_challenge"),
        redirect_uri: get("redirect_uri"),
        resource: get("resource"),
        expires: None,
    };
    {
        let mut pairs = redirect.query_pairs_mut();
        if state.has(Failure::Denied) {
            pairs.append_pair("error", "access_denied");
            pairs.append_pair("error_description", "<script>alert(1)</script> consent was refused");
        } else {
            pairs.append_pair("code", &state.issue_code(grant));
        }
        let given = get("state");
        pairs.append_pair("state", if state.has(Failure::WrongState) { "wrong" } else { &given });
        let slash = format!("{}/", state.issuer());
        if state.has(Failure::IssWrong) {
            pairs.append_pair("iss", "https://other.example");
        } else if state.has(Failure::IssSlash) {
            pairs.append_pair("iss", &slash);
        } else if !state.has(Failure::IssMissing) {
            pairs.append_pair("iss", state.issuer());
        }
    }
    with_header(text(StatusCode::FOUND, "text/plain", ""), header::LOCATION, redirect.as_str())
}

fn token(state: &State, asked: &Asked, form: &BTreeMap<String, String>) -> Response<Bytes> {
    let get = |name: &str| form.get(name).map_or("", String::as_str);
    if state.has(Failure::TokenDown) {
        return text(StatusCode::SERVICE_UNAVAILABLE, "text/plain", "down");
    }
    if state.has(Failure::TokenPage) {
        return text(StatusCode::OK, "text/html", "<html>sign in</html>");
    }
    if get("resource") != state.resource() {
        return refused("invalid_target", "the resource is missing or wrong");
    }
    match get("grant_type") {
        "authorization_code" => {
            let Some(grant) = state.take_code(get("code")).filter(|_| !state.has(Failure::CodeRefused))
            else {
                return refused("invalid_grant", "the code is unknown or was used");
            };
            let fits = random::challenge(get("code_verifier")) == grant.challenge
                && get("redirect_uri") == grant.redirect_uri
                && get("client_id") == grant.client;
            if !fits {
                return refused("invalid_grant", "verifier, redirect URI or client do not fit the code");
            }
            issue(state, grant, Renewal::New)
        }
        "refresh_token" => refresh(state, get("refresh_token")),
        "client_credentials" => {
            if asked.authorization.is_none()
                && get("client_secret").is_empty()
                && get("client_assertion").is_empty()
            {
                return refused("invalid_client", "the client did not prove its identity");
            }
            issue(state, unattended("service", get("scope"), state), Renewal::Never)
        }
        EXCHANGE => match subject_of(get("subject_token")) {
            _ if asked.authorization.is_none() && get("client_secret").is_empty() => {
                refused("invalid_client", "the client did not prove its identity")
            }
            Some(user) => issue(state, unattended(&user, get("scope"), state), Renewal::Never),
            None => refused("invalid_request", "the subject token is no JWT with a subject"),
        },
        _ => refused("unsupported_grant_type", "unknown grant"),
    }
}

/// The grant of a client without a user at a browser.
fn unattended(user: &str, scope: &str, state: &State) -> Grant {
    Grant {
        user: user.to_owned(),
        scope: scope.to_owned(),
        client: String::new(),
        challenge: String::new(),
        redirect_uri: String::new(),
        resource: state.resource(),
        expires: None,
    }
}

/// The subject of a JWT, which the bench does not verify.
fn subject_of(token: &str) -> Option<String> {
    let claims = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    claims["sub"].as_str().map(str::to_owned)
}

fn refresh(state: &State, token: &str) -> Response<Bytes> {
    if state.has(Failure::RefreshDown) {
        return text(StatusCode::SERVICE_UNAVAILABLE, "text/plain", "down");
    }
    if state.has(Failure::RefreshRefused) {
        return refused("invalid_grant", "the refresh token was revoked");
    }
    if state.has(Failure::KeepsRefreshToken) {
        return match state.refresh(token) {
            Some(grant) => issue(state, grant, Renewal::Never),
            None => refused("invalid_grant", "unknown refresh token"),
        };
    }
    match state.take_refresh(token) {
        Some(grant) => issue(state, grant, Renewal::New),
        None => refused("invalid_grant", "the refresh token was used before"),
    }
}

/// The refresh token of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Renewal {
    New,
    Never,
}

fn issue(state: &State, grant: Grant, renewal: Renewal) -> Response<Bytes> {
    let lifetime = state.lifetime();
    let expires = Some(Instant::now() + Duration::from_secs(lifetime));
    let access = state.issue_access(Grant { expires, ..grant.clone() });
    let mut answer = json!({"access_token": access, "token_type": "Bearer", "expires_in": lifetime});
    if !grant.scope.is_empty() {
        answer["scope"] = grant.scope.clone().into();
    }
    if renewal == Renewal::New && !state.has(Failure::NoRefreshToken) {
        answer["refresh_token"] = state.issue_refresh(grant).into();
    }
    for (failure, member, value) in [
        (Failure::TokenType, "token_type", json!("mac")),
        (Failure::LifetimeZero, "expires_in", json!(0)),
        (Failure::LifetimeNegative, "expires_in", json!(-1)),
        (Failure::LifetimeMissing, "expires_in", Value::Null),
    ] {
        if state.has(failure) {
            answer[member] = value;
        }
    }
    json(StatusCode::OK, &answer)
}

fn refused(code: &str, said: &str) -> Response<Bytes> {
    json(StatusCode::BAD_REQUEST, &json!({"error": code, "error_description": said}))
}
