//! Loads and runs a rule's fixture.

use axum::http::{HeaderName, HeaderValue};
use serde::Deserialize;
use std::{collections::BTreeMap, path::PathBuf, str::FromStr as _, sync::Arc, time::Duration};
use trunkline_client::{ConnectOptions, Target};
use trunkline_lint::{
    Check, Mode, Options, Report, Rule, Selection, Subject,
    engine::{Active, Callable, ConfigSubject, LockSubject, ServerSubject},
    report::{self, Detail, Kind},
    wire::Dial,
};
use trunkline_testkit::faulty::{Earlier, Script, inside, serve_http};

pub(crate) struct Fixture {
    rule: &'static Rule,
    file: File,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Servers that break the rule, each in one way.
    bad: Vec<Server>,
    /// A server that keeps the rule; the model's own if absent.
    #[serde(default)]
    good: Server,
}

#[derive(Debug, Default, Clone, Deserialize)]
struct Server {
    #[serde(flatten)]
    script: Script,
    /// Other servers of the same configuration, for rules that compare servers.
    #[serde(default)]
    beside: Vec<Script>,
    /// The tools that a lock file pins.
    #[serde(default)]
    lock: Option<serde_json::Map<String, serde_json::Value>>,
    /// A configuration file instead of a server.
    #[serde(default)]
    config: Option<serde_json::Value>,
    /// Request headers over HTTP.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Programs of the configuration file that count as not installed.
    #[serde(default)]
    absent: Vec<String>,
}

impl Fixture {
    pub(crate) fn path(rule: &Rule) -> PathBuf {
        root().join("fixtures").join(rule.group.as_str()).join(format!("{}.json", rule.name))
    }

    pub(crate) fn load(rule: &'static Rule) -> Result<Self, String> {
        let path = Self::path(rule);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let file: File =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self { rule, file })
    }

    /// Runs the bad servers and the good one; returns the failures.
    pub(crate) fn run(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut shown = String::new();
        for bad in &self.file.bad {
            let report = lint(self.rule, bad);
            if !report.findings().any(|(_, finding)| finding.rule == self.rule.name) {
                wrong.push(format!(
                    "{}: nothing found on the bad server `{}`",
                    self.rule.name, bad.script.about
                ));
            }
            shown.extend(["# ", &bad.script.about, "\n"]);
            shown.push_str(&report::text(&report, Detail::Findings));
            shown.push('\n');
        }
        if self.file.bad.is_empty() {
            wrong.push(format!("{}: there is no bad server", self.rule.name));
        }
        let report = lint(self.rule, &self.file.good);
        let passed =
            report.targets.iter().flat_map(|target| &target.rules).any(|rule| rule.outcome == Kind::Passed);
        if report.findings().next().is_some() || !passed {
            let text = report::text(&report, Detail::Everything);
            wrong.push(format!("{}: the good server does not pass\n{}", self.rule.name, plain(&text)));
        }
        self.snapshot(&shown);
        wrong
    }

    fn snapshot(&self, shown: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(root().join("snapshots").join(self.rule.group.as_str()));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.add_filter(r" {1,5}\d+ ms", " [time]");
        settings.add_filter(r"after \d+ ms", "after [time]");
        settings.add_filter(r"no answer in (\d+)\.\d s", "no answer in $1 s");
        settings.add_filter(r"127\.0\.0\.1:\d+", "127.0.0.1:[port]");
        settings.add_filter(r#""version":"\d+\.\d+\.\d+""#, r#""version":"[version]""#);
        settings.bind(|| insta::assert_snapshot!(self.rule.name, plain(shown)));
    }
}

