//! Commands of the clients that `cargo xtask peers` installs.

use crate::installed::{installed, root};
use std::{
    env, fs,
    path::{Path, PathBuf},
};
use tokio::process::Command;

const PACKAGES: &str = "clients/node_modules";

/// A client built with a major version of the TypeScript SDK; further arguments follow.
pub(crate) fn typescript(major: &str) -> Command {
    let mut command = Command::new(node());
    command.arg(shipped("typescript.cjs")).arg(major).env("NODE_PATH", installed(PACKAGES));
    command
}

/// A client built with the Python SDK or FastMCP; further arguments follow.
pub(crate) fn python(library: &str) -> Command {
    let mut command = Command::new(installed("python/bin/python"));
    command.arg(shipped("python_client.py")).arg(library);
    command
}

/// The Inspector's command line; further arguments follow.
pub(crate) fn inspector() -> Command {
    let package = installed(PACKAGES).join("@modelcontextprotocol/inspector");
    let mut command = Command::new(node());
    command.arg(package.join("clients/launcher/build/index.js")).arg("--cli");
    command
}

/// The command of a stdio server that forwards to a local port.
pub(crate) fn pipe(port: u16) -> Vec<String> {
    let words = [installed("python/bin/python"), shipped("pipe.py")];
    let words = words.iter().map(|word| word.display().to_string());
    words.chain([port.to_string()]).collect()
}

/// The Node binary installed as a peer; there is none if the one on the PATH is new enough.
fn node() -> PathBuf {
    let packages = fs::read_dir(root().join("node22/node_modules")).into_iter().flatten().flatten();
    let mut programs = packages.map(|package| package.path().join("bin/node"));
    programs.find(|program| program.exists()).unwrap_or_else(|| PathBuf::from("node"))
}

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/peers/clients").join(name)
}
