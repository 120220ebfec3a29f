//! Trusted proxies: finds the address that a request really came from.
//!
//! A proxy appends the address it got a request from to `X-Forwarded-For` or `Forwarded`
//! (RFC 7239). Anybody can send these headers, so they are read from right to left, and only as
//! far as each hop is a trusted proxy.

use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr};

/// Hops that are read. A longer chain is cut there.
const MAX_HOPS: usize = 32;

/// The proxies whose headers are believed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

/// A text that is neither an address nor a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither an address (10.0.0.1) nor a network (10.0.0.0/8)")]
pub struct BadNetwork(pub String);

impl TrustedProxies {
    /// Reads addresses (`10.0.0.1`) and networks (`10.0.0.0/8`).
    pub fn new<S: AsRef<str>>(networks: &[S]) -> Result<Self, BadNetwork> {
        networks.iter().map(|text| network(text.as_ref())).collect::<Result<_, _>>().map(Self)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The address that a request came from: the peer, or the rightmost hop of the headers that
    /// is no trusted proxy. `forwarded_for` and `forwarded` are the header values in order. An
    /// unreadable hop ends the search, because anything to its left may be forged.
    pub fn source<H: AsRef<[u8]>>(&self, peer: IpAddr, forwarded_for: &[H], forwarded: &[H]) -> IpAddr {
        if !self.trusts(peer) {
            return peer;
        }
        // One of the two, never a mixture: the order between them is unknown.
        let hops: Vec<Option<IpAddr>> = if forwarded_for.is_empty() {
            elements(forwarded).map(|element| hop(forwarded_node(element)?)).collect()
        } else {
            elements(forwarded_for).map(hop).collect()
        };
        let mut source = peer;
        for hop in hops.into_iter().rev().take(MAX_HOPS) {
            let Some(hop) = hop else { break };
            source = hop;
            if !self.trusts(hop) {
                break;
            }
        }
        source
    }

    fn trusts(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

fn network(text: &str) -> Result<IpNet, BadNetwork> {
    let address = || text.parse::<IpAddr>().ok().map(IpNet::from);
    text.parse().ok().or_else(address).ok_or_else(|| BadNetwork(text.to_owned()))
}

/// The comma-separated elements of all values of a header, in order. Bytes outside of ASCII occur
/// in no address, so such a value becomes one unreadable element.
fn elements<H: AsRef<[u8]>>(values: &[H]) -> impl Iterator<Item = &str> {
    values.iter().flat_map(|value| std::str::from_utf8(value.as_ref()).unwrap_or("?").split(','))
}

/// The `for` parameter of an element of `Forwarded`.
fn forwarded_node(element: &str) -> Option<&str> {
    element.split(';').find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        name.trim().eq_ignore_ascii_case("for").then(|| value.trim().trim_matches('"'))
    })
}

/// An address with or without port, in brackets or not.
fn hop(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(trusted: &[&str], peer: &str, forwarded_for: &[&str], forwarded: &[&str]) -> String {
        let proxies = TrustedProxies::new(trusted).unwrap();
        proxies.source(peer.parse().unwrap(), forwarded_for, forwarded).to_string()
    }

    #[test]
    fn a13_only_trusted_proxies_are_believed_and_only_from_the_right() {
        let ours = ["10.0.0.0/8", "::1"];
        assert_eq!(source(&[], "10.0.0.1", &["1.1.1.1"], &[]), "10.0.0.1");
        assert_eq!(source(&ours, "9.9.9.9", &["1.1.1.1"], &[]), "9.9.9.9");
        assert_eq!(source(&ours, "10.0.0.1", &["1.1.1.1, 2.2.2.2"], &[]), "2.2.2.2");
        assert_eq!(source(&ours, "10.0.0.1", &["1.1.1.1", "2.2.2.2, 10.3.0.1"], &[]), "2.2.2.2");
        assert_eq!(source(&ours, "::ffff:10.0.0.1", &["1.1.1.1:80"], &[]), "1.1.1.1");
        assert_eq!(source(&ours, "10.0.0.1", &["1.1.1.1, bad, 10.3.0.1"], &[]), "10.3.0.1");
        assert_eq!(source(&ours, "10.0.0.1", &[], &[]), "10.0.0.1");
        let forwarded = ["for=1.1.1.1, For=\"[2001:db8::7]:4711\";proto=https"];
        assert_eq!(source(&ours, "::1", &[], &forwarded), "2001:db8::7");
        assert_eq!(source(&ours, "::1", &["2.2.2.2"], &forwarded), "2.2.2.2");
    }

    #[test]
    fn networks_are_addresses_with_or_without_a_length() {
        assert_eq!(source(&["0.0.0.0/0"], "7.7.7.7", &["8.8.8.8"], &[]), "8.8.8.8");
        assert_eq!(source(&["::/0"], "::2", &["2001:db8::1"], &[]), "2001:db8::1");
        for bad in ["", "10.0.0.0/33", "10.0.0/8", "proxy.example", "::/129", "10.0.0.0/x"] {
            assert_eq!(TrustedProxies::new(&[bad]), Err(BadNetwork(bad.to_owned())));
        }
    }
}
