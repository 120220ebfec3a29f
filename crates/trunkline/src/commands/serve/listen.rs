//! The listening socket of `serve`: inherited from the parent process, or bound here.

use crate::{
    environment,
    failure::Failure,
    listening::{self, cannot_listen},
};
use std::net::{SocketAddr, TcpListener};
use trunkline_serve::{Guard, Listener, Server};

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

/// Uses the inherited socket, or binds the address.
pub(super) async fn bind(
    inherited: Option<TcpListener>,
    address: SocketAddr,
    guard: &Guard,
) -> Result<Listener, Failure> {
    match inherited {
        Some(socket) => Server::inherit(socket, guard).map_err(|error| cannot_listen(&error, address)),
        None => listening::listen(address, guard).await,
    }
}
