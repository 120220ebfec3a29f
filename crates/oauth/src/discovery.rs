//! Finds the authorization server of an MCP server.

use crate::{
    IssuerMetadata, OAuthError, ResourceMetadata, resource,
    scopes::{OFFLINE_ACCESS, split, union},
    web::{Web, endpoint},
};
use trunkline_transport::http::Challenge;
use url::Url;

/// Values that the configuration gives in place of discovered ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Discovery {
    pub metadata_url: Option<Url>,
    pub authorization_endpoint: Option<Url>,
    pub token_endpoint: Option<Url>,
    pub resource: Option<String>,
    /// Scopes to ask for instead of those that the server names.
    pub scopes: Vec<String>,
}

/// Everything that a login needs to know about the servers.
#[derive(Debug, Clone)]
pub struct Discovered {
    /// The `resource` of every request (RFC 8707).
    pub resource: String,
    pub issuer: IssuerMetadata,
    /// Scopes to ask for.
    pub scopes: Vec<String>,
    pub metadata: Option<ResourceMetadata>,
}

impl Discovery {
    /// Follows the server's metadata. If it lists several authorization servers, `known` is taken
    /// if it is among them, otherwise the first.
    pub async fn run(
        &self,
        web: &Web,
        server: &Url,
        challenges: &[String],
        known: Option<&str>,
    ) -> Result<Discovered, OAuthError> {
        let metadata = if self.needs_resource_metadata() {
            ResourceMetadata::fetch(web, server, challenges).await?
        } else {
            None
        };
        let mut issuer = self.issuer(web, server, metadata.as_ref(), known).await?;
        if let Some(url) = &self.authorization_endpoint {
            issuer.authorization_endpoint = Some(url.to_string());
        }
        if let Some(url) = &self.token_endpoint {
            issuer.token_endpoint = Some(url.to_string());
        }
        let named = metadata.as_ref().map(|metadata| metadata.resource.clone());
        let resource = self.resource.clone().or(named).unwrap_or_else(|| resource::canonical(server));
        let scopes = self.scopes(challenges, metadata.as_ref(), &issuer);
        Ok(Discovered { resource, issuer, scopes, metadata })
    }

    /// True if there is anything to sign in at: configured endpoints, the server's metadata, or
    /// that of an authorization server at its origin. Metadata with errors counts.
    pub(crate) async fn is_published(
        &self,
        web: &Web,
        server: &Url,
        challenges: &[String],
    ) -> Result<bool, OAuthError> {
        let is_there = |found: Result<bool, OAuthError>| match found {
            Err(error) if error.is_transient() => Err(error),
            found => Ok(found.unwrap_or(true)),
        };
        if self.metadata_url.is_some() || self.authorization_endpoint.is_some() {
            return Ok(true);
        }
        let metadata = ResourceMetadata::fetch(web, server, challenges).await;
        if is_there(metadata.map(|found| found.is_some()))? {
            return Ok(true);
        }
        let issuer = IssuerMetadata::fetch(web, &server.origin().ascii_serialization()).await;
        is_there(issuer.map(|found| found.is_some()))
    }

    fn needs_resource_metadata(&self) -> bool {
        let endpoints = self.authorization_endpoint.is_some() && self.token_endpoint.is_some();
        !endpoints || self.resource.is_none()
    }

    async fn issuer(
        &self,
        web: &Web,
        server: &Url,
        metadata: Option<&ResourceMetadata>,
        known: Option<&str>,
    ) -> Result<IssuerMetadata, OAuthError> {
        if let Some(place) = &self.metadata_url {
            return IssuerMetadata::fetch_at(web, place).await;
        }
        if let Some(metadata) = metadata {
            let listed = &metadata.authorization_servers;
            let chosen = listed.iter().find(|issuer| known == Some(issuer)).or(listed.first());
            let issuer = chosen.ok_or(OAuthError::NoAuthorizationServer)?;
            let found = IssuerMetadata::fetch(web, issuer).await?;
            return found.ok_or_else(|| OAuthError::NoIssuer { issuer: crate::error::said(issuer) });
        }
        if self.authorization_endpoint.is_some() && self.token_endpoint.is_some() {
            let issuer = resource::canonical(server);
            let pkce = Some(vec!["S256".to_owned()]);
            return Ok(IssuerMetadata {
                issuer,
                code_challenge_methods_supported: pkce,
                ..IssuerMetadata::default()
            });
        }
        // Servers of revision 2025-03-26 are their own authorization server.
        let origin = server.origin().ascii_serialization();
        match IssuerMetadata::fetch(web, &origin).await? {
            Some(found) => Ok(found),
            None => Ok(IssuerMetadata::by_convention(&endpoint(&origin, "the server's address")?)),
        }
    }

    /// Configured scopes, else those of the challenge, else all that the server supports.
    fn scopes(
        &self,
        challenges: &[String],
        metadata: Option<&ResourceMetadata>,
        issuer: &IssuerMetadata,
    ) -> Vec<String> {
        let scopes = match (self.scopes.is_empty(), challenged(challenges)) {
            (false, _) => self.scopes.clone(),
            (true, Some(challenged)) => challenged,
            (true, None) => metadata.map(|found| found.scopes_supported.clone()).unwrap_or_default(),
        };
        let offline = issuer.scopes_supported.iter().any(|scope| scope == OFFLINE_ACCESS);
        union(&scopes, offline.then_some(OFFLINE_ACCESS))
    }
}

/// The scopes that a challenge asks for.
pub(crate) fn challenged(challenges: &[String]) -> Option<Vec<String>> {
    let all = challenges.iter().flat_map(|text| Challenge::read(text));
    all.filter(|found| found.scheme.eq_ignore_ascii_case("bearer"))
        .find_map(|found| found.get("scope").map(split))
}
