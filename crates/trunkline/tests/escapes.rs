//! Programs that leave their process tree end with their job, their server and with us.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[expect(dead_code, reason = "it serves another target, too")]
mod support;

use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use support::trunkline;
use tempfile::TempDir;

/// Only to end a test that hangs.
const LIMIT: Duration = Duration::from_mins(1);

/// A project whose tests leave a process behind, and a server of it.
struct Bench {
    folder: TempDir,
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Bench {
    /// `mode` is the second argument of the script.
    fn new(mode: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let makefile = format!("test:\n\tpython3 {} {}/pid {mode}\n", script(), folder.path().display());
        fs::write(folder.path().join("Makefile"), makefile).unwrap();
        let mut command = trunkline(&[("HOME", folder.path().to_str().unwrap())]);
        command.args(["serve", "--stdio", "--allow-run", "--root"]).arg(folder.path());
        Self::start(folder, &mut command)
    }

    fn start(folder: TempDir, command: &mut Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut bench = Self { folder, process, input, output };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        assert!(bench.ask("initialize", &hello).is_object());
        bench
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has closed its output");
            let mut message: Value = serde_json::from_str(&line).unwrap();
            if message.get("id").is_some() && message.get("method").is_none() {
                return message["result"].take();
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut result = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].take()
    }

    /// Starts the tests as a job; its id.
    fn job(&mut self, timeout: Option<u64>) -> Value {
        let arguments = json!({"action": "run_tests", "timeoutSeconds": timeout});
        self.call("start_job", &arguments)["jobId"].take()
    }

    /// The escaped process, once it runs.
    fn escaped(&self) -> PathBuf {
        let file = self.folder.path().join("pid");
        wait_until("there is no escaped process", || file.exists());
        let process = Path::new("/proc").join(fs::read_to_string(file).unwrap().trim());
        let environment = fs::read(process.join("environ")).unwrap();
        assert!(!String::from_utf8_lossy(&environment).contains("TRUNKLINE"), "it has not escaped");
        process
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // It may have exited already.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn script() -> String {
    format!("{}/tests/escapes.py", env!("CARGO_MANIFEST_DIR"))
}

fn wait_until(otherwise: &str, is_true: impl Fn() -> bool) {
    let end = Instant::now() + LIMIT;
    while !is_true() {
        assert!(Instant::now() < end, "{otherwise}");
        thread::yield_now();
    }
}

/// True if there is no such process, or only its exit status.
fn is_gone(process: &Path) -> bool {
    fs::read_to_string(process.join("stat")).map_or(true, |stat| stat.contains(") Z "))
}

#[test]
fn a_supervised_program_gets_signals_and_its_ending_is_told() {
    for (order, outcome) in [("kill -TERM $$", "SIGTERM"), ("kill -SEGV $$", "SIGSEGV"), ("exit 3", "3")] {
        let mut bench = Bench::new("");
        let script = format!("#!/bin/sh\n{order}\n");
        let file = bench.folder.path().join("gradlew");
        fs::write(&file, script).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(bench.folder.path().join("build.gradle"), "").unwrap();
        let done = bench.call("run_tests", &json!({"kind": "gradle"}));
        assert!(done.to_string().contains(outcome), "{outcome}: {done}");
    }
}

#[test]
fn c09_an_escaped_process_ends_when_its_job_is_done() {
    let mut bench = Bench::new("");
    let done = bench.call("run_tests", &json!({}));
    assert_eq!(done["success"], true, "{done}");
    let pid = fs::read_to_string(bench.folder.path().join("pid")).unwrap();
    assert!(is_gone(&Path::new("/proc").join(pid.trim())), "{done}");
}

#[test]
fn c09_an_escaped_process_ends_at_the_timeout_of_its_job() {
    let mut bench = Bench::new("wait");
    bench.job(Some(3));
    let escaped = bench.escaped();
    wait_until("it survives the timeout", || is_gone(&escaped));
}

#[test]
fn c09_an_escaped_process_ends_when_its_job_is_cancelled() {
    let mut bench = Bench::new("wait");
    let job = bench.job(None);
    let escaped = bench.escaped();
    bench.call("cancel_job", &json!({"jobId": job}));
    wait_until("it survives the cancellation", || is_gone(&escaped));
}

#[test]
fn c09_an_escaped_process_ends_when_the_client_disconnects() {
    let mut bench = Bench::new("wait");
    bench.job(None);
    let escaped = bench.escaped();
    bench.input = None;
    bench.process.wait().unwrap();
    wait_until("it survives the server", || is_gone(&escaped));
}

#[test]
fn c09_an_escaped_process_ends_when_the_server_is_killed() {
    let mut bench = Bench::new("wait");
    bench.job(None);
    let escaped = bench.escaped();
    bench.process.kill().unwrap();
    wait_until("it survives the server", || is_gone(&escaped));
}

#[test]
fn c09_an_escaped_process_of_a_configured_server_ends_with_the_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let file = folder.path().join("gateway.json");
    let server = json!({"command": ["python3", script(), pid, "wait"], "start": "eager"});
    fs::write(&file, json!({"mcp": {"servers": {"one": server}}}).to_string()).unwrap();
    let mut command = trunkline(&[("HOME", folder.path().to_str().unwrap())]);
    command.args(["serve", "--stdio", "--config"]).arg(&file);
    let mut bench = Bench::start(folder, &mut command);
    let escaped = bench.escaped();
    bench.process.kill().unwrap();
    wait_until("it survives the gateway", || is_gone(&escaped));
}

#[test]
fn c09_an_escaped_process_ends_if_the_job_kills_its_supervisor() {
    let mut bench = Bench::new("wait");
    // The parent of `make` is the supervisor, if there is one.
    let makefile = fs::read_to_string(bench.folder.path().join("Makefile")).unwrap();
    let kills = "\tkill -9 $$(ps -o ppid= -p $$PPID)\n";
    let order = makefile.replace(" wait\n", &format!("\n{kills}\tsleep 600\n"));
    fs::write(bench.folder.path().join("Makefile"), order).unwrap();
    bench.job(Some(20));
    let escaped = bench.escaped();
    wait_until("it survives its supervisor", || is_gone(&escaped));
    assert!(bench.process.try_wait().unwrap().is_none(), "the server itself was killed");
}
