//! Finds the local addresses on which the server's port is open.

use super::{Probe, Stage};
use crate::{
    evidence::Step,
    rule::{Carriers, Mode},
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use trunkline_client::is_this_machine;

/// The observation: one local address each.
pub(crate) const LISTENING_STEP: Step = Step("listening");

/// The kernel's socket tables; on systems without them nothing is observed.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

/// The code of the LISTEN state in these tables.
const LISTEN: &str = "0A";

pub(crate) static LISTENING: Probe =
    Probe::new("listening", Mode::Passive, |stage| Box::pin(async { run(stage) })).carriers(Carriers::Http);

fn run(stage: &mut Stage) {
    let Some(url) = stage.known.dial.address().cloned() else { return };
    let Some(port) = url.port_or_known_default().filter(|_| is_this_machine(&url)) else { return };
    for table in TABLES {
        let Ok(text) = std::fs::read_to_string(table) else { continue };
        for address in text.lines().skip(1).filter_map(|line| listener(line, port)) {
            stage.speaker.observe(LISTENING_STEP, address.to_string());
        }
    }
}

/// The local address in a line of the table, if that socket listens on this port.
fn listener(line: &str, port: u16) -> Option<IpAddr> {
    let mut words = line.split_whitespace().skip(1);
    let (address, state) = (words.next()?, words.nth(1)?);
    let (address, own) = address.split_once(':')?;
    if state != LISTEN || u16::from_str_radix(own, 16) != Ok(port) {
        return None;
    }
    // Each group of four bytes is in native byte order.
    let mut bytes = Vec::new();
    for group in address.as_bytes().chunks(8) {
        let number = u32::from_str_radix(std::str::from_utf8(group).ok()?, 16).ok()?;
        bytes.extend(number.to_ne_bytes());
    }
    match bytes.len() {
        4 => Some(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?).into()),
        16 => Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_as_the_kernel_writes_it() {
        let line = "   0: 00000000:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0 0 1";
        assert_eq!(listener(line, 3000), Some(Ipv4Addr::UNSPECIFIED.into()));
        assert_eq!(listener(line, 3001), None);
        let connected = line.replace(" 0A ", " 01 ");
        assert_eq!(listener(&connected, 3000), None);
        let six = "   0: 00000000000000000000000000000000:0BB8 00000000000000000000000000000000:0000 0A 0:0";
        assert_eq!(listener(six, 3000), Some(Ipv6Addr::UNSPECIFIED.into()));
    }
}
