//! Peers: other gateways; the harness' `peers.json` says how to start and call them.
//!
//! In its texts `{PEERS}` is the folder where they are installed, `{bench}` the harness, `{up}`
//! the command of the upstream and `{tools}` its number of tools. They have fixed ports and expect
//! the upstream at a fixed address. Some listen on all interfaces, so run with peers only in a
//! separate network namespace.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::harness::{Harness, TOOLS};
use super::hop::{Access, Hop, Running, is_on_path};
use crate::process;

/// The address at which peers expect the upstream.
pub(super) const UPSTREAM: &str = "127.0.0.1:9110";

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Peer {
    pub(super) name: String,
    /// `None` for the upstream itself, and for a peer that callers start over stdio.
    #[serde(default)]
    cmd: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    url: Option<String>,
    stdio: Option<String>,
    #[serde(default)]
    load: Vec<String>,
    echo: Option<String>,
    blob: Option<String>,
    /// Shell commands before and after its start.
    before: Option<String>,
    setup: Option<String>,
    /// Modes that it does not support.
    #[serde(default)]
    pub(super) skip: Vec<String>,
    /// Numbers of callers that it supports; `None` means any number.
    clients: Option<Vec<usize>>,
}

/// Values of the placeholders in `peers.json`.
#[derive(Debug)]
pub(super) struct PeerPaths {
    pub(super) harness: PathBuf,
    pub(super) peers: PathBuf,
}

/// All peers of a harness.
pub(super) fn read(harness: &Path) -> Result<Vec<Peer>> {
    let file = harness.join("peers.json");
    let text = fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a JSON list of peers", file.display()))
}

impl Peer {
    pub(super) fn takes(&self, mode: &str, callers: usize) -> bool {
        let number = self.clients.as_ref().is_none_or(|known| mode != "echo" || known.contains(&callers));
        number && !self.skip.iter().any(|skipped| skipped == mode)
    }

    /// Returns the path of the peer's program if it is not installed.
    pub(super) fn missing(&self, paths: &PeerPaths) -> Option<String> {
        let words = self.cmd.iter().chain(&self.stdio).flat_map(|text| text.split_whitespace());
        let ours = words.clone().find(|word| word.starts_with("{PEERS}/"));
        let program = paths.fill(ours.or_else(|| words.clone().next())?);
        let there = if program.contains('/') { Path::new(&program).is_file() } else { is_on_path(&program) };
        (!there).then_some(program)
    }

    /// Starts it and waits until it answers.
    pub(super) fn start(&self, harness: &Harness, upstream: &Running, paths: &PeerPaths) -> Result<Hop> {
        if let Some(before) = &self.before {
            self.shell(before, paths)?;
        }
        let access = match (&self.stdio, &self.url) {
            (Some(command), _) => Access::Command(paths.fill(command)),
            (None, Some(url)) if !self.cmd.is_empty() => {
                let mut command = Command::new(paths.fill(&self.cmd[0]));
                command.args(self.cmd[1..].iter().map(|word| paths.fill(word)));
                self.settle(&mut command, paths);
                Access::Listening(Running::start(command, url.clone())?)
            }
            _ => Access::Upstream,
        };
        let mut hop = Hop::named(&self.name, access);
        hop.load = self.load.iter().map(|word| paths.fill(word)).collect();
        hop.echo = self.echo.clone().unwrap_or(hop.echo);
        hop.blob = self.blob.clone().unwrap_or(hop.blob);
        if let Some(setup) = &self.setup {
            self.shell(setup, paths)?;
        }
        harness.wait_for(&hop, upstream)?;
        Ok(hop)
    }

    fn shell(&self, text: &str, paths: &PeerPaths) -> Result<()> {
        let mut command = Command::new("sh");
        command.args(["-c", &paths.fill(text)]).stdout(Stdio::null());
        self.settle(&mut command, paths);
        process::run(&mut command)
    }

    fn settle(&self, command: &mut Command, paths: &PeerPaths) {
        command.envs(self.env.iter().map(|(name, value)| (name, paths.fill(value))));
        if let Some(folder) = &self.cwd {
            command.current_dir(folder);
        }
    }
}

impl PeerPaths {
    fn fill(&self, text: &str) -> String {
        text.replace("{up}", "{bench}/target/release/upstream --stdio --tools {tools}")
            .replace("{bench}", &self.harness.to_string_lossy())
            .replace("{PEERS}", &self.peers.to_string_lossy())
            .replace("{tools}", TOOLS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(text: &str) -> Peer {
        serde_json::from_str(text).unwrap()
    }

    fn paths() -> PeerPaths {
        PeerPaths { harness: "/harness".into(), peers: "/nowhere".into() }
    }

    #[test]
    fn the_program_that_is_missing_is_named_even_behind_a_shell() {
        let plain =
            peer(r#"{"name":"a","cmd":["{PEERS}/a/bin/a","--port","1"],"url":"http://127.0.0.1:1/mcp"}"#);
        assert_eq!(plain.missing(&paths()).as_deref(), Some("/nowhere/a/bin/a"));
        let shell =
            peer(r#"{"name":"b","cmd":["sh","-c","exec {PEERS}/b -- {up}"],"url":"http://127.0.0.1:1/mcp"}"#);
        assert_eq!(shell.missing(&paths()).as_deref(), Some("/nowhere/b"));
        let installed = peer(r#"{"name":"c","stdio":"sh -c true"}"#);
        assert_eq!(installed.missing(&paths()), None);
    }

    #[test]
    fn a_peer_is_asked_only_what_it_has() {
        let peer = peer(r#"{"name":"a","skip":["blob"],"clients":[1,32]}"#);
        assert!(peer.takes("echo", 32) && peer.takes("list", 8));
        assert!(!peer.takes("echo", 256) && !peer.takes("blob", 4));
    }

    #[test]
    fn texts_are_filled_in() {
        let filled = paths().fill("{PEERS}/x {up}");
        assert_eq!(filled, format!("/nowhere/x /harness/target/release/upstream --stdio --tools {TOOLS}"));
    }
}
