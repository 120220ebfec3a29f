//! Telemetry of the real binary: spans, access log, and the table of `status`.
#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a test may panic, and only a part of the shared support is used here"
)]

mod support;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    sync::mpsc,
    thread,
};
use support::{Run, trunkline};

/// Number of calls after which a signal has certainly been handled.
const PATIENCE: usize = 200;

struct Served {
    process: Child,
    endpoint: String,
    log: PathBuf,
    folder: tempfile::TempDir,
}

impl Served {
    /// Serves the built-in tools for a folder.
    fn start(variables: &[(&str, &str)]) -> Self {
        Self::with(variables, |folder| {
            vec![
                "serve".into(),
                "--no-audit".into(),
                "--root".into(),
                folder.join("root").display().to_string(),
            ]
        })
    }

    /// A bridge in front of the same tools.
    fn bridge(variables: &[(&str, &str)]) -> Self {
        Self::with(variables, |folder| {
            let root = folder.join("root").display().to_string();
            let server = [env!("CARGO_BIN_EXE_trunkline"), "serve", "--stdio", "--no-audit", "--root", &root];
            ["bridge", "--no-cache", "--"].into_iter().chain(server).map(str::to_owned).collect()
        })
    }

    fn with(variables: &[(&str, &str)], words: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::write(folder.path().join("root/hello.txt"), "hello\n").unwrap();
        let log = folder.path().join("access.log");
        let mut command = trunkline(variables);
        let words = words(folder.path());
        command.arg("--json").arg(&words[0]).args(["--listen", "127.0.0.1:0", "--access-log"]).arg(&log);
        command.args(&words[1..]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        Self { process, endpoint: told["endpoint"].as_str().unwrap().to_owned(), log, folder }
    }

    /// Fetches a page other than the MCP endpoint.
    fn page(&self, path: &str) -> String {
        let address = self.endpoint.trim_start_matches("http://").trim_end_matches("/mcp");
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let ask = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(ask.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    fn call(&self) -> Run {
        Run::of(trunkline(&[]).args(["call", &self.endpoint, "read_file", "path=hello.txt"]), "")
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    fn stop(&mut self) -> i32 {
        self.signal(Signal::TERM);
        self.process.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A server that gives the same response to each request, and passes on what it received.
fn answering(status: &'static str, body: String) -> (String, mpsc::Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && stream.read_line(&mut head).unwrap() > 0 {}
            let lower = head.to_lowercase();
            let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            let mut sent = vec![0; length.unwrap_or(0)];
            stream.read_exact(&mut sent).unwrap();
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
            if tell.send((head, sent)).is_err() {
                return;
            }
        }
    });
    (address, told)
}

fn lines(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_call_is_a_span_at_the_collector_and_a_line_in_the_log() {
    let (collector, heard) = answering("200 OK", String::new());
    let mut served =
        Served::start(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector), ("OTEL_SERVICE_NAME", "front")]);
    let called = served.call();
    assert!(called.code == 0, "{called}");
    assert_eq!(served.stop(), 0);
    let log = lines(&served.log);
    let line = log.iter().find(|line| line["method"] == "tools/call").unwrap_or_else(|| panic!("{log:?}"));
    assert_eq!(
        (&line["target"], &line["outcome"], &line["status"]),
        (&json!("read_file"), &json!("ok"), &json!(200))
    );
    assert_eq!(
        (&line["caller"], &line["path"], &line["verb"]),
        (&json!("local"), &json!("/mcp"), &json!("POST"))
    );
    assert!(
        line["ms"].as_f64() > Some(0.0) && line["in"].as_u64() > Some(0) && line["out"].as_u64() > Some(0)
    );
    assert!(!fs::read_to_string(&served.log).unwrap().contains("hello.txt"), "no arguments");

    let sent: Vec<_> = heard
        .try_iter()
        .map(|(_, body)| ExportTraceServiceRequest::decode(body.as_slice()).unwrap())
        .collect();
    let resources = sent.iter().flat_map(|request| &request.resource_spans);
    let spans = resources.flat_map(|resource| resource.scope_spans.iter().flat_map(|scope| &scope.spans));
    let span = spans.clone().find(|span| span.name == "tools/call read_file");
    let span = span.unwrap_or_else(|| panic!("{:?}", spans.map(|span| &span.name).collect::<Vec<_>>()));
    let hex: Vec<String> = span.trace_id.iter().map(|byte| format!("{byte:02x}")).collect();
    let trace = hex.concat();
    assert_eq!(line["trace"], json!(trace), "log and trace name each other");
    assert!(format!("{:?}", sent[0].resource_spans[0].resource).contains("front"));
}

#[test]
fn a_bridge_tells_of_its_work_as_a_server_does() {
    let (collector, heard) = answering("200 OK", String::new());
    let mut bridge = Served::bridge(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &collector)]);
    let called = bridge.call();
    assert!(called.code == 0, "{called}");
    let metrics = bridge.page("/metrics");
    assert!(metrics.contains("trunkline_upstream") && metrics.contains("trunkline_spans_total"), "{metrics}");
    assert_eq!(bridge.stop(), 0);
    let log = lines(&bridge.log);
    let line = log.iter().find(|line| line["method"] == "tools/call").unwrap_or_else(|| panic!("{log:?}"));
    assert_eq!((&line["target"], &line["outcome"]), (&json!("read_file"), &json!("ok")));
    let sent: Vec<_> = heard
        .try_iter()
        .map(|(_, body)| ExportTraceServiceRequest::decode(body.as_slice()).unwrap())
        .collect();
    let spans = sent.iter().flat_map(|batch| &batch.resource_spans);
    let spans = spans.flat_map(|resource| &resource.scope_spans).flat_map(|scope| &scope.spans);
    let calls: Vec<_> = spans.filter(|span| span.name == "tools/call read_file").collect();
    let [one, other] = calls[..] else { panic!("one for the client, one for the server: {calls:#?}") };
    assert_eq!(one.trace_id, other.trace_id);
    assert!(one.parent_span_id == other.span_id || other.parent_span_id == one.span_id);
}

