//! Public and other addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 networks that a stranger may not reach through us: address and prefix length.
const CLOSED_V4: &[(Ipv4Addr, u8)] = &[
    // This network.
    (Ipv4Addr::UNSPECIFIED, 8),
    // Private.
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Carrier-grade NAT.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    // Loopback.
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // The platform services of Azure, on an otherwise public address.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    // Link-local, with the metadata services of most clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    // Private.
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    // Protocol assignments, with the metadata service of Oracle.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation.
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // Former 6to4 relays.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    // Private.
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Benchmarks.
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    // Documentation.
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    // Reserved, with the broadcast address.
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// The only IPv6 network with public addresses. Loopback, link-local, unique local, mapped, NAT64
/// and multicast addresses lie outside it.
const OPEN_V6: (Ipv6Addr, u8) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Networks within [`OPEN_V6`] that a stranger may not reach through us.
const CLOSED_V6: &[(Ipv6Addr, u8)] = &[
    // Protocol assignments, with Teredo, which embeds an IPv4 address.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    // Documentation.
    (Ipv6Addr::new(0x2001, 0x0db8, 0, 0, 0, 0, 0, 0), 32),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
    // 6to4, which embeds an IPv4 address.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
];

/// True for an address of the public Internet: not private, loopback, link-local, shared,
/// translated, reserved or multicast.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !CLOSED_V4.iter().any(|network| within_v4(address, *network)),
        IpAddr::V6(address) => {
            within_v6(address, OPEN_V6) && !CLOSED_V6.iter().any(|network| within_v6(address, *network))
        }
    }
}

/// True if the address lies in the network; an IPv4-mapped address counts as the IPv4 address.
pub(super) fn within(address: IpAddr, (network, prefix): (IpAddr, u8)) -> bool {
    match (address.to_canonical(), network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => within_v4(address, (network, prefix)),
        (IpAddr::V6(address), IpAddr::V6(network)) => within_v6(address, (network, prefix)),
        _ => false,
    }
}

fn within_v4(address: Ipv4Addr, (network, prefix): (Ipv4Addr, u8)) -> bool {
    let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
    address.to_bits() & mask == network.to_bits() & mask
}

fn within_v6(address: Ipv6Addr, (network, prefix): (Ipv6Addr, u8)) -> bool {
    let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
    address.to_bits() & mask == network.to_bits() & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOSED: &str = "0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.8.8.8 \
        168.63.129.16 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 \
        192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 \
        240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 \
        64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1:: 3fff::1 fc00::1 \
        fd00:ec2::254 fe80::1 fec0::1 ff02::1 5f00::1";

    const OPEN: &str = "1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.1 168.63.129.17 172.15.0.1 \
        172.32.0.1 192.0.1.1 223.255.255.255 2606:4700::1111 2a00::1 2001:200::1";

    #[test]
    fn r01_no_address_of_a_private_or_reserved_network_is_public() {
        for text in CLOSED.split_whitespace() {
            assert!(!is_public(text.parse().unwrap()), "{text} is open");
        }
        for text in OPEN.split_whitespace() {
            assert!(is_public(text.parse().unwrap()), "{text} is closed");
        }
    }
}
