//! Whether a server on this machine can be reached from outside of it.

use super::{LineUse, Probe, Stage, foreign_origin::is_loopback};
use crate::{
    evidence::Step,
    rule::{Carriers, Eras, Mode},
};
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};
use tokio::net::{TcpStream, UdpSocket};

/// Addresses of this machine that were tried.
pub const INTERFACES_TRIED_STEP: Step = Step("interfaces-tried");
/// Those of them on which the server's port is open.
pub const INTERFACES_OPEN_STEP: Step = Step("interfaces-open");

/// How long a connection inside one machine may take.
const CONNECT: Duration = Duration::from_millis(500);

/// An address nobody has; a datagram socket that is pointed at it tells our own address, and nothing is sent.
const ELSEWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 9);

/// Where loopback is a whole network, only who listens on all interfaces is found here too.
const OTHER_LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

pub static INTERFACES: Probe = Probe {
    name: "interfaces",
    mode: Mode::Negative,
    eras: Eras::Both,
    carriers: Carriers::StreamableHttp,
    line: LineUse::Fresh,
    run: |stage| Box::pin(run(stage)),
};

async fn run(stage: &mut Stage) {
    let Some(url) = stage.speaker.url() else { return };
    let Some(port) = url.port_or_known_default().filter(|_| is_loopback(&url)) else { return };
    let mut addresses: Vec<IpAddr> = own_address().await.into_iter().collect();
    if cfg!(target_os = "linux") && url.host_str() != Some("127.0.0.2") {
        addresses.push(OTHER_LOOPBACK);
    }
    for address in addresses {
        stage.speaker.observe(INTERFACES_TRIED_STEP, address.to_string());
        let connect = TcpStream::connect(SocketAddr::new(address, port));
        if let Ok(Ok(_)) = tokio::time::timeout(CONNECT, connect).await {
            stage.speaker.observe(INTERFACES_OPEN_STEP, address.to_string());
        }
    }
}

/// The address under which others know this machine.
async fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await.ok()?;
    socket.connect(ELSEWHERE).await.ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}
