//! The servers that are measured, and one of them as a running process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::peers::Peers;
use crate::process;

/// Timeout for the line in which a server prints its address.
const START: Duration = Duration::from_mins(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// With the allocator of the `trunkline` binary.
    Trunkline,
    /// With the system allocator, as in a program that only links our crates.
    TrunklinePlain,
    /// Default settings.
    Rmcp,
    /// No sessions, and responses as plain JSON.
    RmcpJson,
    /// The same, with our allocator.
    RmcpMimalloc,
    FastMcp,
    TypeScript,
    TypeScript2,
}

#[derive(Debug)]
pub(super) struct Server {
    pub(super) kind: Kind,
    url: String,
    child: Child,
}

/// Returns the command that starts a server; `None` if its packages are not installed.
pub(super) fn command(kind: Kind, programs: &Path, root: &Path, peers: &Path) -> Result<Option<Command>> {
    let scripts = root.join("xtask/bench/peers");
    Ok(match kind {
        Kind::Trunkline => Some(of_ours(programs, "bench-server-mimalloc", "trunkline")),
        Kind::TrunklinePlain => Some(of_ours(programs, "bench-server", "trunkline")),
        Kind::Rmcp => Some(of_ours(programs, "bench-server", "rmcp")),
        Kind::RmcpJson => Some(of_ours(programs, "bench-server", "rmcp-json")),
        Kind::RmcpMimalloc => Some(of_ours(programs, "bench-server-mimalloc", "rmcp-json")),
        Kind::FastMcp => {
            let python = peers.join("python/bin/python");
            python.exists().then(|| {
                let mut command = Command::new(python);
                command.arg(scripts.join("echo_fastmcp.py"));
                command
            })
        }
        Kind::TypeScript => of_node(peers, "npm", "sdk", &scripts.join("echo_typescript.cjs"))?,
        Kind::TypeScript2 => of_node(peers, "servers", "server", &scripts.join("echo_typescript2.cjs"))?,
    })
}

fn of_ours(programs: &Path, program: &str, server: &str) -> Command {
    let mut command = Command::new(programs.join(program));
    command.args(["--server", server]);
    command
}

/// Returns the command of a Node script that gets the folder of its modules as an argument.
fn of_node(peers: &Path, group: &str, package: &str, script: &Path) -> Result<Option<Command>> {
    let modules = peers.join(group);
    if !modules.join("node_modules/@modelcontextprotocol").join(package).exists() {
        return Ok(None);
    }
    let mut command = Command::new(Peers::at(peers).node()?);
    command.arg(script).arg(modules);
    Ok(Some(command))
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Trunkline,
        Self::TrunklinePlain,
        Self::Rmcp,
        Self::RmcpJson,
        Self::RmcpMimalloc,
        Self::FastMcp,
        Self::TypeScript,
        Self::TypeScript2,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Trunkline => "trunkline",
            Self::Rmcp => "rmcp",
            Self::TrunklinePlain => "trunkline-plain",
            Self::RmcpJson => "rmcp-json",
            Self::RmcpMimalloc => "rmcp-mimalloc",
            Self::FastMcp => "fastmcp",
            Self::TypeScript => "typescript",
            Self::TypeScript2 => "typescript2",
        }
    }

    /// True if it serves clients of this era. The TypeScript SDK 1.x supports only the legacy era.
    pub(super) fn speaks(self, era: &str) -> bool {
        self != Self::TypeScript || era == "legacy"
    }

    /// Returns the servers with these names, or all if there are none.
    pub(super) fn chosen(only: &[String]) -> Result<Vec<Self>> {
        if let Some(unknown) = only.iter().find(|name| !Self::ALL.iter().any(|kind| kind.name() == **name)) {
            bail!("there is no server {unknown}; there are {}", Self::ALL.map(Self::name).join(", "));
        }
        let wanted = |kind: &Self| only.is_empty() || only.iter().any(|name| name == kind.name());
        Ok(Self::ALL.into_iter().filter(wanted).collect())
    }
}

impl Server {
    pub(super) fn start(kind: Kind, mut command: Command) -> Result<Self> {
        let shown = process::shown(&command);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("`{shown}` could not be started"))?;
        let output = child.stdout.take().expect("its output is piped");
        let mut server = Self { kind, url: String::new(), child };
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            let mut lines = BufReader::new(output).lines();
            // The receiver may be gone after its timeout. The rest of the output must still be
            // read, or the server would block on a full pipe.
            drop(tell.send(lines.next()));
            lines.for_each(drop);
        });
        let line = told.recv_timeout(START).ok().flatten().transpose()?;
        let url = line.as_deref().and_then(|line| line.strip_prefix("listening on "));
        url.with_context(|| format!("`{shown}` printed no address to connect to"))?
            .clone_into(&mut server.url);
        Ok(server)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only for a process that has already exited.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
