//! Authorization servers of others, each with an MCP server that it protects.

use crate::installed::installed;
use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

/// Lifetime of access tokens in seconds, where it can be chosen.
const LIFETIME: u64 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Product {
    NodeOidcProvider,
    Authlib,
    PythonSdk,
    TypeScriptSdk,
}

/// A running authorization server.
pub(crate) struct Authority {
    child: Child,
    /// The address of the protected server.
    pub(crate) server: String,
}

impl Authority {
    pub(crate) fn start(product: Product) -> Self {
        let script =
            |name: &str| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../testkit/peers").join(name);
        let node = |name: &str, group: &str| {
            let mut command = Command::new("node");
            command.arg(script(name)).arg(installed(group));
            command
        };
        let python = |name: &str| {
            let mut command = Command::new(installed("python/bin/python"));
            command.arg(script(name));
            command
        };
        let mut command = match product {
            Product::NodeOidcProvider => node("oidc_server.mjs", "authority"),
            Product::TypeScriptSdk => node("sdk_auth_server.mjs", "clients"),
            Product::Authlib => python("authlib_server.py"),
            Product::PythonSdk => python("sdk_auth_server.py"),
        };
        command.arg(LIFETIME.to_string());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
        let line = lines.find_map(|line| line.ok().filter(|line| line.starts_with('{'))).unwrap();
        let told: serde_json::Value = serde_json::from_str(&line).unwrap();
        Self { server: told["server"].as_str().unwrap().to_owned(), child }
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
