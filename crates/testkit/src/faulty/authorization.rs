//! The right documents and challenges of a server that wants a token.

use super::{Script, conversation::Heard};
use serde_json::{Value, json};

/// The well-known document at this address, if the server wants tokens.
pub(super) fn document(script: &Script, heard: &Heard<'_>) -> Option<Value> {
    script.offer.get("auth")?;
    let origin = origin(heard);
    match (heard.http?, heard.path?) {
        ("GET", "/.well-known/oauth-protected-resource/mcp") => Some(json!({
            "resource": format!("{origin}/mcp"),
            "authorization_servers": [origin],
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["mcp"],
        })),
        ("GET", "/.well-known/oauth-authorization-server") => Some(json!({
            "issuer": origin,
            "authorization_endpoint": format!("{origin}/authorize"),
            "token_endpoint": format!("{origin}/token"),
            "registration_endpoint": format!("{origin}/register"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        })),
        _ => None,
    }
}

/// What a request without the right token is told.
pub(super) fn challenge(script: &Script, heard: &Heard<'_>) -> Option<String> {
    let token = script.offer.get("auth")?.as_str()?;
    let given = heard.headers.get("authorization");
    if given.is_some_and(|given| given.strip_prefix("Bearer ") == Some(token)) {
        return None;
    }
    let place = format!("{}/.well-known/oauth-protected-resource/mcp", origin(heard));
    Some(format!("Bearer resource_metadata=\"{place}\", scope=\"mcp\""))
}

fn origin(heard: &Heard<'_>) -> String {
    format!("http://{}", heard.headers.get("host").map_or("localhost", String::as_str))
}
