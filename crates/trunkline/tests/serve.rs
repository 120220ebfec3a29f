//! The real binary as a server, used by the real binary as a client.
#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test may panic, and only a part of the shared support is used here"
)]

#[path = "../../auth/tests/signer/mod.rs"]
mod signer;
mod support;

use signer::Signer;
use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    process::{Child, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use support::{Run, trunkline};

/// A server in a separate folder, killed at the end of the test.
struct Served {
    process: Child,
    endpoint: String,
    folder: tempfile::TempDir,
}

impl Served {
    fn start(extra: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::write(folder.path().join("root/hello.txt"), "hello\n").unwrap();
        Self::start_in(folder, extra)
    }

    fn start_in(folder: tempfile::TempDir, extra: &[&str]) -> Self {
        let audit = folder.path().join("audit");
        let mut command = trunkline(&[]);
        command
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--root"])
            .arg(folder.path().join("root"));
        command.arg("--audit").arg(audit).args(extra);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: serde_json::Value = serde_json::from_str(&line).unwrap();
        Self { process, endpoint: told["endpoint"].as_str().unwrap().to_owned(), folder }
    }

    fn client(&self, command: &str, rest: &[&str]) -> Run {
        Run::of(trunkline(&[]).args([command, &self.endpoint]).args(rest), "")
    }

    fn audit(&self) -> String {
        self.folder.path().join("audit").to_string_lossy().into_owned()
    }

    fn stop(&mut self) -> i32 {
        let id = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        self.process.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

#[test]
fn a_directory_is_served_read_only_and_every_call_is_recorded() {
    let mut served = Served::start(&[]);
    let read = served.client("call", &["read_file", "path=hello.txt"]);
    assert!(read.code == 0 && read.stdout.contains("hello"), "{read}");
    let outside = served.client("call", &["read_file", "path=../../etc/passwd"]);
    assert!(outside.code == 1 && !outside.stdout.contains("root:"), "{outside}");
    let write = served.client("call", &["write_file", "path=new.txt", "content=x", "--no-check"]);
    assert_ne!(write.code, 0, "{write}");
    assert!(!served.folder.path().join("root/new.txt").exists());
    assert_eq!(served.stop(), 0);
    let verify = Run::of(trunkline(&[]).args(["audit", "verify", &served.audit()]), "");
    assert!(verify.code == 0 && verify.stdout.starts_with("intact: "), "{verify}");
    let tail = Run::of(trunkline(&[]).args(["audit", "tail", "-n", "100", &served.audit()]), "");
    assert!(tail.stdout.contains("read_file") && !tail.stdout.contains("hello.txt"), "{tail}");
}

#[test]
fn writing_is_offered_when_it_is_allowed() {
    let served = Served::start(&["--allow-write"]);
    let write = served.client("call", &["write_file", "path=new.txt", "content=written"]);
    assert_eq!(write.code, 0, "{write}");
    assert_eq!(fs::read_to_string(served.folder.path().join("root/new.txt")).unwrap(), "written");
}

#[test]
fn both_eras_and_all_transports_are_served() {
    let served = Served::start(&[]);
    for (extra, revision) in [(&[][..], "2026-07-28"), (&["--era", "legacy"], "2025-11-25")] {
        let list = served.client("list", extra);
        assert!(list.stdout.contains(revision) && list.stdout.contains("read_file"), "{list}");
    }
    let old = served.endpoint.replace("/mcp", "/sse");
    let list = Run::of(trunkline(&[]).args(["list", &old]), "");
    assert!(list.stdout.contains("HTTP+SSE"), "{list}");
    let root = served.folder.path().join("root");
    let own = env!("CARGO_BIN_EXE_trunkline");
    for era in ["legacy", "modern"] {
        let mut command = trunkline(&[]);
        command.args([
            "call",
            "read_file",
            "path=hello.txt",
            "--era",
            era,
            "--",
            own,
            "serve",
            "--stdio",
            "--no-audit",
            "--root",
        ]);
        let run = Run::of(command.arg(&root), "");
        assert!(run.code == 0 && run.stdout.contains("hello"), "{run}");
    }
}

#[test]
fn h05_the_world_is_not_let_in_without_keys() {
    let run = Run::of(trunkline(&[]).args(["serve", "--no-audit", "--listen", "0.0.0.0:0"]), "");
    assert!(run.code == 2 && run.stderr.contains("127.0.0.1") && run.stderr.contains("--keys"), "{run}");
}

#[test]
fn a01_a09_only_who_has_a_key_is_let_in() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("root")).unwrap();
    let key = trunkline_auth::keys::generate();
    let file = folder.path().join("keys.json");
    write_keys(&file, &key.sha256);
    let served = Served::start_in(folder, &["--keys", &file.to_string_lossy()]);
    let nobody = served.client("list", &[]);
    assert!(nobody.code == 3 && nobody.stderr.contains("E211"), "{nobody}");
    let wrong = served.client("list", &["--header", "Authorization: Bearer wrong"]);
    assert!(wrong.code == 3 && wrong.stderr.contains("E211"), "{wrong}");
    let header = format!("Authorization: Bearer {}", key.token);
    let list = served.client("list", &["--header", &header]);
    assert!(list.code == 0 && list.stdout.contains("read_file"), "{list}");
}

/// A local issuer; counts the requests for its keys.
fn issuer(keys: String) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/jwks.json", listener.local_addr().unwrap());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = BufReader::new(stream.try_clone().unwrap()).lines();
            while head.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            count.fetch_add(1, Ordering::SeqCst);
            let length = keys.len();
            let answer =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{keys}");
            stream.write_all(answer.as_bytes()).ok();
        }
    });
    (address, asked)
}

