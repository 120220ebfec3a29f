//! Sends signed heads of the audit trail to syslog, in the format of RFC 5424.

use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, ToSocketAddrs as _, UdpSocket},
    os::unix::net::UnixDatagram,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use trunkline_gateway::audit::{HeadSink, SignedHead};

/// Facility 13 (log audit), severity 5 (notice).
const PRIORITY: u8 = 13 * 8 + 5;

/// Receiver of the messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SyslogTarget {
    /// A local datagram socket such as `/dev/log`.
    Socket(PathBuf),
    /// `host:port`, over UDP.
    Udp(String),
}

impl SyslogTarget {
    /// Reads a path or `host:port`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if text.starts_with('/') {
            return Some(Self::Socket(text.into()));
        }
        let (host, port) = text.rsplit_once(':')?;
        let is_address = !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0);
        is_address.then(|| Self::Udp(text.to_owned()))
    }

    /// Best effort: a head that cannot be sent is logged once, until sending works again.
    pub(crate) fn sink(self) -> HeadSink {
        let failing = AtomicBool::new(false);
        Arc::new(move |head| {
            let result = message(head).and_then(|message| self.send(message.as_bytes()));
            let failed = result.is_err();
            if let Err(error) = result
                && !failing.load(Ordering::Relaxed)
            {
                tracing::warn!(%error, "a signed head of the audit trail could not be sent to syslog");
            }
            failing.store(failed, Ordering::Relaxed);
        })
    }

    /// Never waits for the receiver.
    fn send(&self, message: &[u8]) -> io::Result<()> {
        match self {
            Self::Socket(path) => {
                let socket = UnixDatagram::unbound()?;
                socket.set_nonblocking(true)?;
                socket.send_to(message, path)?;
            }
            Self::Udp(address) => {
                let address = address.to_socket_addrs()?.next();
                let address = address.ok_or_else(|| io::Error::other("the name has no address"))?;
                let socket = if address.is_ipv4() {
                    UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?
                } else {
                    UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))?
                };
                socket.set_nonblocking(true)?;
                socket.send_to(message, address)?;
            }
        }
        Ok(())
    }
}

fn message(head: &SignedHead) -> io::Result<String> {
    let (time, process) = (&head.time, std::process::id());
    let head = serde_json::to_string(head)?;
    Ok(format!("<{PRIORITY}>1 {time} - trunkline {process} audit-head - {head}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_addresses_are_told_apart() {
        assert_eq!(SyslogTarget::read("/dev/log"), Some(SyslogTarget::Socket("/dev/log".into())));
        for address in ["127.0.0.1:514", "[::1]:514", "logs.example.com:514"] {
            assert_eq!(SyslogTarget::read(address), Some(SyslogTarget::Udp(address.into())));
        }
        for text in ["", "logs", ":514", "logs:", "logs:0", "logs:99999"] {
            assert_eq!(SyslogTarget::read(text), None, "{text}");
        }
    }
}
