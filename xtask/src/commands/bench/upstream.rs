//! The server that the clients call: a process that listens, or a command that each client starts.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::case::{Carrier, Case};

/// Timeout until a started server accepts connections.
const START: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) enum Upstream {
    Http { address: SocketAddr, process: Child },
    Command { words: Vec<String> },
}

impl Upstream {
    pub(super) fn start(program: &Path, case: &Case) -> Result<Self> {
        let mut words = vec![program.to_string_lossy().into_owned()];
        if case.era == "legacy" {
            words.push("--legacy".to_owned());
        }
        if case.carrier == Carrier::Stdio {
            words.push("--stdio".to_owned());
            return Ok(Self::Command { words });
        }
        let address = free_address()?;
        words.extend(["--listen".to_owned(), address.to_string()]);
        let mut command = Command::new(program);
        command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null());
        let process =
            command.spawn().with_context(|| format!("{} could not be started", program.display()))?;
        let mut upstream = Self::Http { address, process };
        upstream.wait_until_there()?;
        Ok(upstream)
    }

    /// The arguments that give `bench-client` the server's address or command.
    pub(super) fn arguments(&self) -> Vec<String> {
        match self {
            Self::Http { address, .. } => vec!["--url".to_owned(), format!("http://{address}/mcp")],
            Self::Command { words } => {
                std::iter::once("--".to_owned()).chain(words.iter().cloned()).collect()
            }
        }
    }

    fn wait_until_there(&mut self) -> Result<()> {
        let Self::Http { address, process } = self else { return Ok(()) };
        let start = Instant::now();
        while TcpStream::connect(*address).is_err() {
            if let Some(status) = process.try_wait()? {
                bail!("the server exited before it accepted a connection ({status})");
            }
            if start.elapsed() > START {
                bail!("the server cannot be reached at {address}");
            }
            thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        if let Self::Http { process, .. } = self {
            // Both fail only for a process that has already exited.
            drop(process.kill());
            drop(process.wait());
        }
    }
}

/// Returns an address whose port was free a moment ago. The server cannot report a port that it
/// picked itself.
fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port")?;
    Ok(listener.local_addr()?)
}
