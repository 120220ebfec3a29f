//! The linter finds nothing above info in our own servers, over every transport, directly and
//! behind the gateway.
#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test may panic, and only a part of the shared support is used here"
)]

mod support;

use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};
use support::{Run, trunkline};
use tempfile::TempDir;

/// A server over HTTP; it ends with the test.
struct Served {
    process: Child,
    endpoint: String,
}

impl Served {
    fn start(command: &mut Command) -> Self {
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        Self { process, endpoint: told["endpoint"].as_str().unwrap().to_owned() }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have exited already.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A folder to serve with a file, and a home directory next to it.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("project")).unwrap();
    fs::write(folder.path().join("project/hello.txt"), "hello from a file\n").unwrap();
    folder
}

/// The binary, with its home directory in this folder.
fn ours(folder: &Path) -> Command {
    let mut command = trunkline(&[]);
    command.env("HOME", folder).current_dir(folder);
    command
}

/// The arguments that serve a folder.
fn serve(folder: &Path, more: &[&str]) -> Vec<String> {
    let root = folder.join("project").display().to_string();
    let mut words = [env!("CARGO_BIN_EXE_trunkline"), "serve", "--root", &root].map(str::to_owned).to_vec();
    words.extend(more.iter().map(|word| (*word).to_owned()));
    words
}

fn is_clean(run: &Run) {
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"));
    let mut found = Vec::new();
    for rule in report["targets"][0]["rules"].as_array().unwrap_or_else(|| panic!("{run}")) {
        // Speed depends on the machine. All packs together have more tools than some clients take,
        // which is the user's choice.
        let is_ours = rule["group"] != "performance" && rule["rule"] != "tool-list-size";
        let findings = rule["findings"].as_array().filter(|_| is_ours);
        found.extend(findings.into_iter().flatten().filter(|finding| finding["level"] != "info"));
    }
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(report["targets"][0]["eras"], json!(["modern", "legacy"]), "{run}");
    assert!(report["summary"]["passed"].as_u64().is_some_and(|passed| passed > 100), "{}", report["summary"]);
}

fn is_clean_as_a_command(folder: &Path, words: &[String]) {
    is_clean(&Run::of(ours(folder).args(["lint", "--format", "json", "--"]).args(words), ""));
}

fn is_clean_at(folder: &Path, address: &str) {
    is_clean(&Run::of(ours(folder).args(["lint", "--format", "json", address]), ""));
}

#[test]
fn serving_a_directory_over_stdio() {
    let folder = folder();
    is_clean_as_a_command(folder.path(), &serve(folder.path(), &["--stdio"]));
    is_clean_as_a_command(folder.path(), &serve(folder.path(), &["--stdio", "--allow-write"]));
}

#[test]
fn serving_a_directory_over_http() {
    for more in [&[][..], &["--allow-write"]] {
        let folder = folder();
        let root = folder.path().join("project");
        let mut command = ours(folder.path());
        command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--root"]).arg(root).args(more);
        let served = Served::start(&mut command);
        is_clean_at(folder.path(), &served.endpoint);
    }
}

#[test]
fn the_example_that_has_one_of_everything() {
    let folder = folder();
    let examples = Path::new(env!("CARGO_BIN_EXE_trunkline")).with_file_name("examples");
    let program = examples.join("conformance-server");
    assert!(program.exists(), "it is not built; run cargo build -p trunkline --examples");
    is_clean_as_a_command(folder.path(), &[program.display().to_string(), "--stdio".to_owned()]);
}

#[test]
fn a_bridge_to_a_command() {
    let folder = folder();
    let behind = serve(folder.path(), &["--stdio"]);
    let mut words = [env!("CARGO_BIN_EXE_trunkline"), "bridge", "--"].map(str::to_owned).to_vec();
    words.extend(behind.clone());
    is_clean_as_a_command(folder.path(), &words);
    let mut command = ours(folder.path());
    command.args(["bridge", "--json", "--listen", "127.0.0.1:0", "--"]).args(&behind);
    let bridged = Served::start(&mut command);
    is_clean_at(folder.path(), &bridged.endpoint);
}

#[test]
fn the_gateway_with_several_servers() {
    let folder = folder();
    let files = serve(folder.path(), &["--stdio"]);
    let old = serve(folder.path(), &["--stdio", "--allow-write", "--era", "legacy"]);
    let rmcp = PathBuf::from(env!("CARGO_BIN_EXE_trunkline")).with_file_name("rmcp-server");
    assert!(rmcp.exists(), "rmcp-server is not built; run cargo build -p trunkline-testkit --bins");
    // Together they offer no more tools than clients accept.
    let servers = json!({
        "files": {"command": files, "deny": ["git_*"]},
        "old": {"command": old, "allow": ["*_file"]},
        "rmcp": {"command": [rmcp, "--era", "both"]},
    });
    let file = folder.path().join("gateway.json");
    fs::write(&file, json!({"mcp": {"servers": servers}}).to_string()).unwrap();
    let mut command = ours(folder.path());
    command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--config"]).arg(&file);
    let gateway = Served::start(&mut command);
    for name in ["files", "old", "rmcp"] {
        let address = format!("{}/server/{name}", gateway.endpoint);
        // A server's lists are known only after it was started, which the first request does.
        let listed = Run::of(ours(folder.path()).args(["list", &address]), "");
        assert_eq!(listed.code, 0, "{listed}");
        is_clean_at(folder.path(), &address);
    }
    is_clean_at(folder.path(), &gateway.endpoint);
}
