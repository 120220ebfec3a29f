//! Checks whether a port is free, and which process holds it.

use super::Check;
use crate::{cause::Cause, diagnosis::Problem, evidence::Evidence};
use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
};

/// Maximum number of processes inspected.
const MOST_PROCESSES: usize = 20_000;
/// Maximum number of descriptors inspected per process.
const MOST_DESCRIPTORS: usize = 4096;

/// The description by [`holder`] of a process of this program.
const OURS: &str = "`trunkline` ";

/// Checks whether `serve` could bind its default port.
pub fn check_port(port: u16) -> Check {
    let what = format!("port {port}");
    match TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))) {
        Ok(_) => Check::fine(what, "free"),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let holder = holder(port);
            if holder.as_deref().is_some_and(|holder| holder.starts_with(OURS)) {
                return Check::fine(what, "Trunkline serves there already");
            }
            let who = holder.clone().unwrap_or_else(|| "another user's process".to_owned());
            let problem = Problem::new(Cause::DefaultPortTaken, format!("port {port} is taken by {who}"))
                .proofs(holder.map(|holder| Evidence::fact(format!("{holder} listens there"))))
                .fix("trunkline serve --listen 127.0.0.1:0    # any free one");
            Check::found(what, vec![problem])
        }
        Err(error) => Check::not_verified(what, error.to_string()),
    }
}

/// Name and pid of the process that listens on a local port, where `/proc` shows it.
fn holder(port: u16) -> Option<String> {
    let sockets: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| table.lines().skip(1).filter_map(|line| listening(line, port)).collect::<Vec<_>>())
        .map(|inode| format!("socket:[{inode}]"))
        .collect();
    for process in fs::read_dir("/proc").ok()?.flatten().take(MOST_PROCESSES) {
        // Skips `self` and `thread-self`, which are links to a numbered entry.
        if !process.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let Ok(descriptors) = fs::read_dir(process.path().join("fd")) else { continue };
        for descriptor in descriptors.flatten().take(MOST_DESCRIPTORS) {
            let Ok(target) = fs::read_link(descriptor.path()) else { continue };
            if sockets.iter().any(|socket| target.as_os_str() == socket.as_str()) {
                let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
                return Some(format!(
                    "`{}` (process {})",
                    name.trim(),
                    process.file_name().to_string_lossy()
                ));
            }
        }
    }
    None
}

/// The inode of the listening socket, if this line of `/proc/net/tcp` is about the port.
fn listening(line: &str, port: u16) -> Option<String> {
    const LISTEN: &str = "0A";
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
    let (_, number) = local.rsplit_once(':')?;
    (*state == LISTEN && u16::from_str_radix(number, 16) == Ok(port)).then(|| (*inode).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkup::Verdict;

    #[test]
    fn a_taken_port_is_told_with_its_holder() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let check = check_port(port);
        assert_eq!(check.verdict, Verdict::Warning);
        let own = format!("(process {})", std::process::id());
        assert!(!cfg!(target_os = "linux") || check.problems[0].summary.contains(&own), "{check:?}");
    }
}
