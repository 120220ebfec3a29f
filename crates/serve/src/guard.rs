//! The guard: checks the `Host`, the `Origin` and the credentials of every request.
//!
//! A web page can make a browser on this machine call a local server, either through a foreign
//! host name (DNS rebinding) or directly from its own origin. So `Host` must be one of our names,
//! and `Origin`, if present, must be our own or an allowed one.

use crate::tls::{ClientCertificate, Tls};
use ::http::{HeaderMap, HeaderValue, Uri, header};
use futures_util::future::BoxFuture;
use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};
use trunkline_protocol::Caller;

/// Checks credentials. A request with wrong credentials is refused, never treated as anonymous.
pub type Gate = Arc<dyn Fn(&HeaderMap, &Peer) -> Admission + Send + Sync>;

/// The other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    pub address: SocketAddr,
    /// The certificate that it proved to own.
    pub certificate: Option<ClientCertificate>,
}

/// A gate's decision on a request.
pub enum Admission {
    Now(Result<Arc<Caller>, Denied>),
    /// The decision needs I/O, such as fetching an issuer's keys.
    Later(BoxFuture<'static, Result<Arc<Caller>, Denied>>),
}

/// The host names of the loopback interface.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The access policy of a server.
#[derive(Clone, Default)]
pub struct Guard {
    /// Accepted `Host` names in addition to loopback, without port.
    pub hosts: Vec<String>,
    /// Accepted `Origin` values, exactly as a browser sends them.
    pub origins: Vec<String>,
    /// Authenticates callers. Without it every caller is accepted, so we listen on loopback only.
    pub gate: Option<Gate>,
    /// The RFC 9728 document, if tokens are required.
    pub metadata: Option<String>,
    pub encryption: Encryption,
}

/// Encryption of the connections of a listener.
#[derive(Debug, Clone, Default)]
pub enum Encryption {
    /// None, so we listen on loopback only.
    #[default]
    None,
    /// None, on any address: a proxy in front of us encrypts, or the network is trusted.
    NotHere,
    Tls(Arc<Tls>),
}

/// The refusal of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    pub status: u16,
    pub message: String,
    /// The value of `WWW-Authenticate`.
    pub challenge: Option<HeaderValue>,
    /// When to try again.
    pub retry_after: Option<Duration>,
}

/// The address is not loopback, and what would protect it is missing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindRefused {
    #[error(
        "{0} can be reached from other machines without authentication; listen on 127.0.0.1, or configure keys or tokens"
    )]
    Open(SocketAddr),
    #[error(
        "over plain HTTP, keys and results can be read on the way to {0}; configure a certificate, or listen on 127.0.0.1"
    )]
    Plain(SocketAddr),
}

impl Guard {
    /// Refuses to listen on a non-loopback address without a gate, or without encryption.
    pub(crate) fn check_bind(&self, address: SocketAddr) -> Result<(), BindRefused> {
        if address.ip().is_loopback() {
            return Ok(());
        }
        match (&self.gate, &self.encryption) {
            (None, _) => Err(BindRefused::Open(address)),
            (Some(_), Encryption::None) => Err(BindRefused::Plain(address)),
            (Some(_), Encryption::NotHere | Encryption::Tls(_)) => Ok(()),
        }
    }

    pub(crate) fn tls(&self) -> Option<&Arc<Tls>> {
        match &self.encryption {
            Encryption::Tls(tls) => Some(tls),
            Encryption::None | Encryption::NotHere => None,
        }
    }

    /// Checks `Host` and `Origin`, before anything else of the request is used.
    pub(crate) fn check_headers(&self, uri: &Uri, headers: &HeaderMap, port: u16) -> Result<(), Denied> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (host, second) = (hosts.next(), hosts.next());
        let named = host.and_then(|host| host.to_str().ok());
        let (Some(named), None) = (named, second) else {
            return Err(denied(400, "a request needs exactly one Host header"));
        };
        let absolute = uri.authority().is_none_or(|authority| authority.as_str().eq_ignore_ascii_case(named));
        if !absolute || !self.is_ours(named, port) {
            return Err(denied(403, "this Host is not a name of this server"));
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None) if self.is_allowed_origin(origin, named) => Ok(()),
            _ => Err(denied(403, "this Origin is not allowed")),
        }
    }

    /// Identifies the caller.
    pub(crate) fn identify(&self, headers: &HeaderMap, peer: &Peer) -> Admission {
        match &self.gate {
            None => Admission::Now(Ok(Caller::local())),
            Some(gate) => gate(headers, peer),
        }
    }

    fn is_ours(&self, host: &str, port: u16) -> bool {
        // Fast path: nearly all clients send a loopback name with our port.
        let usual = host.rsplit_once(':').filter(|(name, _)| LOOPBACK.contains(name));
        if usual.is_some_and(|(_, given)| given.parse() == Ok(port)) {
            return true;
        }
        let Ok(authority) = host.parse::<::http::uri::Authority>() else { return false };
        if authority.as_str().contains('@') {
            return false;
        }
        let name = authority.host();
        let loopback = LOOPBACK.iter().any(|ours| ours.eq_ignore_ascii_case(name));
        let given = self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(name));
        // A loopback name must come with our port. A configured name may belong to a reverse
        // proxy, which has another port.
        let usual_port = if self.tls().is_some() { 443 } else { 80 };
        given || (loopback && authority.port_u16().unwrap_or(usual_port) == port)
    }

    /// True for our own origin and for configured ones.
    fn is_allowed_origin(&self, origin: &HeaderValue, host: &str) -> bool {
        let Ok(origin) = origin.to_str() else { return false };
        let own = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        own.is_some_and(|own| own.eq_ignore_ascii_case(host))
            || self.origins.iter().any(|allowed| allowed == origin)
    }
}

