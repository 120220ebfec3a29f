//! A URL that requests can be sent to.

use std::fmt;
use std::sync::Arc;

use http::uri::{Authority, InvalidUri, PathAndQuery};
use http::{HeaderValue, Uri};
use url::{Host, Url};

/// An `http` or `https` URL with a host, parsed once and cheap to clone.
#[derive(Clone)]
pub struct Target(Arc<Parsed>);

struct Parsed {
    url: Url,
    uri: Uri,
    plain: bool,
    host: HeaderValue,
}

/// The reason why requests cannot be sent to a URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidUrl {
    #[error("`{text}` is not a URL: {reason}")]
    Syntax { text: String, reason: String },
    #[error("the scheme `{scheme}` is not supported, only http and https")]
    Scheme { scheme: String },
    #[error("the URL holds a user name or password; send an Authorization header instead")]
    Credentials,
}

/// True for a loopback address and for `localhost` and the names below it.
pub fn is_this_machine(address: &Url) -> bool {
    match address.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl Target {
    pub fn parse(text: &str) -> Result<Self, InvalidUrl> {
        let syntax = |reason: String| InvalidUrl::Syntax { text: text.to_owned(), reason };
        Self::new(Url::parse(text).map_err(|error| syntax(error.to_string()))?)
    }

    pub fn new(mut url: Url) -> Result<Self, InvalidUrl> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(InvalidUrl::Scheme { scheme: url.scheme().to_owned() });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidUrl::Credentials);
        }
        url.set_fragment(None);
        let syntax = |reason: String| InvalidUrl::Syntax { text: url.to_string(), reason };
        let uri: Uri = url.as_str().parse().map_err(|error: InvalidUri| syntax(error.to_string()))?;
        let plain = url.scheme() == "http";
        let authority = uri.authority().map_or("", Authority::as_str);
        let host = HeaderValue::from_str(authority).map_err(|error| syntax(error.to_string()))?;
        Ok(Self(Arc::new(Parsed { url, uri, plain, host })))
    }

    pub fn url(&self) -> &Url {
        &self.0.url
    }

    /// Resolves a relative or absolute reference against this URL.
    pub(crate) fn resolve(&self, reference: &str) -> Result<Self, InvalidUrl> {
        let syntax =
            |reason: String| InvalidUrl::Syntax { text: reference.chars().take(200).collect(), reason };
        Self::new(self.0.url.join(reference).map_err(|error| syntax(error.to_string()))?)
    }

    /// True if both have the same scheme, host and port.
    pub(crate) fn same_origin(&self, other: &Self) -> bool {
        self.0.url.origin() == other.0.url.origin()
    }

    pub(crate) fn authority(&self) -> &str {
        self.0.uri.authority().map_or("", Authority::as_str)
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.0.plain
    }

    /// Path and query, as in the request line.
    pub(crate) fn path(&self) -> &str {
        self.0.uri.path_and_query().map_or("/", PathAndQuery::as_str)
    }

    pub(crate) fn host(&self) -> &HeaderValue {
        &self.0.host
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.0.uri
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({})", self.0.url)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.url.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_http_urls_are_targets() {
        assert_eq!(
            Target::parse("HTTP://Example.com:80/mcp#x").unwrap().to_string(),
            "http://example.com/mcp"
        );
        assert!(matches!(Target::parse("ftp://a/b"), Err(InvalidUrl::Scheme { .. })));
        assert!(matches!(Target::parse("file:///etc/passwd"), Err(InvalidUrl::Scheme { .. })));
        assert!(matches!(Target::parse("localhost/mcp"), Err(InvalidUrl::Syntax { .. })));
        assert!(matches!(Target::parse("http://"), Err(InvalidUrl::Syntax { .. })));
        assert_eq!(Target::parse("https://a:b@c/").unwrap_err(), InvalidUrl::Credentials);
        assert_eq!(Target::parse("https://good@evil/").unwrap_err(), InvalidUrl::Credentials);
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let base = Target::parse("https://host/mcp?x=1").unwrap();
        for same in ["/other", "https://HOST:443/", "//host/x", "?y"] {
            assert!(base.same_origin(&base.resolve(same).unwrap()), "{same}");
        }
        for other in ["http://host/", "https://host:444/", "https://host.evil/", "//evil", "\\\\evil/x"] {
            assert!(!base.same_origin(&base.resolve(other).unwrap()), "{other}");
        }
    }
}
