//! The metadata of an authorization server (RFC 8414, or `OpenID` Connect Discovery).

use crate::{
    OAuthError,
    error::said,
    web::{Web, endpoint},
};
use serde::{Deserialize, Serialize};
use trunkline_transport::http::well_known;
use url::Url;

/// The part of the document that a client needs. Endpoints are parsed when they are used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IssuerMetadata {
    pub issuer: String,
    pub authorization_endpoint: Option<String>,
    pub token_endpoint: Option<String>,
    pub registration_endpoint: Option<String>,
    pub revocation_endpoint: Option<String>,
    pub device_authorization_endpoint: Option<String>,
    pub scopes_supported: Vec<String>,
    pub grant_types_supported: Option<Vec<String>>,
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    pub code_challenge_methods_supported: Option<Vec<String>>,
    pub authorization_response_iss_parameter_supported: bool,
    pub client_id_metadata_document_supported: bool,
}

impl IssuerMetadata {
    /// Fetches the document of an issuer, whose `issuer` must be this very text.
    pub(crate) async fn fetch(web: &Web, issuer: &str) -> Result<Option<Self>, OAuthError> {
        let url = endpoint(issuer, "the list of authorization servers")?;
        let mut failed = None;
        for place in well_known::issuer_places(&url) {
            match web.document::<Self>(&place).await {
                Ok(Some(found)) => return found.of(issuer).map(Some),
                Ok(None) => {}
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(None), Err)
    }

    /// Fetches the document at an address that the configuration gives; any issuer will do.
    pub(crate) async fn fetch_at(web: &Web, place: &Url) -> Result<Self, OAuthError> {
        let found = web.document::<Self>(place).await?;
        found.ok_or_else(|| OAuthError::NoIssuer { issuer: place.to_string() })
    }

    /// The endpoints of a server of revision 2025-03-26 that has no metadata at all.
    pub(crate) fn by_convention(origin: &Url) -> Self {
        let at = |path: &str| origin.join(path).ok().map(String::from);
        Self {
            issuer: origin.as_str().trim_end_matches('/').to_owned(),
            authorization_endpoint: at("/authorize"),
            token_endpoint: at("/token"),
            registration_endpoint: at("/register"),
            code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
            ..Self::default()
        }
    }

    pub fn authorization_endpoint(&self) -> Result<Url, OAuthError> {
        self.endpoint(self.authorization_endpoint.as_deref(), "authorization endpoint")
    }

    pub fn token_endpoint(&self) -> Result<Url, OAuthError> {
        self.endpoint(self.token_endpoint.as_deref(), "token endpoint")
    }

    pub fn device_endpoint(&self) -> Result<Url, OAuthError> {
        self.endpoint(self.device_authorization_endpoint.as_deref(), "device authorization endpoint")
    }

    pub(crate) fn registration_endpoint(&self) -> Option<Result<Url, OAuthError>> {
        self.registration_endpoint.as_deref().map(|text| endpoint(text, &self.issuer))
    }

    pub(crate) fn revocation_endpoint(&self) -> Option<Result<Url, OAuthError>> {
        self.revocation_endpoint.as_deref().map(|text| endpoint(text, &self.issuer))
    }

    /// Refuses a server without PKCE: the code could be used by whoever intercepts it.
    pub fn require_pkce(&self) -> Result<(), OAuthError> {
        let methods = self.code_challenge_methods_supported.as_deref().unwrap_or_default();
        if methods.iter().any(|method| method == "S256") {
            return Ok(());
        }
        Err(OAuthError::NoPkce { issuer: said(&self.issuer) })
    }

    fn endpoint(&self, text: Option<&str>, what: &'static str) -> Result<Url, OAuthError> {
        match text {
            Some(text) => endpoint(text, &self.issuer),
            None => Err(OAuthError::Unsupported { issuer: said(&self.issuer), what }),
        }
    }

    fn of(self, issuer: &str) -> Result<Self, OAuthError> {
        // An empty path and `/` are the same URL (RFC 3986 §6.2.3), and both are in use.
        if self.issuer == issuer || is_same_root(&self.issuer, issuer) {
            return Ok(self);
        }
        Err(OAuthError::OtherIssuer { found: said(&self.issuer), expected: said(issuer) })
    }
}

fn is_same_root(one: &str, other: &str) -> bool {
    let root = |text: &str| Url::parse(text).is_ok_and(|url| url.path() == "/" && url.query().is_none());
    one.strip_suffix('/').unwrap_or(one) == other.strip_suffix('/').unwrap_or(other)
        && root(one)
        && root(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o02_metadata_of_another_issuer_is_refused() {
        let of = |found: &str, asked: &str| {
            IssuerMetadata { issuer: found.to_owned(), ..IssuerMetadata::default() }.of(asked).is_ok()
        };
        assert!(of("https://h/a", "https://h/a") && of("https://h", "https://h/"));
        assert!(!of("https://h/a/", "https://h/a") && !of("https://evil", "https://h"));
        assert!(!of("https://H", "https://h") && !of("", "https://h"));
    }

    #[test]
    fn o05_no_pkce_no_login() {
        let with = |methods: Option<&[&str]>| IssuerMetadata {
            code_challenge_methods_supported: methods
                .map(|methods| methods.iter().map(|&method| method.to_owned()).collect()),
            ..IssuerMetadata::default()
        };
        assert!(with(Some(&["plain", "S256"])).require_pkce().is_ok());
        for methods in [None, Some(&[][..]), Some(&["plain"][..])] {
            assert!(matches!(with(methods).require_pkce(), Err(OAuthError::NoPkce { .. })));
        }
    }

    #[test]
    fn o01_endpoints_that_must_not_be_opened_are_refused() {
        for bad in
            ["javascript:alert(1)", "file:///etc/passwd", "$(x)", "--flag", "\\\\host\\share", "ftp://h/"]
        {
            let metadata = IssuerMetadata {
                authorization_endpoint: Some(bad.to_owned()),
                token_endpoint: Some(bad.to_owned()),
                ..IssuerMetadata::default()
            };
            assert!(metadata.authorization_endpoint().is_err(), "{bad}");
            assert!(metadata.token_endpoint().is_err(), "{bad}");
        }
    }
}
