//! Finds our client id at an authorization server: configured, by metadata document, or registered.

use crate::{
    AuthMethod, ClientIdentity, ClientSource, IssuerMetadata, OAuthError, Secret, error::said, web::Web,
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
}

#[derive(Deserialize)]
struct Failed {
    error: Option<String>,
    error_description: Option<String>,
}

/// Registers a client (RFC 7591).
pub(crate) async fn register(
    web: &Web,
    issuer: &IssuerMetadata,
    name: &str,
    redirect_uri: &str,
    scopes: &[String],
) -> Result<ClientIdentity, OAuthError> {
    let no_client = || OAuthError::NoClient { issuer: said(&issuer.issuer) };
    let endpoint = issuer.registration_endpoint().ok_or_else(no_client)??;
    let method = AuthMethod::to_register(issuer);
    let mut request = json!({
        "client_name": name,
        "redirect_uris": [redirect_uri],
        "grant_types": grants(issuer),
        "response_types": ["code"],
        "token_endpoint_auth_method": method.name(),
        "application_type": "native",
    });
    if !scopes.is_empty() {
        request["scope"] = scopes.join(" ").into();
    }
    let reply = web.post_json(&endpoint, &request).await?;
    if reply.status.is_server_error() {
        return Err(OAuthError::Status { url: reply.url, status: reply.status.as_u16() });
    }
    if !reply.status.is_success() {
        let said = match reply.json::<Failed>() {
            Ok(Failed { error, error_description }) => {
                error_description.or(error).map(|text| said(&text)).unwrap_or_default()
            }
            Err(_) => String::new(),
        };
        let said = if said.is_empty() { format!("status {}", reply.status.as_u16()) } else { said };
        return Err(OAuthError::Registration { said });
    }
    let registered: Registered = reply.json()?;
    let lengths =
        [registered.client_id.len(), registered.client_secret.as_ref().map_or(0, |s| s.expose().len())];
    if registered.client_id.is_empty() || lengths.into_iter().any(|length| length > MAX_CREDENTIAL) {
        return Err(reply.malformed("the client id is empty or too long"));
    }
    let named = registered.token_endpoint_auth_method.as_deref().and_then(AuthMethod::named);
    let method = match (&registered.client_secret, named) {
        (None, _) => AuthMethod::None,
        (Some(_), Some(named)) => named,
        (secret @ Some(_), None) => AuthMethod::for_secret(secret.as_ref(), issuer),
    };
    Ok(ClientIdentity {
        id: registered.client_id,
        secret: registered.client_secret,
        method,
        source: ClientSource::Registered,
        redirect_uri: Some(redirect_uri.to_owned()),
        key: None,
    })
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