fn denied(status: u16, message: &str) -> Denied {
    Denied { status, message: message.to_owned(), challenge: None, retry_after: None }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now(verdict) => f.debug_tuple("Now").field(verdict).finish(),
            Self::Later(_) => f.debug_tuple("Later").finish_non_exhaustive(),
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("hosts", &self.hosts)
            .field("origins", &self.origins)
            .field("gated", &self.gate.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(guard: &Guard, pairs: &[(header::HeaderName, &str)]) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value.parse().unwrap());
        }
        guard
            .check_headers(&Uri::from_static("/mcp"), &headers, 8000)
            .map_or_else(|denied| denied.status, |()| 200)
    }

    #[test]
    fn h01_only_our_own_names_are_served() {
        let guard = Guard::default();
        for good in ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000"] {
            assert_eq!(verdict(&guard, &[(header::HOST, good)]), 200, "{good}");
        }
        for bad in [
            "evil.example.com",
            "127.0.0.1.evil:8000",
            "localhost",
            "localhost:9",
            "localhost:",
            "x@localhost:8000",
            "0.0.0.0:8000",
        ] {
            assert_eq!(verdict(&guard, &[(header::HOST, bad)]), 403, "{bad}");
        }
        assert_eq!(verdict(&guard, &[]), 400);
        assert_eq!(
            verdict(&guard, &[(header::HOST, "localhost:8000"), (header::HOST, "localhost:8000")]),
            400
        );
        let named = Guard { hosts: vec!["mcp.example.com".into()], ..Guard::default() };
        assert_eq!(verdict(&named, &[(header::HOST, "mcp.example.com")]), 200);
        let absolute = Uri::from_static("http://evil.example.com/mcp");
        let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static("localhost:8000"))]);
        assert_eq!(guard.check_headers(&absolute, &headers, 8000).unwrap_err().status, 403);
    }

    #[test]
    fn h02_foreign_origins_are_refused() {
        let guard = Guard { origins: vec!["https://app.example.com".into()], ..Guard::default() };
        let from = |origin| verdict(&guard, &[(header::HOST, "localhost:8000"), (header::ORIGIN, origin)]);
        for good in ["http://localhost:8000", "https://app.example.com"] {
            assert_eq!(from(good), 200, "{good}");
        }
        for bad in [
            "null",
            "http://localhost:8001",
            "http://localhost",
            "http://localhost:8000.evil.com",
            "http://x@localhost:8000",
            "https://app.example.com.evil.com",
            "http://app.example.com",
            "",
        ] {
            assert_eq!(from(bad), 403, "{bad}");
        }
        let twice = [
            (header::HOST, "localhost:8000"),
            (header::ORIGIN, "http://localhost:8000"),
            (header::ORIGIN, "x"),
        ];
        assert_eq!(verdict(&guard, &twice), 403);
    }

    #[test]
    fn h05_listening_to_the_world_needs_a_gate() {
        let guard = Guard::default();
        assert!(guard.check_bind("127.0.0.1:1".parse().unwrap()).is_ok());
        let everywhere = "0.0.0.0:1".parse().unwrap();
        assert_eq!(guard.check_bind(everywhere), Err(BindRefused::Open(everywhere)));
        let gate: Gate = Arc::new(|_, _| Admission::Now(Ok(Caller::local())));
        let plain = Guard { gate: Some(gate), ..Guard::default() };
        assert_eq!(plain.check_bind(everywhere), Err(BindRefused::Plain(everywhere)));
        let accepted = Guard { encryption: Encryption::NotHere, ..plain };
        assert_eq!(accepted.check_bind(everywhere), Ok(()));
        let open = Guard { gate: None, ..accepted };
        assert_eq!(open.check_bind(everywhere), Err(BindRefused::Open(everywhere)));
    }
}
