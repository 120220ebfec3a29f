//! Parses the address of `--listen`.

use std::net::SocketAddr;

pub(crate) fn parse(text: &str) -> Result<SocketAddr, String> {
    trunkline_config::listen_address(text).ok_or_else(|| {
        "write a port such as `9001`, or an address and a port such as `127.0.0.1:9001`".to_owned()
    })
}
