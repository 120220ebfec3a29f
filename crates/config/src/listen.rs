//! Listen addresses, which may be short: `9001`, `:9001`, `localhost:9001`, `0.0.0.0`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The default port of `serve`.
pub const DEFAULT_PORT: u16 = 8425;

/// The address to listen on. Without a host it is the loopback address: other machines are served
/// only if an address is given.
pub fn listen_address(text: &str) -> Option<SocketAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    if let Ok(host) = text.parse::<IpAddr>() {
        return Some(SocketAddr::new(host, DEFAULT_PORT));
    }
    let (host, port) = text.rsplit_once(':').unwrap_or(("", text));
    let is_number = port.bytes().all(|byte| byte.is_ascii_digit());
    let port = port.parse().ok().filter(|_| is_number)?;
    let is_local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    is_local.then(|| SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_forms_are_loopback() {
        for (text, address) in [
            ("9001", "127.0.0.1:9001"),
            (":9001", "127.0.0.1:9001"),
            ("localhost:9001", "127.0.0.1:9001"),
            ("[::1]:9001", "[::1]:9001"),
            ("0.0.0.0", "0.0.0.0:8425"),
            ("::1", "[::1]:8425"),
        ] {
            assert_eq!(listen_address(text), address.parse().ok(), "{text}");
        }
        for wrong in ["", ":", "+1", "65536", "evil.example:80", "localhost", "127.0.0.1:", "a:b:1"] {
            assert_eq!(listen_address(wrong), None, "{wrong}");
        }
    }
}
