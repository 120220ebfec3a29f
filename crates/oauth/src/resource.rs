//! The protected-resource metadata of an MCP server (RFC 9728).

use crate::{OAuthError, error::said, web::Web};
use serde::Deserialize;
use serde_json::Value;
use trunkline_transport::http::{Target, well_known};
use url::Url;

/// The part of the document that a client needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceMetadata {
    /// The address of the document.
    pub found_at: Url,
    pub resource: String,
    pub authorization_servers: Vec<String>,
    pub scopes_supported: Vec<String>,
}

#[derive(Deserialize)]
struct Written {
    resource: Option<Value>,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

impl ResourceMetadata {
    /// Fetches the document that the challenges name, or that of the well-known addresses; `None`
    /// if the server has none.
    pub(crate) async fn fetch(
        web: &Web,
        server: &Url,
        challenges: &[String],
    ) -> Result<Option<Self>, OAuthError> {
        let mut failed = None;
        for place in well_known::resource_places(server, challenges.iter().map(String::as_str)) {
            let fetched = match web.check_source(&place) {
                Ok(()) => web.document::<Written>(&place).await,
                Err(refused) => Err(refused),
            };
            match fetched {
                Ok(Some(written)) => return Self::read(written, place, server).map(Some),
                Ok(None) => {}
                // A later place may have it; the first reason is told if none has.
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(None), Err)
    }

    fn read(written: Written, found_at: Url, server: &Url) -> Result<Self, OAuthError> {
        let malformed =
            |reason: &str| OAuthError::Malformed { url: found_at.to_string(), reason: reason.to_owned() };
        let resource = match written.resource {
            Some(Value::String(resource)) => resource,
            Some(_) => return Err(malformed("`resource` is not a string")),
            None => return Err(malformed("`resource` is missing")),
        };
        let covers = Url::parse(&resource).is_ok_and(|resource| covers(&resource, server));
        if !covers {
            return Err(OAuthError::OtherResource { found: said(&resource), expected: canonical(server) });
        }
        let Written { authorization_servers, scopes_supported, .. } = written;
        Ok(Self { found_at, resource, authorization_servers, scopes_supported })
    }
}

/// The identifier of a server (RFC 8707): its URL without query and fragment, and without the slash
/// of an empty path.
pub(crate) fn canonical(server: &Url) -> String {
    let text = crate::web::shown(server);
    match server.path() {
        "/" => text.trim_end_matches('/').to_owned(),
        _ => text,
    }
}

/// True if the server is this resource or lies below it.
fn covers(resource: &Url, server: &Url) -> bool {
    let below = |path: &str| {
        let path = path.trim_end_matches('/');
        server.path() == path || server.path().strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
    };
    Target::new(resource.clone()).is_ok()
        && resource.origin() == server.origin()
        && resource.fragment().is_none()
        && below(resource.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(document: Value) -> Result<ResourceMetadata, OAuthError> {
        let written = serde_json::from_value(document).unwrap();
        let at = Url::parse("https://h/.well-known/oauth-protected-resource").unwrap();
        ResourceMetadata::read(written, at, &Url::parse("https://h/tenant/mcp").unwrap())
    }

    #[test]
    fn o02_metadata_of_another_resource_is_refused() {
        for good in ["https://h", "https://h/", "https://h/tenant", "https://h/tenant/mcp"] {
            assert_eq!(read(serde_json::json!({"resource": good})).unwrap().resource, good);
        }
        for bad in [
            "https://evil/tenant/mcp",
            "http://h/tenant/mcp",
            "https://h:8443/tenant/mcp",
            "https://h/ten",
            "https://h/tenant/mcp/more",
            "https://h/tenant/mcp#x",
            "https://h@evil/",
            "javascript:alert(1)",
            "",
        ] {
            let error = read(serde_json::json!({"resource": bad})).unwrap_err();
            assert!(matches!(error, OAuthError::OtherResource { .. }), "{bad}: {error}");
        }
        let error = read(serde_json::json!({"resource": ["https://h/tenant/mcp"]})).unwrap_err();
        assert!(error.to_string().contains("`resource` is not a string"), "{error}");
        assert!(matches!(read(serde_json::json!({})), Err(OAuthError::Malformed { .. })));
    }

    #[test]
    fn the_identifier_has_no_query_and_no_bare_slash() {
        let text = |url: &str| canonical(&Url::parse(url).unwrap());
        assert_eq!(text("https://H:443/?token=x"), "https://h");
        assert_eq!(text("https://h/mcp/?a#b"), "https://h/mcp/");
    }
}