/// Lints one server with one rule.
fn lint(rule: &'static Rule, server: &Server) -> Report {
    let options = Options {
        selection: Selection { rules: vec![rule.name.to_owned()], ..Selection::default() },
        mode: rule.mode.max(Mode::Negative),
        active: Active { tools: Callable::All, calls: 200, cases: 100, seed: 1 },
        ..Options::default()
    };
    let over = server.script.over.as_deref().unwrap_or("stdio");
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all();
    // An in-process server needs no real I/O, so the clock can be paused and waiting takes no
    // time.
    builder.start_paused(over == "stdio" && server.config.is_none());
    let runtime = builder.build().expect("a runtime can be built");
    runtime.block_on(async {
        let mut subjects = vec![subject(rule, server, over).await];
        for (index, script) in server.beside.iter().enumerate() {
            let name = format!("other-{}", index + 1);
            subjects.push(Subject::Server(ServerSubject {
                name,
                dial: dial(script, "stdio").await,
                lock: None,
            }));
        }
        trunkline_lint::lint(&subjects, &options).await
    })
}

async fn subject(rule: &Rule, server: &Server, over: &str) -> Subject {
    if let (Check::Config(_), Some(value)) = (rule.check, &server.config) {
        let text = serde_json::to_string_pretty(value).expect("a value can be written");
        let path = "trunkline.json".to_owned();
        let subject = ConfigSubject { path, text, value: value.clone(), absent: None };
        let is_there = |program: &str| server.absent.iter().all(|absent| absent != program);
        return Subject::Config(subject.look(is_there));
    }
    let lock = server.lock.as_ref().map(|tools| LockSubject {
        path: "trunkline.lock".to_owned(),
        tools: tools.iter().map(|(name, tool)| (name.clone(), tool.clone())).collect(),
    });
    let mut dial = dial(&server.script, over).await;
    if let Some(address) = dial.address().cloned().filter(|_| !server.headers.is_empty()) {
        let mut options = ConnectOptions::default();
        for (name, value) in &server.headers {
            let name = HeaderName::from_str(name).expect("a fixture names a header");
            options.http.extra_headers.insert(name, HeaderValue::from_str(value).expect("a plain value"));
        }
        let target = Target::url(address.as_str()).expect("an address is a URL");
        dial = Dial::new(&target, &options).expect("an address can be dialled");
    }
    Subject::Server(ServerSubject { name: "server".to_owned(), dial, lock })
}

pub(crate) async fn dial(script: &Script, over: &str) -> Dial {
    match over {
        "stdio" => {
            let (script, earlier) = (Arc::new(script.clone()), Earlier::default());
            Dial::inside(move || inside(&script, &earlier))
        }
        "process" => {
            let text = serde_json::to_string(script).expect("a script can be written");
            let words = [env!("CARGO_BIN_EXE_faulty-server").to_owned(), text];
            let target = Target::command(words).expect("there is a command");
            Dial::new(&target, &ConnectOptions::default()).expect("a command can be dialled")
        }
        "http" | "http-everywhere" | "http-unspecified" => {
            let host = if over == "http" { "127.0.0.1:0" } else { "0.0.0.0:0" };
            let listener = tokio::net::TcpListener::bind(host).await.expect("loopback has a free port");
            let port = listener.local_addr().expect("a bound socket has an address").port();
            tokio::spawn(serve_http(script.clone(), listener));
            // The unspecified address reaches this machine without being a loopback address.
            let called = if over == "http-unspecified" { "0.0.0.0" } else { "127.0.0.1" };
            let target = Target::url(&format!("http://{called}:{port}/mcp")).expect("an address is a URL");
            Dial::new(&target, &ConnectOptions::default()).expect("an address can be dialled")
        }
        other => panic!("a server is reached over stdio, process or http, not over {other}"),
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../lint")
}

/// Removes ANSI escape sequences.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        let end = rest[at..].find('m').map_or(rest.len(), |end| at + end + 1);
        rest = &rest[end..];
    }
    plain.push_str(rest);
    plain
}

/// Time limit of a whole run in a test.
pub(crate) const LONGEST: Duration = Duration::from_secs(10);
