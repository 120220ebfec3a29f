//! The addresses that a server's metadata may name.

use std::{io, sync::Arc};
use trunkline_transport::{
    foreign::{AddressGuard, AddressPolicy, AllowedHosts, Lookup, Resolve, SystemResolver, is_public},
    http::is_this_machine,
};
use url::{Host, Url};

/// The addresses that a server's metadata may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Only `https`, and only public addresses: the server itself is public.
    Public,
    /// Also private addresses, and plain `http` on this machine: the server itself is there.
    Private,
    /// As `Private`, for a server with this name. Its name server may give us a private address
    /// now, and that of its own public machine later. So only metadata that a private address
    /// serves under this name is the server's.
    PrivateName(String),
    /// Also plain `http` to any address: the configuration accepts that for this server.
    Insecure,
}

/// A name that had private addresses only.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` had a private address before, and has a public one now")]
struct NameMoved(String);

/// Resolves names, and refuses public addresses of one host.
#[derive(Debug)]
struct PrivateHost {
    host: String,
    resolver: Arc<dyn Resolve>,
}

impl Reach {
    /// The reach for a server: a server that was configured at a private address may name others.
    pub async fn of(server: &Url) -> Self {
        Self::resolved(server, &SystemResolver).await
    }

    async fn resolved(server: &Url, resolver: &dyn Resolve) -> Self {
        let by_address = |public| if public { Self::Public } else { Self::Private };
        match server.host() {
            Some(Host::Ipv4(address)) => by_address(is_public(address.into())),
            Some(Host::Ipv6(address)) => by_address(is_public(address.into())),
            Some(Host::Domain(_)) if is_this_machine(server) => Self::Private,
            Some(Host::Domain(name)) => match resolver.resolve(name).await {
                Ok(found) if !found.is_empty() && !found.iter().copied().any(is_public) => {
                    Self::PrivateName(name.to_owned())
                }
                _ => Self::Public,
            },
            None => Self::Public,
        }
    }

    /// The check of every address that is connected to.
    pub(crate) fn addresses(&self, resolver: Arc<dyn Resolve>) -> AddressPolicy {
        let (allowed, resolver): (_, Arc<dyn Resolve>) = match self {
            Self::Private | Self::Insecure => return AddressPolicy::Any,
            Self::Public => (AllowedHosts::default(), resolver),
            Self::PrivateName(host) => {
                (AllowedHosts::any(), Arc::new(PrivateHost { host: host.clone(), resolver }))
            }
        };
        AddressPolicy::Guarded(Arc::new(AddressGuard::with_resolver(allowed, resolver)))
    }

    /// True if metadata at this place can be the server's own.
    pub(crate) fn trusts(&self, place: &Url) -> bool {
        match self {
            Self::PrivateName(host) => place.host_str() == Some(host),
            Self::Public | Self::Private | Self::Insecure => true,
        }
    }
}

impl Resolve for PrivateHost {
    fn resolve(&self, host: &str) -> Lookup {
        let lookup = self.resolver.resolve(host);
        if !host.eq_ignore_ascii_case(&self.host) {
            return lookup;
        }
        let moved = NameMoved(self.host.clone());
        Box::pin(async move {
            let found = lookup.await?;
            if !found.iter().copied().any(is_public) {
                return Ok(found);
            }
            tracing::warn!("{moved}; its metadata is not fetched");
            Err(io::Error::other(moved))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OAuthError, ResourceMetadata, Web};
    use parking_lot::Mutex;
    use std::net::IpAddr;
    use trunkline_transport::http::HttpOptions;

    /// Gives one address after the other, as a hostile name server does.
    #[derive(Debug)]
    struct Rebinding(Mutex<Vec<IpAddr>>);

    impl Rebinding {
        fn new(addresses: &[&str]) -> Self {
            Self(Mutex::new(addresses.iter().rev().map(|text| text.parse().unwrap()).collect()))
        }
    }

    impl Resolve for Rebinding {
        fn resolve(&self, _: &str) -> Lookup {
            let next = self.0.lock().pop();
            Box::pin(async move { Ok(next.into_iter().collect()) })
        }
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[tokio::test]
    async fn a_server_on_this_machine_may_name_others_here() {
        for (server, reach) in [
            ("http://127.0.0.1:1/mcp", Reach::Private),
            ("http://localhost:1/mcp", Reach::Private),
            ("https://10.0.0.1/mcp", Reach::Private),
            ("https://8.8.8.8/mcp", Reach::Public),
        ] {
            assert_eq!(Reach::of(&url(server)).await, reach, "{server}");
        }
    }

    #[tokio::test]
    async fn r03_a_name_that_was_private_is_not_followed_to_a_public_address() {
        let server = url("https://mcp.evil.example/mcp");
        let names = Arc::new(Rebinding::new(&["10.0.0.1", "8.8.8.8", "10.0.0.2"]));
        let reach = Reach::resolved(&server, &*names).await;
        assert_eq!(reach, Reach::PrivateName("mcp.evil.example".to_owned()));
        let guard = PrivateHost { host: "mcp.evil.example".to_owned(), resolver: names };
        let moved = guard.resolve("MCP.evil.example").await.unwrap_err();
        assert!(moved.to_string().contains("has a public one now"), "{moved}");
        assert_eq!(guard.resolve("mcp.evil.example").await.unwrap(), ["10.0.0.2".parse::<IpAddr>().unwrap()]);
    }

    #[tokio::test]
    async fn r03_metadata_is_not_fetched_after_the_name_has_moved() {
        let server = url("https://mcp.evil.example/mcp");
        let names = Arc::new(Rebinding::new(&["10.0.0.1", "8.8.8.8", "8.8.8.8", "8.8.8.8"]));
        let reach = Reach::resolved(&server, &*names).await;
        let web = Web::with_resolver(&HttpOptions::default(), reach, names).unwrap();
        let error = ResourceMetadata::fetch(&web, &server, &[]).await.unwrap_err();
        // The lookup fails, so nothing is connected to.
        assert!(format!("{error:?}").contains("UnknownHost"), "{error:?}");
    }

    #[tokio::test]
    async fn r03_a_challenge_does_not_lead_a_private_server_to_another_host() {
        let server = url("https://mcp.evil.example/mcp");
        // A dot at the end makes another name of the same host.
        for elsewhere in ["https://evil.example/meta", "https://mcp.evil.example./meta", "https://8.8.8.8/m"]
        {
            let reach = Reach::PrivateName("mcp.evil.example".to_owned());
            let nowhere = Arc::new(Rebinding::new(&[]));
            let web = Web::with_resolver(&HttpOptions::default(), reach, nowhere).unwrap();
            let challenges = [format!("Bearer resource_metadata=\"{elsewhere}\"")];
            let error = ResourceMetadata::fetch(&web, &server, &challenges).await.unwrap_err();
            assert!(matches!(&error, OAuthError::Refused { .. }), "{elsewhere}: {error}");
        }
    }
}
