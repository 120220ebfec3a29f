//! Our identity at an authorization server.

use crate::{IssuerMetadata, OAuthError, Secret, SigningKey, scopes::covers};
use base64::{Engine, prelude::BASE64_STANDARD};
use http::HeaderValue;
use serde::{Deserialize, Serialize};

/// A client id, with the way to prove it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClientIdentity {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
    pub method: AuthMethod,
    pub source: ClientSource,
    /// The redirect URI that was registered with a dynamic client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_uri: Option<String>,
    /// The scopes that a dynamic client may ask for; `None` if the server does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
    /// The key of `private_key_jwt`; it is never stored.
    #[serde(skip)]
    pub key: Option<SigningKey>,
}

/// The way in which a client authenticates at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthMethod {
    None,
    ClientSecretBasic,
    ClientSecretPost,
    PrivateKeyJwt,
}

/// The origin of a client id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientSource {
    /// The configuration names it.
    Configured,
    /// It is the URL of a client-id metadata document.
    Document,
    /// The authorization server gave it to us (RFC 7591).
    Registered,
}

impl ClientIdentity {
    /// A client that was registered beforehand.
    pub fn configured(id: String, secret: Option<Secret>, issuer: &IssuerMetadata) -> Self {
        let method = AuthMethod::for_secret(secret.as_ref(), issuer);
        Self { secret, ..Self::named(id, method, ClientSource::Configured) }
    }

    /// A client that proves its identity with a private key.
    pub fn with_key(id: String, key: SigningKey) -> Self {
        Self { key: Some(key), ..Self::named(id, AuthMethod::PrivateKeyJwt, ClientSource::Configured) }
    }

    /// A client whose id is the address of its metadata.
    pub fn document(url: String) -> Self {
        Self::named(url, AuthMethod::None, ClientSource::Document)
    }

    /// A client with nothing but its id.
    pub(crate) fn named(id: String, method: AuthMethod, source: ClientSource) -> Self {
        Self { id, secret: None, method, source, redirect_uri: None, scopes: None, key: None }
    }

    /// True if the client was not registered for fewer scopes than these.
    pub(crate) fn may_ask_for(&self, scopes: &[String]) -> bool {
        self.scopes.as_ref().is_none_or(|registered| covers(registered, scopes))
    }

    /// Adds the client's proof to a request to the token endpoint, or returns it as a header.
    pub(crate) fn prove(
        &self,
        form: &mut Vec<(&'static str, String)>,
        audience: &str,
    ) -> Result<Option<HeaderValue>, OAuthError> {
        // Also beside a header (RFC 6749 §3.2.1): the server of the Python SDK wants it.
        form.push(("client_id", self.id.clone()));
        match (self.method, &self.secret) {
            (AuthMethod::ClientSecretBasic, Some(secret)) => return Ok(Some(basic(&self.id, secret))),
            (AuthMethod::ClientSecretPost, Some(secret)) => {
                form.push(("client_secret", secret.expose().to_owned()));
            }
            (AuthMethod::PrivateKeyJwt, _) => {
                let key = self.key.as_ref().ok_or(crate::KeyError::Missing)?;
                let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
                form.push(("client_assertion_type", kind.to_owned()));
                form.push(("client_assertion", key.client_assertion(&self.id, audience)?));
            }
            (AuthMethod::None | AuthMethod::ClientSecretBasic | AuthMethod::ClientSecretPost, _) => {}
        }
        Ok(None)
    }
}

impl AuthMethod {
    /// The method for a client with this secret. Without a list, the default of RFC 8414 is basic.
    pub(crate) fn for_secret(secret: Option<&Secret>, issuer: &IssuerMetadata) -> Self {
        if secret.is_none() {
            return Self::None;
        }
        match issuer.token_endpoint_auth_methods_supported.as_deref() {
            Some(methods)
                if !methods.iter().any(|method| method == "client_secret_basic")
                    && methods.iter().any(|method| method == "client_secret_post") =>
            {
                Self::ClientSecretPost
            }
            _ => Self::ClientSecretBasic,
        }
    }

    /// The method to ask for at registration: a program on a user's machine keeps no secret, so
    /// none if the server allows that. Else the first that it lists: the server of the Python SDK
    /// lists `client_secret_basic` last, and its revocation endpoint refuses it.
    pub(crate) fn to_register(issuer: &IssuerMetadata) -> Self {
        let Some(listed) = issuer.token_endpoint_auth_methods_supported.as_deref() else {
            return Self::None;
        };
        let known = |wanted: &[Self]| {
            let mut methods = listed.iter().filter_map(|name| Self::named(name));
            methods.find(|method| wanted.contains(method))
        };
        known(&[Self::None])
            .or_else(|| known(&[Self::ClientSecretBasic, Self::ClientSecretPost]))
            .unwrap_or(Self::ClientSecretPost)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ClientSecretBasic => "client_secret_basic",
            Self::ClientSecretPost => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::None, Self::ClientSecretBasic, Self::ClientSecretPost, Self::PrivateKeyJwt]
            .into_iter()
            .find(|method| method.name() == name)
    }
}

/// Both parts are form-encoded first (RFC 6749 §2.3.1).
fn basic(id: &str, secret: &Secret) -> HeaderValue {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encoded(id), encoded(secret.expose()));
    let mut value = HeaderValue::try_from(format!("Basic {}", BASE64_STANDARD.encode(pair)))
        .expect("base64 is a valid header value");
    value.set_sensitive(true);
    value
}
