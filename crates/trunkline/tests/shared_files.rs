//! Several writers of one file: processes with a stdio client each, and packs in one gateway.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[expect(dead_code, reason = "it serves another target, too")]
mod support;

use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};
use support::trunkline;

/// Edits of each writer.
const EDITS: usize = 200;

/// Writes of each writer that name the hash of the content they replace.
const SWAPS: usize = 50;

/// A server over stdio and its client.
struct Peer {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Peer {
    fn start(command: &mut Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut peer = Self { process, input, output };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        peer.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}));
        assert!(peer.receive()["result"].is_object());
        peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        peer
    }

    /// A server of one folder.
    fn of(root: &Path) -> Self {
        let mut command = trunkline(&[("HOME", root.parent().unwrap().to_str().unwrap())]);
        Self::start(command.args(["serve", "--stdio", "--allow-write", "--root"]).arg(root))
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn ask(&mut self, id: usize, tool: &str, arguments: &Value) {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
    }

    /// The next response.
    fn receive(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server has closed its output");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message.get("id").is_some() && message.get("method").is_none() {
                return message;
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask(1, tool, arguments);
        self.receive()["result"].take()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have exited already.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// The edit that counts one line of the file up.
fn count_up(counter: &str, from: usize) -> Value {
    let (old, new) = (format!("{counter} {from}."), format!("{counter} {}.", from + 1));
    json!({"path": "counters.txt", "edits": [{"old_text": old, "new_text": new}]})
}

fn must_succeed(result: &Value) {
    assert_ne!(result["isError"], true, "{result}");
    assert!(result["content"].is_array(), "{result}");
}

#[test]
fn f15_no_edit_of_two_processes_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("counters.txt"), "a 0.\nb 0.\n").unwrap();
    let together = Barrier::new(2);
    thread::scope(|scope| {
        for counter in ["a", "b"] {
            let (root, together) = (&root, &together);
            scope.spawn(move || {
                let mut peer = Peer::of(root);
                together.wait();
                for from in 0..EDITS {
                    must_succeed(&peer.call("edit_file", &count_up(counter, from)));
                }
            });
        }
    });
    assert_eq!(fs::read_to_string(root.join("counters.txt")).unwrap(), format!("a {EDITS}.\nb {EDITS}.\n"));
}

#[test]
fn f15_of_two_processes_only_one_replaces_a_content_by_its_hash() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("sum.txt"), "0").unwrap();
    let together = Barrier::new(2);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut peer = Peer::of(&root);
                together.wait();
                for _ in 0..SWAPS {
                    add_one(&mut peer);
                }
            });
        }
    });
    assert_eq!(fs::read_to_string(root.join("sum.txt")).unwrap(), (2 * SWAPS).to_string());
}

/// Counts the file up by a write that succeeds only if nothing else was written since the read.
fn add_one(peer: &mut Peer) {
    loop {
        let read = peer.call("read_file", &json!({"path": "sum.txt"}))["structuredContent"].take();
        let number: usize = read["content"].as_str().unwrap().trim().parse().unwrap();
        let written =
            json!({"path": "sum.txt", "content": (number + 1).to_string(), "expected_hash": read["sha256"]});
        if peer.call("write_file", &written)["isError"] != true {
            return;
        }
    }
}

#[test]
fn f15_no_append_of_two_processes_is_lost_to_an_edit() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("counters.txt"), "a 0.\n").unwrap();
    let together = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut peer = Peer::of(&root);
            together.wait();
            for from in 0..EDITS {
                must_succeed(&peer.call("edit_file", &count_up("a", from)));
            }
        });
        scope.spawn(|| {
            let mut peer = Peer::of(&root);
            together.wait();
            for line in 0..EDITS {
                let more =
                    json!({"path": "counters.txt", "mode": "append", "content": format!("line {line}\n")});
                must_succeed(&peer.call("write_file", &more));
            }
        });
    });
    let text = fs::read_to_string(root.join("counters.txt")).unwrap();
    let lines: Vec<String> = (0..EDITS).map(|line| format!("line {line}")).collect();
    assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), lines);
    assert_eq!(text.lines().next(), Some(format!("a {EDITS}.").as_str()));
}

