//! The servers: where they are installed, how to start them, and how to check that they have
//! exited.

use crate::{
    cell::{Cell, Server},
    script::Setting,
    site::Site,
    wire::Wire,
};
use std::{
    collections::HashMap,
    env, fs,
    net::SocketAddr,
    path::Path,
    process::Stdio,
    sync::atomic::{AtomicUsize, Ordering},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, BufReader},
    process::{Child, Command},
};
use trunkline_client::{Carrier, Target};
use trunkline_protocol::Era;
use trunkline_testkit::peers::installed;

/// Environment variable that every process of a server inherits; its processes are found by it.
const MARK: &str = "TRUNKLINE_MATRIX_CELL";

/// A server that is ready for connections. Dropping it stops the processes started for it.
pub(crate) struct Peer {
    pub(crate) target: Target,
    pub(crate) wire: Option<Wire>,
    /// The server's temporary folder: a repository for `git`, files for `filesystem`.
    folder: TempDir,
    mark: String,
    process: Option<Child>,
}

/// A command and its environment.
struct Program {
    words: Vec<String>,
    variables: Vec<(&'static str, String)>,
}

impl Peer {
    /// Prepares a server: over stdio the client starts it; over HTTP it is started here, behind a
    /// recording [`Wire`].
    pub(crate) async fn prepare(cell: Cell) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let mark = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = TempDir::new().unwrap();
        furnish(cell.server, folder.path()).await;
        let program = program(cell, folder.path());
        if cell.carrier == Carrier::Stdio {
            let mut target = Target::command(program.words).unwrap().with_variable(MARK, &mark);
            for (name, value) in program.variables {
                target = target.with_variable(name, value);
            }
            return Self { target, wire: None, folder, mark, process: None };
        }
        let (process, server) = start(&program, &mark).await;
        let wire = Wire::to(server).await;
        let path = if cell.carrier == Carrier::LegacySse { "sse" } else { "mcp" };
        let target = Target::url(&format!("http://{}/{path}", wire.address)).unwrap();
        Self { target, wire: Some(wire), folder, mark, process: Some(process) }
    }

    pub(crate) fn root(&self) -> String {
        format!("file://{}", self.folder.path().display())
    }

    pub(crate) fn setting(&self, site: &Site) -> Setting {
        let folder = self.folder.path().display().to_string();
        Setting { folder, root: self.root(), page: site.page(), silent: site.silent() }
    }

    /// Returns the processes of this server, as `/proc/pid command`. Only Linux shows the
    /// environment of other processes.
    pub(crate) fn processes(&self) -> Vec<String> {
        if !cfg!(target_os = "linux") {
            return Vec::new();
        }
        let wanted = format!("{MARK}={}", self.mark);
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let owned = |path: &Path| {
            let environment = fs::read(path.join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
        };
        let paths = entries.map(|entry| entry.path()).filter(|path| owned(path));
        paths.map(|path| format!("{} {}", path.display(), command_of(&path))).collect()
    }

    /// Stops a server that was started here.
    pub(crate) async fn end(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().await.unwrap();
        }
    }
}

/// Returns the environment that servers inherit from.
pub(crate) fn environment() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    env::vars_os().collect()
}

fn command_of(process: &Path) -> String {
    let command = fs::read(process.join("cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&command).replace('\0', " ")
}

fn shipped(name: &str) -> String {
    format!("{}/peers/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn program(cell: Cell, folder: &Path) -> Program {
    let folder = folder.display().to_string();
    let npm = |name: &str| installed(&format!("npm/node_modules/.bin/{name}"));
    let python = |name: &str| installed(&format!("python/bin/{name}"));
    let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let http = cell.carrier == Carrier::StreamableHttp;
    let mut variables = Vec::new();
    let mut words = match cell.server {
        Server::Everything if cell.carrier == Carrier::Stdio => {
            text(&[&npm("mcp-server-everything"), "stdio"])
        }
        Server::Everything => {
            variables.push(("PORT", "0".to_owned()));
            variables.push(("REPORT_LISTENERS", "1".to_owned()));
            let script = installed("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
            let mode = if http { "streamableHttp" } else { "sse" };
            text(&["node", "--require", &shipped("loopback.cjs"), &script, mode])
        }
        Server::Filesystem => text(&[&npm("mcp-server-filesystem"), &folder]),
        Server::Memory => {
            variables.push(("MEMORY_FILE_PATH", format!("{folder}/memory.jsonl")));
            text(&[&npm("mcp-server-memory")])
        }
        Server::Git => text(&[&python("mcp-server-git"), "-r", &folder]),
        Server::Time => text(&[&python("mcp-server-time"), "--local-timezone", "UTC"]),
        Server::Fetch => text(&[&python("mcp-server-fetch"), "--allow-private-ips"]),
        Server::FastMcp => text(&[&python("python"), &shipped("fastmcp_server.py")]),
        Server::Rmcp => {
            let era = if cell.era == Era::Legacy { "legacy" } else { "both" };
            text(&[env!("CARGO_BIN_EXE_rmcp-server"), "--era", era])
        }
    };
    if http && matches!(cell.server, Server::FastMcp | Server::Rmcp) {
        words.extend(text(&["--http", "0"]));
    }
    Program { words, variables }
}

async fn furnish(server: Server, folder: &Path) {
    if matches!(server, Server::Filesystem | Server::Git) {
        fs::write(folder.join("hello.txt"), "hello from a file").unwrap();
    }
    if server == Server::Git {
        for words in
            [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "--message", "Say hello"]]
        {
            let git = Command::new("git")
                .args([
                    "-c",
                    "user.name=Matrix",
                    "-c",
                    "user.email=matrix@example.com",
                    "-c",
                    "commit.gpgsign=false",
                ])
                .args(words)
                .current_dir(folder)
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .output()
                .await
                .unwrap();
            assert!(git.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&git.stderr));
        }
    }
}

/// Starts a server and waits for the line with its address.
async fn start(program: &Program, mark: &str) -> (Child, SocketAddr) {
    let variables: HashMap<_, _> = program.variables.iter().cloned().collect();
    let mut child = Command::new(&program.words[0])
        .args(&program.words[1..])
        .envs(variables)
        .env(MARK, mark)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (out, err) = (tokio::spawn(address(out)), tokio::spawn(address(err)));
    let found = tokio::select! {
        Ok(Some(found)) = out => found,
        Ok(Some(found)) = err => found,
        else => panic!("{:?} ended before it listened", program.words),
    };
    (child, found)
}

/// Returns the address in a line `listening on …`. Later output is read and dropped, so that the
/// server does not block on a full pipe.
async fn address(output: impl AsyncRead + Unpin + Send + 'static) -> Option<SocketAddr> {
    let mut lines = BufReader::new(output).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Some((_, found)) = line.split_once("listening on ") else { continue };
        let found = found.trim_start_matches("http://").trim_end_matches("/mcp");
        let Ok(found) = found.parse() else { continue };
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        return Some(found);
    }
    None
}
