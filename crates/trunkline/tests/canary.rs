//! A secret is planted in every place where one may be: headers, environment, files, addresses,
//! OAuth clients and tokens, keys, arguments. None of them may leave by a log, a trace, an error,
//! the audit trail or a report.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(dead_code, reason = "only a part of the shared support is used here")]

mod support;

use serde_json::{Value, json};
use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};
use support::{Run, trunkline};
use trunkline_oauth::bench::{Bench, BenchOptions};

/// Values that look like ordinary words, so that only their place tells that they are secret.
const VARIABLES: [(&str, &str); 6] = [
    ("HEADER", "canary-of-a-header"),
    ("CHILD", "canary-of-a-child"),
    ("CLIENT", "canary-of-an-oauth-client"),
    ("QUERY", "canary-of-an-address"),
    ("COLLECTOR", "canary-of-the-collector"),
    ("DIES", "canary-of-a-dying-child"),
];
const FILE: &str = "canary-in-a-file";
const PASSWORD: &str = "canary-as-an-argument";
const WRONG_KEY: &str = "canary-as-a-wrong-key";

/// A server that tells its secret in a result and in its error output.
const TALKATIVE: &str = r#"
import json, os, sys
secret = os.environ["KEY"] + " " + sys.argv[1]
print("starting with", secret, file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    kinds = {"type": "object", "properties": {"password": {"type": "string"}}}
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "talkative", "version": "1"}},
        "tools/list": {"tools": [{"name": "say", "inputSchema": kinds}]},
        "tools/call": {"content": [{"type": "text", "text": "called"}], "isError": False},
    }.get(message["method"])
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "tools/call":
        print("called with", secret, json.dumps(message["params"]), file=sys.stderr, flush=True)
    if result is None:
        answer["error"] = {"code": -32601, "message": "unknown: " + secret}
    else:
        answer["result"] = result
    print(json.dumps(answer), flush=True)
"#;

/// A web server that fails, and repeats the whole request in its error.
struct Mirror {
    address: String,
    seen: Arc<Mutex<String>>,
}

impl Mirror {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<String>> = Arc::default();
        let log = seen.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let log = log.clone();
                thread::spawn(move || answer(stream, &log));
            }
        });
        Self { address, seen }
    }

    fn seen(&self) -> String {
        self.seen.lock().unwrap().clone()
    }
}

/// Answers one request with its own head and body.
fn answer(mut stream: TcpStream, log: &Mutex<String>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) <= 2 {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    if head.is_empty() || reader.read_exact(&mut body).is_err() {
        return;
    }
    let said =
        json!({"error": format!("cannot serve {head} {}", String::from_utf8_lossy(&body))}).to_string();
    log.lock().unwrap().push_str(&said);
    let head = "HTTP/1.1 500 X\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let _gone = write!(stream, "{head}content-length: {}\r\n\r\n{said}", said.len());
}

struct House {
    folder: tempfile::TempDir,
    mirror: Mirror,
    collector: Mirror,
    bench: Bench,
    _runtime: tokio::runtime::Runtime,
}

impl House {
    fn new() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let bench = runtime.block_on(Bench::start(BenchOptions::default())).unwrap();
        let (mirror, collector) = (Mirror::start(), Mirror::start());
        let house =
            Self { folder: tempfile::tempdir().unwrap(), mirror, collector, bench, _runtime: runtime };
        house.write("talkative.py", TALKATIVE);
        house.write("secret", FILE);
        house.write(".config/trunkline/trunkline.json", &house.settings().to_string());
        house
    }

    fn settings(&self) -> Value {
        let mirror = &self.mirror.address;
        json!({
            "mcp": {"servers": {
                "talkative": {
                    "command": ["python3", self.path("talkative.py"), "{file:~/secret}"],
                    "environment": {"KEY": "{env:CHILD}"},
                },
                "dies": {"command": ["sh", "-c", "echo \"no $0 $KEY\" >&2; exit 3", "{env:DIES}"],
                    "environment": {"KEY": "{file:~/secret}"}},
                "mirror": {"url": format!("{mirror}/mcp?token={{env:QUERY}}"),
                    "headers": {"Authorization": "Bearer {env:HEADER}", "X-Key": "{file:~/secret}"}},
                "bench": {"url": self.bench.server(), "oauth": {"grant": "clientCredentials",
                    "clientId": "robot", "clientSecret": "{env:CLIENT}"}},
            }},
            "auth": {"keys": self.path("keys.json")},
            "audit": {"directory": self.path("audit")},
            "accessLog": {"enabled": true, "file": self.path("access.log")},
            "telemetry": {"endpoint": self.collector.address, "headers": {"X-Api-Key": "{env:COLLECTOR}"}},
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let home = self.folder.path().display().to_string();
        let mut command = trunkline(&VARIABLES);
        command.args(words).env("HOME", home).env("TRUNKLINE_LOG", "trace").current_dir(self.folder.path());
        command
    }

    fn run(&self, words: &[&str]) -> Run {
        Run::of(&mut self.command(words), "")
    }

    /// Starts the gateway; its log goes to the file `log`.
    fn serve(&self) -> (Child, String) {
        let log = File::create(self.path("log")).unwrap();
        let mut command = self.command(&["serve", "-vv", "--json", "--listen", "127.0.0.1:0"]);
        let mut process = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        (process, told["endpoint"].as_str().unwrap().to_owned())
    }

    /// Every access token that the bench issued to us.
    fn tokens(&self) -> Vec<String> {
        let folder = self.path(".local/share/trunkline/logins");
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let logins = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
        logins
            .map(|path| {
                let login: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
                login["tokens"]["access"].as_str().unwrap().to_owned()
            })
            .collect()
    }
}

/// The texts of all files below a folder.
fn texts(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text.push_str(&texts(&path));
        } else {
            text.push_str(&String::from_utf8_lossy(&fs::read(path).unwrap()));
        }
    }
    text
}

