//! The faulty server as a protected resource and as its authorization server.

use super::Auth;
use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, Uri},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Returns the response of a server that requires a token; `None` if the request is authorized.
pub(super) fn answer(auth: &Auth, uri: &Uri, headers: &BTreeMap<String, String>) -> Option<Response<Body>> {
    let host = headers.get("host").map(String::as_str).unwrap_or_default();
    let origin = format!("http://{host}");
    let path = uri.path();
    if path.starts_with("/.well-known/oauth-protected-resource") {
        let right = json!({"resource": "$origin/mcp", "authorization_servers": ["$origin"]});
        return Some(if auth.mute {
            status(404)
        } else {
            document(auth.resource.as_ref().unwrap_or(&right), &origin)
        });
    }
    if path.starts_with("/.well-known/oauth-authorization-server") {
        let right = json!({
            "issuer": "$origin/",
            "authorization_endpoint": "$origin/authorize",
            "token_endpoint": "$origin/token",
            "registration_endpoint": "$origin/register",
            "client_id_metadata_document_supported": true,
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"]
        });
        return Some(document(auth.issuer.as_ref().unwrap_or(&right), &origin));
    }
    if path.starts_with("/.well-known/") {
        return Some(status(404));
    }
    let takes = |place: &str| auth.accepts.iter().any(|known| known == place);
    let by_header = headers.contains_key("authorization") && takes("header");
    let by_query = uri.query().is_some_and(|query| query.contains("access_token")) && takes("query");
    if by_header || by_query {
        return None;
    }
    let mut refusal = status(auth.status.unwrap_or(401));
    if !auth.mute {
        let place = format!("{origin}/.well-known/oauth-protected-resource/mcp");
        let right = format!("Bearer resource_metadata=\"{place}\", scope=\"mcp\"");
        let challenge = auth.challenge.clone().unwrap_or(right);
        let value = HeaderValue::from_str(&challenge).expect("an origin is plain");
        refusal.headers_mut().insert("www-authenticate", value);
    }
    Some(refusal)
}

fn document(value: &Value, origin: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(value.to_string().replace("$origin", origin)));
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    response
}

fn status(code: u16) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::from_u16(code).expect("a status of ours");
    response
}