#[test]
fn where_only_our_own_tools_are_served_the_status_tells_how_many() {
    let served = Served::start(&[]);
    let page: Value = serde_json::from_str(&served.page("/status")).unwrap();
    assert_eq!(page["gateway"]["name"], "trunkline");
    assert_eq!(page["upstreams"], json!([]));
    assert!(page["catalog"]["servers"][0]["tools"].as_u64() > Some(3), "{page:#}");
    let address = served.endpoint.trim_end_matches("/mcp");
    let shown = Run::of(trunkline(&[]).args(["status", address]), "");
    assert!(shown.code == 0, "{shown}");
}

#[test]
fn a_log_that_was_moved_away_is_opened_anew_on_sighup() {
    let mut served = Served::start(&[]);
    assert_eq!(served.call().code, 0);
    let moved = served.folder.path().join("access.log.1");
    fs::rename(&served.log, &moved).unwrap();
    served.signal(Signal::HUP);
    let opened = (0..PATIENCE).any(|_| served.call().code == 0 && served.log.exists());
    assert!(opened, "the log is opened anew");
    assert_eq!(served.stop(), 0);
    assert!(!lines(&moved).is_empty() && !lines(&served.log).is_empty());
}

#[test]
fn status_tells_by_its_exit_code_how_things_are() {
    let page = |state: &str| {
        let upstream = json!({"name": "files", "state": state, "breaker": "closed"});
        json!({"gateway": {"name": "trunkline", "version": "1"}, "upstreams": [upstream]}).to_string()
    };
    let (well, heard) = answering("200 OK", page("ready"));
    let run = Run::of(trunkline(&[("TRUNKLINE_KEY", "k3y")]).args(["status", &well]), "");
    assert!(run.code == 0 && run.stdout.contains("files   ready") && !run.stdout.contains('\x1b'), "{run}");
    let (head, _) = heard.recv().unwrap();
    assert!(head.starts_with("GET /status ") && head.contains("authorization: Bearer k3y"), "{head}");

    let (down, _heard) = answering("200 OK", page("lost"));
    let run = Run::of(trunkline(&[]).args(["status", "--json", &down]), "");
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(run.code == 1 && told["upstreams"][0]["state"] == "lost", "{run}");

    let (closed, _heard) = answering("401 Unauthorized", String::new());
    let run = Run::of(trunkline(&[]).args(["status", &closed]), "");
    assert!(run.code == 2 && run.stderr.contains("--key"), "{run}");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for away in [format!("http://{free}"), answering("404 Not Found", String::new()).0] {
        let run = Run::of(trunkline(&[]).args(["status", &away]), "");
        assert_eq!(run.code, 3, "{run}");
    }
}
