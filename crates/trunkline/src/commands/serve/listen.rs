//! The listening socket of `serve`: inherited from the parent process, or bound here.

use crate::{environment, failure::Failure};
use std::net::{SocketAddr, TcpListener};
use trunkline_serve::{BindError, Guard, Listener, Server};

/// Default listen address.
pub(crate) const DEFAULT_ADDRESS: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8425);
/// Number of ports tried after the default port.
const FURTHER_PORTS: u16 = 20;

/// Takes the socket that the parent process passes (socket activation), if there is one. Has to
/// run before any thread is started.
pub(super) fn inherited() -> Result<Option<TcpListener>, Failure> {
    let mut sockets = environment::inherited_sockets();
    match sockets.len() {
        0 => Ok(None),
        1 => sockets
            .take_tcp_listener(0)
            .map_err(|error| Failure::usage(format!("the inherited socket cannot be used: {error}"))),
        count => Err(Failure::usage(format!("expected one inherited socket, got {count}"))
            .hint("give the .socket unit a single `ListenStream=`")),
    }
}

/// Uses the inherited socket, or binds the given address, or else the first free port from the
/// default one on.
pub(super) async fn bind(
    inherited: Option<TcpListener>,
    listen: Option<SocketAddr>,
    guard: &Guard,
) -> Result<Listener, Failure> {
    if let Some(socket) = inherited {
        return Server::inherit(socket, guard).map_err(|error| cannot_listen(&error));
    }
    let first = listen.unwrap_or(DEFAULT_ADDRESS);
    let further = if listen.is_some() { 0 } else { FURTHER_PORTS };
    for offset in 0..=further {
        let address = SocketAddr::new(first.ip(), first.port() + offset);
        match Server::listen(address, guard).await {
            Ok(listener) => return Ok(listener),
            Err(BindError::Io { .. }) if offset < further => {}
            Err(error) => return Err(cannot_listen(&error)),
        }
    }
    Err(Failure::usage("no port is free"))
}

pub(crate) fn cannot_listen(error: &BindError) -> Failure {
    match error {
        BindError::Refused(refused) => Failure::usage(refused.to_string()).hint("see --keys"),
        BindError::Io { source, .. } => {
            Failure::usage(format!("{error}: {source}")).hint("choose another address with --listen")
        }
        BindError::Inherited(source) => Failure::usage(format!("{error}: {source}")),
    }
}
