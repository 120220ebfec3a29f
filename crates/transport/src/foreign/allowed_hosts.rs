//! Hosts and networks that may be fetched although they are not public.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use url::Host;

use super::address::within;

/// Hosts and networks that an operator allows in addition to public addresses.
#[derive(Debug, Clone, Default)]
pub struct AllowedHosts(Vec<AllowedHost>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum AllowedHost {
    /// A host by its exact name.
    Name(String),
    /// All hosts below a domain, not the domain itself; with its leading dot.
    Below(String),
    Network(IpAddr, u8),
}

/// An entry that is neither a host nor a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a host (`wiki.intranet`, `*.intranet`), an address or a network (`10.1.0.0/16`)")]
pub struct InvalidHost(pub String);

impl AllowedHosts {
    pub fn parse<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, InvalidHost> {
        entries.into_iter().map(str::parse).collect::<Result<_, _>>().map(Self)
    }

    /// Every address is allowed.
    pub fn any() -> Self {
        let unspecified = [IpAddr::from(Ipv4Addr::UNSPECIFIED), Ipv6Addr::UNSPECIFIED.into()];
        Self(unspecified.map(|address| AllowedHost::Network(address, 0)).to_vec())
    }

    /// True if a host of this name may have any address.
    pub(super) fn names(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        self.0.iter().any(|allowed| match allowed {
            AllowedHost::Name(name) => host.eq_ignore_ascii_case(name),
            AllowedHost::Below(domain) => {
                let start = host.len().saturating_sub(domain.len());
                start > 0 && host.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(domain))
            }
            AllowedHost::Network(..) => false,
        })
    }

    pub(super) fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|allowed| match allowed {
            AllowedHost::Network(network, prefix) => within(address, (*network, *prefix)),
            AllowedHost::Name(_) | AllowedHost::Below(_) => false,
        })
    }
}

impl FromStr for AllowedHost {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, InvalidHost> {
        let invalid = || InvalidHost(text.to_owned());
        if let Some((network, prefix)) = text.split_once('/') {
            let network: IpAddr = network.parse().map_err(|_| invalid())?;
            let prefix: u8 = prefix.parse().map_err(|_| invalid())?;
            let longest = if network.is_ipv4() { 32 } else { 128 };
            return if prefix <= longest { Ok(Self::Network(network, prefix)) } else { Err(invalid()) };
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self::Network(address, if address.is_ipv4() { 32 } else { 128 }));
        }
        let (below, name) = text.strip_prefix("*.").map_or((false, text), |domain| (true, domain));
        match Host::parse(name) {
            Ok(Host::Domain(name)) if !name.contains('*') => {
                Ok(if below { Self::Below(format!(".{name}")) } else { Self::Name(name) })
            }
            _ => Err(invalid()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_domains_addresses_and_networks_are_allowed() {
        let allowed = AllowedHosts::parse(["wiki", "*.corp.example", "10.1.0.0/16", "::1"]).unwrap();
        for host in ["wiki", "WIKI.", "a.corp.example", "a.b.Corp.example"] {
            assert!(allowed.names(host), "{host}");
        }
        for host in ["wiki.evil", "corp.example", "evilcorp.example", "x.corp.example.evil", ".corp.example"]
        {
            assert!(!allowed.names(host), "{host}");
        }
        for address in ["10.1.2.3", "::1", "::ffff:10.1.2.3"] {
            assert!(allowed.contains(address.parse().unwrap()), "{address}");
        }
        for address in ["10.2.0.1", "::2", "127.0.0.1"] {
            assert!(!allowed.contains(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn an_entry_of_another_form_is_refused() {
        for entry in ["", "*", "http://wiki", "10.0.0.0/33", "a b", "*.*.x", "10.0.0/8"] {
            assert_eq!(AllowedHosts::parse([entry]).unwrap_err(), InvalidHost(entry.to_owned()), "{entry}");
        }
    }
}