#[test]
fn o13_no_secret_leaves_the_gateway_or_a_command() {
    let house = House::new();
    let keys = house.path("keys.json").display().to_string();
    let key = house.run(&["key", "new", "ada", "--keys", &keys]).stdout.trim().to_owned();
    let (mut gateway, endpoint) = house.serve();
    let mut outputs = commands(&house, &endpoint, &key);
    rustix::process::kill_process(rustix::process::Pid::from_child(&gateway), rustix::process::Signal::TERM)
        .unwrap();
    gateway.wait().unwrap();

    let tokens = house.tokens();
    assert!(!tokens.is_empty(), "the bench issued no token");
    let read = |name: &str| fs::read_to_string(house.path(name)).unwrap();
    outputs.extend(
        [("log", read("log")), ("access log", read("access.log")), ("audit", texts(&house.path("audit")))]
            .map(|(name, text)| {
                (name.to_owned(), Run { code: 0, stdout: text, stderr: String::new(), log: String::new() })
            }),
    );
    let secrets = VARIABLES.iter().map(|(_, value)| *value);
    let secrets = secrets.chain([FILE, PASSWORD, WRONG_KEY, &key]).chain(tokens.iter().map(String::as_str));
    for secret in secrets {
        for (name, run) in &outputs {
            let shown = [&run.stdout, &run.stderr].into_iter().find(|text| text.contains(secret));
            let line = shown.and_then(|text| text.lines().find(|line| line.contains(secret)));
            assert!(line.is_none(), "`{name}` shows {secret}: {}", line.unwrap_or_default());
        }
    }
    // The secrets were where they belong, so the test would have noticed them.
    let seen = house.mirror.seen();
    assert!(
        ["HEADER", "QUERY"].iter().all(|name| {
            let value = VARIABLES.iter().find(|(known, _)| known == name).unwrap().1;
            seen.contains(value)
        }) && seen.contains(FILE),
        "{seen}"
    );
    assert!(house.collector.seen().contains("canary-of-the-collector"), "no trace was exported");
    let log = &outputs.iter().find(|(name, _)| name == "log").unwrap().1.stdout;
    assert!(log.contains("its last error output"), "the error output of servers is logged: {log}");
    let exported = house.collector.seen().replace("canary-of-the-collector", "");
    assert!(!exported.contains("canary"), "a trace has a secret");
}

/// Runs every command that shows something of the gateway or of its servers.
fn commands(house: &House, endpoint: &str, key: &str) -> Vec<(String, Run)> {
    let (good, wrong) =
        (format!("Authorization: Bearer {key}"), format!("Authorization: Bearer {WRONG_KEY}"));
    let password = format!("password={PASSWORD}");
    let audit = house.path("audit").display().to_string();
    let origin = endpoint.trim_end_matches("/mcp");
    let all = [
        &["call", endpoint, "talkative_say", &password, "--header", &good][..],
        &["call", endpoint, "talkative_say", &password, "--header", &wrong, "--trace", "-vv"],
        &["call", endpoint, "bench_whoami", "--header", &good, "--trace", "-vv"],
        &["list", endpoint, "--header", &good, "--trace", "-vv"],
        &["list", endpoint, "--header", &wrong],
        &["status", origin, "--key", key],
        &["status", origin, "--key", key, "--json"],
        &["status", origin, "--key", WRONG_KEY],
        &["config", "show"],
        &["config", "show", "--json"],
        &["config", "check", "-vv"],
        &["list", "mirror", "--trace", "-vv"],
        &["list", "mirror", "--json"],
        &["list", "dies", "--trace"],
        &["call", "talkative", "say", "--trace", "-vv"],
        &["call", "bench", "whoami", "--trace", "-vv"],
        &["doctor", "mirror"],
        &["doctor", "dies", "--json"],
        &["doctor", "bench"],
        &["lint", "--all"],
        &["lint", "mirror", "--format", "sarif"],
        &["auth", "status"],
        &["auth", "status", "--json"],
        &["audit", "tail", &audit, "--count", "1000"],
    ];
    all.into_iter().map(|words| (words.join(" ").replace(key, "KEY"), house.run(words))).collect()
}
