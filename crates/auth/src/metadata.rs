//! The RFC 9728 document: names the resource and the issuers of its tokens.

use serde::Serialize;
use url::Url;

/// Path of the document; the resource's own path is appended.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// A protected resource, as its metadata document describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProtectedResource {
    resource: String,
    authorization_servers: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes_supported: Vec<String>,
    bearer_methods_supported: [&'static str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_documentation: Option<String>,
    #[serde(skip)]
    url: Url,
}

/// The reason why the document cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadResource {
    #[error("`{0}` is not a URL")]
    NotUrl(String),
    #[error("`{0}` must be an https URL, or http on a loopback address")]
    NotSecure(String),
    #[error("`{0}` must have no query, fragment or user")]
    Extra(String),
    #[error("at least one authorization server is needed")]
    NoIssuer,
}

impl ProtectedResource {
    /// `resource` is the URL that clients connect to, such as `https://tools.example/mcp`.
    pub fn new(resource: &str, authorization_servers: &[&str]) -> Result<Self, BadResource> {
        if authorization_servers.is_empty() {
            return Err(BadResource::NoIssuer);
        }
        let url = checked(resource)?;
        for issuer in authorization_servers {
            checked(issuer)?;
        }
        Ok(Self {
            resource: resource.to_owned(),
            authorization_servers: authorization_servers.iter().map(|&s| s.to_owned()).collect(),
            scopes_supported: Vec::new(),
            bearer_methods_supported: ["header"],
            resource_name: None,
            resource_documentation: None,
            url,
        })
    }

    /// The path to serve the document at: the well-known path, then the resource's own path.
    pub fn path(&self) -> String {
        format!("{WELL_KNOWN}{}", self.url.path().trim_end_matches('/'))
    }

    /// The URL of the document, for [`Challenge::resource_metadata`](crate::Challenge).
    pub fn address(&self) -> String {
        format!("{}{}", self.url.origin().ascii_serialization(), self.path())
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings and lists are always JSON")
    }
}

fn checked(text: &str) -> Result<Url, BadResource> {
    let url = Url::parse(text).map_err(|_| BadResource::NotUrl(text.to_owned()))?;
    let loopback = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() != "https" && !(url.scheme() == "http" && loopback) {
        return Err(BadResource::NotSecure(text.to_owned()));
    }
    let user = !url.username().is_empty() || url.password().is_some();
    if url.query().is_some() || url.fragment().is_some() || user {
        return Err(BadResource::Extra(text.to_owned()));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_stands_below_the_well_known_path() {
        let mut document =
            ProtectedResource::new("https://tools.example:8443/mcp", &["https://id.example"]).unwrap();
        document.scopes_supported = vec!["tools".to_owned()];
        assert_eq!(document.path(), "/.well-known/oauth-protected-resource/mcp");
        assert_eq!(document.address(), "https://tools.example:8443/.well-known/oauth-protected-resource/mcp");
        assert_eq!(
            document.to_json(),
            r#"{"resource":"https://tools.example:8443/mcp","authorization_servers":["https://id.example"],"scopes_supported":["tools"],"bearer_methods_supported":["header"]}"#
        );
        let root = ProtectedResource::new("http://127.0.0.1:1/", &["https://id.example"]).unwrap();
        assert_eq!(root.path(), "/.well-known/oauth-protected-resource");
    }

    #[test]
    fn what_clients_must_not_trust_is_refused() {
        let issuer = ["https://id.example"];
        for (resource, issuers, want) in [
            ("https://a.example", &[][..], BadResource::NoIssuer),
            ("a.example", &issuer[..], BadResource::NotUrl("a.example".to_owned())),
            ("http://a.example", &issuer, BadResource::NotSecure("http://a.example".to_owned())),
            ("https://a.example/#x", &issuer, BadResource::Extra("https://a.example/#x".to_owned())),
            ("https://u@a.example/", &issuer, BadResource::Extra("https://u@a.example/".to_owned())),
        ] {
            assert_eq!(ProtectedResource::new(resource, issuers).unwrap_err(), want);
        }
    }
}