#[test]
fn a02_tokens_are_checked_with_keys_from_the_issuers_address() {
    let (good, foreign) = (Signer::new("k1"), Signer::new("k2"));
    let (address, asked) = issuer(good.jwks());
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("root")).unwrap();
    let guard = ["--issuer", signer::ISSUER, "--audience", signer::AUDIENCE, "--jwks", &address];
    let served = Served::start_in(folder, &guard);
    assert_eq!(asked.load(Ordering::SeqCst), 0, "keys are fetched when they are needed");
    let with = |signer: &Signer| {
        let token = signer.sign(&signer.header(), &signer::claims());
        served.client("list", &["--header", &format!("Authorization: Bearer {token}")])
    };
    for _ in 0..2 {
        let list = with(&good);
        assert!(list.code == 0 && list.stdout.contains("read_file"), "{list}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1, "and kept");
    let refused = with(&foreign);
    assert!(refused.code == 3 && refused.stderr.contains("E211"), "{refused}");
    assert!(asked.load(Ordering::SeqCst) <= 2, "strangers cannot make us ask again and again");
    let nobody = served.client("list", &[]);
    assert!(nobody.code == 3 && nobody.stderr.contains("E211"), "{nobody}");
}

#[test]
fn keys_that_have_all_expired_are_told_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.json");
    let key = trunkline_auth::keys::generate();
    let keys = serde_json::json!({"keys": [{"id": "ada", "sha256": key.sha256, "expires": "2020-01-01"}]});
    fs::write(&file, keys.to_string()).unwrap();
    let mut command = trunkline(&[]);
    command.args(["serve", "--no-audit", "--listen", "127.0.0.1:0", "--root"]).arg(folder.path());
    command.arg("--keys").arg(&file).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut told = BufReader::new(process.stderr.take().unwrap()).lines();
    let warned = told
        .by_ref()
        .map_while(Result::ok)
        .take(20)
        .any(|line| line.contains("all API keys in this file have expired"));
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(warned);
}

fn write_keys(file: &Path, sha256: &str) {
    let keys = serde_json::json!({"keys": [{"id": "ada", "sha256": sha256}]});
    fs::write(file, keys.to_string()).unwrap();
}

#[test]
fn limits_are_told_with_the_time_to_wait() {
    let served = Served::start(&["--calls-per-minute", "3"]);
    let runs: Vec<Run> = (0..4).map(|_| served.client("call", &["file_exists", "path=hello.txt"])).collect();
    let limited = runs.iter().find(|run| run.stderr.contains("E213")).expect("one of them is refused");
    assert_ne!(limited.code, 0);
}

#[test]
fn v07_a_found_file_that_nobody_approved_does_not_count_over_stdio_either() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious\n").unwrap();
    let text = serde_json::json!({
        "audit": {"enabled": false},
        "accessLog": {"enabled": true, "file": victim},
    });
    fs::create_dir(folder.path().join("project")).unwrap();
    fs::write(folder.path().join("project/trunkline.json"), text.to_string()).unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_directory","arguments":{"path":"."}}}
"#;
    let home = folder.path().to_string_lossy();
    let mut command = trunkline(&[("HOME", &home)]);
    let run = Run::of(command.args(["serve", "--stdio"]).current_dir(folder.path().join("project")), hello);
    assert_eq!(run.code, 0, "{run}");
    // Input that ends may cut off the call; only the first answer is certain.
    assert!(run.stdout.contains(r#""id":1,"result""#), "{run}");
    assert!(
        run.stderr.contains("trunkline.json is not used") && run.stderr.contains("config approve"),
        "{run}"
    );
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious\n");
    let trails = folder.path().join(".local/state/trunkline/audit");
    assert_eq!(fs::read_dir(trails).unwrap().count(), 1, "the trail is kept all the same");
}
