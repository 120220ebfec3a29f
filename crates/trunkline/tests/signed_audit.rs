//! Signed heads of the audit trail, through the real binary.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(dead_code, reason = "only a part of the shared support is used here")]

mod support;

use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, UdpSocket},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};
use support::{Run, trunkline};
use trunkline_gateway::audit::{PublicKey, SignedHead};

/// Catches a hang.
const LIMIT: Duration = Duration::from_mins(1);

/// A home with a key and a configuration that signs with it.
struct Site {
    folder: tempfile::TempDir,
    public: String,
}

impl Site {
    fn new(signing: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::write(folder.path().join("root/hello.txt"), "hello\n").unwrap();
        let made = run(&["audit", "keygen", &text(&folder.path().join("key.pem"))]);
        assert_eq!(made.code, 0, "{made}");
        let site = Self { folder, public: made.stdout.trim().to_owned() };
        let mut signing = signing.clone();
        signing["key"] = json!(site.path("key.pem"));
        let config = site.path(".config/trunkline/trunkline.json");
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::write(config, json!({"audit": {"signing": signing}}).to_string()).unwrap();
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Serves, calls a tool some times, and stops. Returns the exit code and the error output.
    fn serve(&self, calls: usize) -> (i32, String) {
        let home = text(self.folder.path());
        let mut command = trunkline(&[("HOME", &home)]);
        command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--root"]).arg(self.path("root"));
        command.arg("--audit").arg(self.path("audit")).current_dir(self.path("root"));
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if let Ok(told) = serde_json::from_str::<Value>(&line) {
            let endpoint = told["endpoint"].as_str().unwrap();
            for _ in 0..calls {
                let read = run(&["call", endpoint, "read_file", "path=hello.txt"]);
                assert_eq!(read.code, 0, "{read}");
            }
            let id = rustix::process::Pid::from_child(&process);
            rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        }
        let mut said = String::new();
        process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (process.wait().unwrap().code().unwrap_or(-1), said)
    }

    fn verify(&self, more: &[&str]) -> Run {
        let dir = text(&self.path("audit"));
        run(&[&["audit", "verify", &dir], more].concat())
    }

    fn verify_signed(&self) -> Run {
        self.verify(&["--public-key", &self.public])
    }

    fn segment(&self) -> PathBuf {
        self.path("audit/audit-000001.jsonl")
    }

    /// Rewrites all records of the trail with new hashes and a new head, as someone with write
    /// access to the files can do.
    fn forge(&self, from: &str, to: &str) {
        let old = fs::read_to_string(self.segment()).unwrap();
        let mut last = [0; 32].to_vec();
        let (mut lines, mut count) = (String::new(), 0);
        for line in old.lines() {
            let members = line.split(",\"hash\":\"").next().unwrap().replace(from, to);
            last = ring::digest::digest(&ring::digest::SHA256, &[&last, members.as_bytes()].concat())
                .as_ref()
                .to_vec();
            lines.push_str(&members);
            lines.push_str(",\"hash\":\"");
            lines.push_str(&hex(&last));
            lines.push_str("\"}\n");
            count += 1;
        }
        assert_ne!(lines, old);
        fs::write(self.segment(), lines).unwrap();
        fs::write(self.path("audit/head"), format!("{count:020} {}\n", hex(&last))).unwrap();
    }
}

fn run(args: &[&str]) -> Run {
    Run::of(trunkline(&[]).args(args), "")
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[test]
fn d10_verify_says_what_a_signed_head_proves() {
    let site = Site::new(&json!({}));
    assert_eq!(fs::metadata(site.path("key.pem")).unwrap().permissions().mode() & 0o777, 0o600);
    let again = run(&["audit", "keygen", &text(&site.path("key.pem"))]);
    assert!(again.code != 0 && again.stdout.is_empty(), "a key is never replaced: {again}");
    assert_eq!(site.serve(2).0, 0);

    let records = fs::read_to_string(site.segment()).unwrap().lines().count();
    let signed = site.verify_signed();
    let proof = format!("proof: records 1 to {records} are unchanged since {} signed at 2", site.public);
    assert!(signed.code == 0 && signed.stdout.contains(&proof), "{signed}");
    assert!(!signed.stdout.contains("only chained"), "{signed}");
    fs::write(site.path("key.pub"), format!("{}\n", site.public)).unwrap();
    let by_file = site.verify(&["--public-key", &text(&site.path("key.pub"))]);
    assert!(by_file.code == 0 && by_file.stdout.contains(&proof), "{by_file}");
    let unsigned = site.verify(&[]);
    assert!(
        unsigned.code == 0 && unsigned.stdout.contains("only that the records fit each other"),
        "{unsigned}"
    );

    // A head that was kept elsewhere, and a trail that went on.
    fs::copy(site.path("audit/signed-head.json"), site.path("kept.json")).unwrap();
    assert_eq!(site.serve(1).0, 0);
    let kept = text(&site.path("kept.json"));
    let old = site.verify(&["--public-key", &site.public, "--head", &kept]);
    assert!(old.code == 0 && old.stdout.contains(&proof), "{old}");
    assert!(old.stdout.contains(&format!("; records {} to ", records + 1)), "{old}");
    let data = site.verify(&["--public-key", &site.public, "--head", &kept, "--json"]);
    let data: Value = serde_json::from_str(&data.stdout).unwrap();
    assert_eq!((&data["signed"]["seq"], &data["signed"]["key"]), (&json!(records), &json!(site.public)));
}

#[test]
fn d10_a_trail_that_was_rewritten_as_a_whole_is_found() {
    let site = Site::new(&json!({}));
    assert_eq!(site.serve(1).0, 0);
    site.forge("\"caller\":\"local\"", "\"caller\":\"nobody\"");
    let unsigned = site.verify(&[]);
    assert_eq!(unsigned.code, 0, "the chain alone does not show it: {unsigned}");
    let signed = site.verify_signed();
    assert!(signed.code == 1 && signed.stdout.contains("the trail was rewritten"), "{signed}");
    assert!(!signed.stdout.contains("are unchanged"), "{signed}");
    // A new head would approve the change.
    let (code, said) = site.serve(0);
    assert!(code == 2 && said.contains("is not the one that was signed"), "{code} {said}");
}

#[test]
fn d10_a_trail_that_was_cut_off_is_found() {
    let site = Site::new(&json!({}));
    assert_eq!(site.serve(2).0, 0);
    let whole = fs::read_to_string(site.segment()).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let left = &lines[..lines.len() - 2];
    let last: Value = serde_json::from_str(left[left.len() - 1]).unwrap();
    fs::write(site.segment(), left.join("\n") + "\n").unwrap();
    let head = format!("{:020} {}\n", left.len(), last["hash"].as_str().unwrap());
    fs::write(site.path("audit/head"), head).unwrap();
    assert_eq!(site.verify(&[]).code, 0);
    let signed = site.verify_signed();
    let expected = format!("it went on to record {} when it was signed", lines.len());
    assert!(signed.code == 1 && signed.stdout.contains(&expected), "{signed}");
    let (code, said) = site.serve(0);
    assert!(code == 2 && said.contains("is not the one that was signed"), "{code} {said}");
}

#[test]
fn d10_a_wrong_key_a_forged_and_a_missing_head_prove_nothing() {
    let site = Site::new(&json!({}));
    assert_eq!(site.serve(1).0, 0);
    let other = run(&["audit", "keygen", &text(&site.path("other.pem"))]);
    let wrong = site.verify(&["--public-key", other.stdout.trim()]);
    assert!(wrong.code == 1 && wrong.stdout.contains("not by the expected key"), "{wrong}");
    let file = site.path("audit/signed-head.json");
    let head: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    for (member, value) in
        [("time", json!("2020-01-01T00:00:00.000Z")), ("seq", json!(1)), ("segment", json!(7))]
    {
        let mut forged = head.clone();
        forged[member] = value;
        fs::write(&file, forged.to_string()).unwrap();
        let run = site.verify_signed();
        assert!(run.code == 1 && run.stdout.contains("its signature is wrong"), "{member}: {run}");
    }
    fs::remove_file(&file).unwrap();
    let missing = site.verify_signed();
    assert!(missing.code == 1 && missing.stdout.contains("no signed head"), "{missing}");
    let nonsense = site.verify(&["--public-key", "nonsense"]);
    assert!(nonsense.code == 2 && nonsense.stderr.contains("ed25519:"), "{nonsense}");
}

#[test]
fn d10_a_trail_whose_signed_head_was_deleted_is_not_continued() {
    let site = Site::new(&json!({}));
    assert_eq!(site.serve(1).0, 0);
    let file = site.path("audit/signed-head.json");
    fs::remove_file(&file).unwrap();
    let records = fs::read_to_string(site.segment()).unwrap();
    let (code, said) = site.serve(0);
    assert!(code == 2 && said.contains("has records but no signed head"), "{code} {said}");
    assert!(said.contains("trunkline audit sign") && said.contains("as evidence"), "{said}");
    assert_eq!(fs::read_to_string(site.segment()).unwrap(), records, "nothing was added");
    assert!(!file.exists(), "nothing was signed");
    // The operator knows that signing is new here, and follows the advice.
    let (dir, key) = (text(&site.path("audit")), text(&site.path("key.pem")));
    let signed = run(&["audit", "sign", &dir, "--key", &key]);
    assert!(signed.code == 0 && signed.stdout.contains(&site.public), "{signed}");
    assert_eq!(site.verify_signed().code, 0);
    let again = run(&["audit", "sign", &dir, "--key", &key]);
    assert!(again.code == 2 && again.stderr.contains("it has a signed head already"), "{again}");
    assert_eq!(site.serve(1).0, 0);
    assert_eq!(site.verify_signed().code, 0);
}

#[test]
fn d10_a_changed_trail_is_not_signed() {
    let site = Site::new(&json!({}));
    assert_eq!(site.serve(1).0, 0);
    fs::remove_file(site.path("audit/signed-head.json")).unwrap();
    let records = fs::read_to_string(site.segment()).unwrap();
    fs::write(site.segment(), records.replace("\"caller\":\"local\"", "\"caller\":\"nobody\"")).unwrap();
    let (dir, key) = (text(&site.path("audit")), text(&site.path("key.pem")));
    let signed = run(&["audit", "sign", &dir, "--key", &key]);
    assert!(signed.code == 1 && signed.stdout.contains("NOT intact"), "{signed}");
    assert!(!site.path("audit/signed-head.json").exists());
}

#[test]
fn d10_heads_are_sent_to_syslog() {
    let syslog = UdpSocket::bind("127.0.0.1:0").unwrap();
    syslog.set_read_timeout(Some(LIMIT)).unwrap();
    let site = Site::new(&json!({"syslog": syslog.local_addr().unwrap().to_string(), "records": 1}));
    assert_eq!(site.serve(1).0, 0);
    let last = fs::read_to_string(site.path("audit/signed-head.json")).unwrap();
    let key = PublicKey::read(&site.public).unwrap();
    loop {
        let mut buffer = [0; 2048];
        let (length, _) = syslog.recv_from(&mut buffer).expect("the last head arrives");
        let message = std::str::from_utf8(&buffer[..length]).unwrap();
        assert!(message.starts_with("<109>1 2") && message.contains(" - trunkline "), "{message}");
        let (_, head) = message.split_once(" audit-head - ").unwrap();
        SignedHead::read(head, &key).unwrap();
        if head == last.trim_end() {
            break;
        }
    }
}

#[test]
fn d10_heads_are_sent_to_a_collector() {
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = collector.local_addr().unwrap();
    let site = Site::new(&json!({"otlp": true}));
    let config = site.path(".config/trunkline/trunkline.json");
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(&config).unwrap()).unwrap();
    settings["telemetry"] = json!({"endpoint": format!("http://{address}")});
    fs::write(&config, settings.to_string()).unwrap();
    let (sender, bodies) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in collector.incoming() {
            let sender = sender.clone();
            std::thread::spawn(move || answer(stream.unwrap(), &sender));
        }
    });
    assert_eq!(site.serve(1).0, 0);
    let last = fs::read_to_string(site.path("audit/signed-head.json")).unwrap();
    loop {
        let body: Value = serde_json::from_str(&bodies.recv_timeout(LIMIT).expect("the last head")).unwrap();
        let record = &body["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
        if record["body"]["stringValue"] == last.trim_end() {
            break;
        }
    }
}

/// Answers requests of one connection, and passes on the bodies of log records.
fn answer(stream: std::net::TcpStream, bodies: &std::sync::mpsc::Sender<String>) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            head += &line;
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        if head.starts_with("POST /v1/logs ") {
            bodies.send(String::from_utf8(body).unwrap()).unwrap_or_default();
        }
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        reader.get_mut().write_all(answer.as_bytes()).unwrap();
    }
}

#[test]
fn d10_settings_that_cannot_work_are_refused_at_start() {
    let site = Site::new(&json!({"syslog": "nowhere"}));
    let (code, said) = site.serve(0);
    assert!(code == 2 && said.contains("audit.signing.syslog"), "{code} {said}");
    fs::write(site.path("key.pem"), "no key").unwrap();
    let (code, said) = site.serve(0);
    assert!(code == 2 && said.contains("Ed25519 private key"), "{code} {said}");
}
