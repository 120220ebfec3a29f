//! The account of the authorization scenarios. The suite's authorization page redirects at once, so
//! the "user" only follows the redirect.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Method};
use serde_json::Value;
use std::{env, sync::Arc};
use trunkline_oauth::{
    Account, AccountKey, AccountOptions, CallbackParams, ClientIdentity, Enterprise, Interaction,
    IssuerMetadata, LockGuard, Means, OAuthError, Secret, SigningKey, StoreError, StoredLogin, TokenStore,
};
use trunkline_protocol::{Fault, FaultKind};
use trunkline_transport::http::{HttpClient, HttpError, HttpOptions, RedirectError, Target};
use url::Url;

/// The client-id metadata document that the suite expects.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";
const REDIRECT: &str = "http://localhost:3000/callback";

/// Scenarios in which the client must refuse to go on, and a part of the reason it must give.
const REFUSALS: [(&str, &str); 7] = [
    ("auth/scope-retry-limit", "still asks for more scopes"),
    ("auth/resource-mismatch", "metadata is for the resource"),
    ("auth/iss-supported-missing", "does not come from"),
    ("auth/iss-wrong-issuer", "does not come from"),
    ("auth/iss-unexpected", "does not come from"),
    ("auth/iss-normalized", "does not come from"),
    ("auth/metadata-issuer-mismatch", "names another issuer"),
];

/// The outcome of a scenario: where a refusal is expected, only the right one is a success.
pub(super) fn judge(scenario: &str, outcome: Result<(), Fault>) -> Result<(), Fault> {
    let Some((_, reason)) = REFUSALS.iter().find(|(name, _)| *name == scenario) else { return outcome };
    match outcome {
        Err(fault) if fault.message().contains(reason) => Ok(()),
        Err(fault) => Err(fault),
        Ok(()) => Err(Fault::new(FaultKind::BadAnswer, format!("the client should have said: {reason}"))),
    }
}

pub(super) fn of(url: &str) -> Result<Account, Fault> {
    let bad = |error: String| Fault::new(FaultKind::InvalidRequest, error);
    let server = Url::parse(url).map_err(|error| bad(error.to_string()))?;
    let context: Value =
        serde_json::from_str(&env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default()).unwrap_or_default();
    let text = |name: &str| context[name].as_str().map(str::to_owned);
    let mut options = AccountOptions::new(server, Arc::new(Forgetful));
    options.client_document = Some(DOCUMENT.to_owned());
    options.client_id = text("client_id");
    options.client_secret = text("client_secret").map(Secret::new);
    if let Some(pem) = text("private_key_pem") {
        options.signing_key =
            Some(SigningKey::from_pem(pem.as_bytes(), None).map_err(|error| bad(error.to_string()))?);
    }
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    options.means = match (text("idp_id_token"), text("idp_token_endpoint")) {
        (Some(id_token), Some(token_endpoint)) => Means::Enterprise(Box::new(Enterprise {
            id_token: Secret::new(id_token),
            provider: IssuerMetadata {
                issuer: text("idp_issuer").unwrap_or_default(),
                token_endpoint: Some(token_endpoint),
                ..IssuerMetadata::default()
            },
            provider_client: ClientIdentity::document(text("idp_client_id").unwrap_or_default()),
        })),
        _ if scenario.contains("client-credentials") => Means::ClientCredentials,
        _ => Means::Interactive(Arc::new(Follow)),
    };
    Ok(Account::new(options))
}

/// Follows the redirect of the authorization page.
#[derive(Debug)]
struct Follow;

impl Interaction for Follow {
    fn redirect_uri(&self) -> String {
        REDIRECT.to_owned()
    }

    fn visit(&self, page: Url, _state: Secret) -> BoxFuture<'_, Result<CallbackParams, OAuthError>> {
        Box::pin(async move {
            let client = HttpClient::new(HttpOptions::default())
                .map_err(|error| OAuthError::Browser(error.to_string()))?;
            let target = Target::new(page).map_err(|error| OAuthError::Browser(error.to_string()))?;
            match client.send(Method::GET, &target, HeaderMap::new(), Bytes::new()).await {
                Err(HttpError::Redirect(RedirectError::OtherOrigin { target })) => {
                    CallbackParams::from_pasted(&target).ok_or(OAuthError::NoCode)
                }
                Ok(response) => Err(OAuthError::Browser(format!("status {}", response.status()))),
                Err(error) => Err(OAuthError::Browser(error.to_string())),
            }
        })
    }
}

/// Keeps nothing: each scenario begins without a login.
#[derive(Debug)]
struct Forgetful;

impl TokenStore for Forgetful {
    fn load(&self, _: &AccountKey) -> Result<Option<StoredLogin>, StoreError> {
        Ok(None)
    }

    fn save(&self, _: &AccountKey, _: &StoredLogin) -> Result<(), StoreError> {
        Ok(())
    }

    fn remove(&self, _: &AccountKey) -> Result<(), StoreError> {
        Ok(())
    }

    fn lock(&self, _: &AccountKey) -> BoxFuture<'static, Result<LockGuard, StoreError>> {
        Box::pin(async { Ok(LockGuard::none()) })
    }

    fn place(&self, _: &AccountKey) -> String {
        "memory".to_owned()
    }
}
