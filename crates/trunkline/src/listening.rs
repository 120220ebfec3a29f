//! Listens on an address, and says how clients reach it.

use crate::failure::Failure;
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};
use trunkline_serve::{BindError, BindRefused, Guard, Listener, Server};

/// Listens on this address and no other.
pub(crate) async fn listen(address: SocketAddr, guard: &Guard) -> Result<Listener, Failure> {
    Server::listen(address, guard).await.map_err(|error| cannot_listen(&error, address))
}

pub(crate) fn cannot_listen(error: &BindError, address: SocketAddr) -> Failure {
    match error {
        BindError::Refused(refused) => not_protected(refused),
        BindError::Io { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
            let port = address.port();
            Failure::usage(format!("port {port} is in use on {}", address.ip()))
                .hint(format!("`trunkline status http://{}` shows a gateway that runs there", local(address)))
                .hint("choose another port, such as `--listen 9001`, or any free one with `--listen 0`")
        }
        BindError::Io { source, .. } => {
            Failure::usage(format!("{error}: {source}")).hint("choose another address with --listen")
        }
        BindError::Inherited(source) => Failure::usage(format!("{error}: {source}")),
    }
}

/// The address at which programs of this machine reach the listener. A server that listens on all
/// addresses refuses `0.0.0.0` as a host.
pub(crate) fn local(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// The host names to accept for an address: the address itself is one of ours, unless it stands
/// for all addresses.
pub(crate) fn own_host(address: SocketAddr) -> Option<String> {
    let ip = address.ip();
    let is_own = !ip.is_loopback() && !ip.is_unspecified();
    is_own.then(|| if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() })
}

/// The host name of a public URL, which requests may name.
pub(crate) fn host_of(url: &str) -> Option<String> {
    url::Url::parse(url).ok()?.host_str().map(str::to_owned)
}

fn not_protected(refused: &BindRefused) -> Failure {
    let failure = Failure::usage(refused.to_string());
    match refused {
        BindRefused::Open(_) => failure.hint("see --keys"),
        BindRefused::Plain(_) => failure
            .hint("--tls-cert and --tls-key, or `tls` in the configuration, name a certificate")
            .hint("if a proxy in front encrypts, or you trust the network, add --insecure-http"),
    }
}
