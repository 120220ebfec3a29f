//! The binary that serves a folder, for clients to connect to.

use crate::cell::{Carrier, Cell};
use std::{fs, process::Stdio};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

pub(crate) const TEXT: &str = "hello from a file\n";

/// A server of a folder with one file. Dropping it kills its processes.
pub(crate) struct Served {
    /// A URL, or the command that the client starts.
    pub(crate) target: Vec<String>,
    _process: Option<Child>,
    folder: TempDir,
}

impl Served {
    pub(crate) async fn start(cell: Cell) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("hello.txt"), TEXT).unwrap();
        let root = folder.path().display().to_string();
        let binary = env!("CARGO_BIN_EXE_trunkline");
        if cell.carrier == Carrier::Stdio {
            let words = [binary, "serve", "--stdio", "--no-audit", "--root", &root];
            let target = words.map(str::to_owned).to_vec();
            return Self { target, _process: None, folder };
        }
        let mut process = Command::new(binary)
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--no-audit", "--root", &root])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
        let told: serde_json::Value = serde_json::from_str(&line).unwrap();
        let endpoint = told["endpoint"].as_str().unwrap();
        Self { target: vec![place(endpoint, cell.carrier)], _process: Some(process), folder }
    }

    /// The processes that serve this folder. Only Linux shows the arguments of other processes.
    pub(crate) fn processes(&self) -> Vec<String> {
        if !cfg!(target_os = "linux") {
            return Vec::new();
        }
        let root = self.folder.path().display().to_string();
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let words = entries.map(|entry| fs::read(entry.path().join("cmdline")).unwrap_or_default());
        let words = words.map(|words| String::from_utf8_lossy(&words).replace('\0', " "));
        words.filter(|words| words.contains(&root)).collect()
    }
}

pub(crate) fn place(endpoint: &str, carrier: Carrier) -> String {
    match carrier {
        Carrier::Sse => endpoint.replace("/mcp", "/sse"),
        Carrier::Stdio | Carrier::Http => endpoint.to_owned(),
    }
}