#[test]
fn f15_no_edit_of_two_packs_in_one_gateway_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("counters.txt"), "one 0.\ntwo 0.\n").unwrap();
    // The second pack has another root, so that the same file has another path in it.
    let servers = json!({
        "one": {"pack": "filesystem", "root": root, "write": true, "start": "eager"},
        "two": {"pack": "filesystem", "root": folder.path(), "write": true, "start": "eager"},
    });
    let file = folder.path().join("gateway.json");
    fs::write(&file, json!({"mcp": {"servers": servers}}).to_string()).unwrap();
    let mut command = trunkline(&[("HOME", folder.path().to_str().unwrap())]);
    let mut peer = Peer::start(command.args(["serve", "--stdio", "--config"]).arg(&file));
    for from in 0..EDITS {
        let mut second = count_up("two", from);
        second["path"] = json!("project/counters.txt");
        peer.ask(1, "one_edit_file", &count_up("one", from));
        peer.ask(2, "two_edit_file", &second);
        for _ in 0..2 {
            must_succeed(&peer.receive()["result"]);
        }
    }
    let text = fs::read_to_string(root.join("counters.txt")).unwrap();
    assert_eq!(text, format!("one {EDITS}.\ntwo {EDITS}.\n"));
}

/// A temporary file of a writer that was killed, and one whose writer still holds its lock, are
/// not shown; the first is removed.
#[test]
fn f07_temporary_files_are_hidden_and_removed_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::write(root.join("sub/plain.txt"), "needle\n").unwrap();
    let left = root.join("sub/.trunkline-4711-0-1a2b3c.tmp");
    let in_use = root.join("sub/.trunkline-4711-1-1a2b3c.tmp");
    fs::write(&left, "needle\n").unwrap();
    let writer = fs::File::create(&in_use).unwrap();
    writer.lock().unwrap();
    // A server that may not write removes nothing.
    let home = ("HOME", folder.path().to_str().unwrap());
    let mut reader = Peer::start(trunkline(&[home]).args(["serve", "--stdio", "--root"]).arg(&root));
    for (tool, arguments) in [
        ("list_directory", json!({"path": "sub"})),
        ("directory_tree", json!({"path": "."})),
        ("search_files", json!({"path": ".", "pattern": "*"})),
        ("search_content", json!({"path": ".", "query": "needle"})),
    ] {
        let result = reader.call(tool, &arguments);
        must_succeed(&result);
        let text = result.to_string();
        assert!(text.contains("plain.txt") && !text.contains("trunkline-4711"), "{tool}: {text}");
    }
    assert!(left.exists());
    let mut server = Peer::of(&root);
    let limit = Instant::now() + Duration::from_secs(30);
    while left.exists() {
        assert!(Instant::now() < limit, "the leftover is still there");
        thread::yield_now();
    }
    assert!(in_use.exists());
    // A directory that holds only a leftover can be deleted.
    drop(writer);
    must_succeed(&server.call("delete_file", &json!({"path": "sub", "recursive": true})));
    assert!(!root.join("sub").exists());
}

/// The limit on the size of files stands for a full disk: the write stops in the middle.
#[test]
fn f07_an_append_that_does_not_fit_leaves_the_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    fs::create_dir(&root).unwrap();
    let before = "x".repeat(60_000);
    fs::write(root.join("log.txt"), &before).unwrap();
    let script = r#"trap '' XFSZ; ulimit -f 128; exec "$@""#;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_trunkline"), "serve", "--stdio", "--allow-write"]);
    command.env_clear().env("HOME", folder.path()).arg("--root").arg(&root);
    let mut peer = Peer::start(&mut command);
    let more = json!({"path": "log.txt", "mode": "append", "content": "y".repeat(20_000)});
    let result = peer.call("write_file", &more);
    assert_eq!(result["isError"], true, "{result}");
    // Not compared by `assert_eq`, which would print all of it.
    assert!(fs::read_to_string(root.join("log.txt")).unwrap() == before);
    let fits = json!({"path": "log.txt", "mode": "append", "content": "z"});
    must_succeed(&peer.call("write_file", &fits));
    assert!(fs::read_to_string(root.join("log.txt")).unwrap() == before + "z");
}
