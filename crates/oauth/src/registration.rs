//! Finds our client id at an authorization server: configured, by metadata document, or registered.

use crate::{
    AuthMethod, ClientIdentity, ClientSource, IssuerMetadata, OAuthError, Secret,
    error::said,
    scopes::split,
    web::{Reply, Web},
};
use serde::Deserialize;
use serde_json::json;

/// Longest accepted client id and secret.
const MAX_CREDENTIAL: usize = 4096;

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<Secret>,
    token_endpoint_auth_method: Option<String>,
    scope: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Failed {
    error: Option<String>,
    error_description: Option<String>,
}

/// Registers a client (RFC 7591). Some servers allow only the scopes of the registration, and
/// others refuse a registration with scopes of a resource; so a refusal is followed by one without
/// scopes.
pub(crate) async fn register(
    web: &Web,
    issuer: &IssuerMetadata,
    name: &str,
    redirect_uri: &str,
    scopes: &[String],
) -> Result<ClientIdentity, OAuthError> {
    let no_client = || OAuthError::NoClient { issuer: said(&issuer.issuer) };
    let endpoint = issuer.registration_endpoint().ok_or_else(no_client)??;
    let mut request = json!({
        "client_name": name,
        "redirect_uris": [redirect_uri],
        "grant_types": grants(issuer),
        "response_types": ["code"],
        "token_endpoint_auth_method": AuthMethod::to_register(issuer).name(),
        "application_type": "native",
    });
    if !scopes.is_empty() {
        request["scope"] = scopes.join(" ").into();
    }
    let mut reply = web.post_json(&endpoint, &request).await?;
    if reply.status.is_client_error() && !scopes.is_empty() {
        request.as_object_mut().map(|request| request.remove("scope"));
        reply = web.post_json(&endpoint, &request).await?;
    }
    check(&reply)?;
    let registered: Registered = reply.json()?;
    let secret = registered.client_secret.as_ref().map_or("", Secret::expose);
    let is_long = registered.client_id.len().max(secret.len()) > MAX_CREDENTIAL;
    if registered.client_id.is_empty() || is_long {
        return Err(reply.malformed("the client id is empty or too long"));
    }
    let named = registered.token_endpoint_auth_method.as_deref().and_then(AuthMethod::named);
    let method = match (&registered.client_secret, named) {
        (None, _) => AuthMethod::None,
        (Some(_), Some(named)) => named,
        (secret @ Some(_), None) => AuthMethod::for_secret(secret.as_ref(), issuer),
    };
    Ok(ClientIdentity {
        secret: registered.client_secret,
        redirect_uri: Some(redirect_uri.to_owned()),
        scopes: registered.scope.as_deref().map(split),
        ..ClientIdentity::named(registered.client_id, method, ClientSource::Registered)
    })
}

/// The refusal in an answer, if it is one.
fn check(reply: &Reply) -> Result<(), OAuthError> {
    let status = reply.status.as_u16();
    if reply.status.is_success() {
        return Ok(());
    }
    if reply.status.is_server_error() {
        return Err(OAuthError::Status { url: reply.url.clone(), status });
    }
    let failed: Failed = reply.json().unwrap_or_default();
    let text = failed.error_description.or(failed.error).unwrap_or_else(|| format!("status {status}"));
    Err(OAuthError::Registration { said: said(&text) })
}

/// `refresh_token` is asked for unless the server says that it has none.
fn grants(issuer: &IssuerMetadata) -> Vec<&'static str> {
    let supported = |grant: &str| match issuer.grant_types_supported.as_deref() {
        Some(grants) => grants.iter().any(|known| known == grant),
        None => grant == "refresh_token",
    };
    let mut grants = vec!["authorization_code"];
    grants.extend(["refresh_token", crate::device::GRANT].into_iter().filter(|grant| supported(grant)));
    grants
}
