//! Runs the linter on a subject.

use crate::{
    page::Deviation,
    peers::{self, shipped},
    subject::{Mode, Port, Subject, Way},
};
use serde_json::Value;
use std::{
    collections::BTreeSet,
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
    sync::OnceLock,
};

/// The findings above info; `None` if the subject cannot be started on this machine.
pub(crate) fn above_info(subject: &Subject, mode: Mode) -> Option<BTreeSet<Deviation>> {
    let folder = tempfile::tempdir().unwrap();
    peers::furnish(subject, folder.path());
    let mut command = match &subject.way {
        Way::Stdio => over_stdio(subject, mode, folder.path()),
        Way::Http { usual, port, path } => {
            let Some(port) = chosen(*usual, *port) else {
                #[expect(
                    clippy::print_stderr,
                    reason = "whoever reads the test's output should know what it did not do"
                )]
                {
                    eprintln!(
                        "{}: not judged, because this machine has no user namespaces (unshare --map-root-user --net)",
                        subject.title
                    );
                }
                return None;
            };
            over_http(subject, mode, folder.path(), (port, path))
        }
    };
    command.stdin(Stdio::null());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let report: Value = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{}: {error}\n{text}\n{}", subject.title, String::from_utf8_lossy(&output.stderr))
    });
    assert!(report["targets"][0]["unreachable"].is_null(), "{}: {report}", subject.title);
    Some(deviations(&report))
}

/// True if this machine can start programs in a separate network namespace.
pub(crate) fn has_own_network() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        let tried = Command::new("unshare").args(["--map-root-user", "--net", "true"]).output();
        tried.is_ok_and(|output| output.status.success())
    })
}

fn deviations(report: &Value) -> BTreeSet<Deviation> {
    let mut found = BTreeSet::new();
    for rule in report["targets"][0]["rules"].as_array().unwrap() {
        for finding in rule["findings"].as_array().into_iter().flatten() {
            if finding["level"] == "info" || rule["group"] == "performance" {
                continue;
            }
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let (rule, level) = (text(&rule["rule"]), text(&finding["level"]));
            found.insert(Deviation { rule, level, clause: text(&finding["clause"]) });
        }
    }
    found
}

fn lint(mode: Mode) -> Vec<String> {
    let mut words = [env!("CARGO_BIN_EXE_trunkline"), "lint", "--format", "json"].map(str::to_owned).to_vec();
    if mode == Mode::Active {
        words.push("--active".to_owned());
    }
    words
}

fn over_stdio(subject: &Subject, mode: Mode, folder: &Path) -> Command {
    let mut words = lint(mode);
    for (name, value) in subject.variables {
        words.extend(["--env".to_owned(), format!("{name}={}", peers::filled(value, folder, 0))]);
    }
    words.push("--".to_owned());
    words.extend(peers::words(subject, folder, 0));
    bare(&words)
}

fn over_http(subject: &Subject, mode: Mode, folder: &Path, (port, path): (u16, &str)) -> Command {
    let mut words = Vec::new();
    let text = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    if has_own_network() {
        words.extend(text(&[
            "unshare",
            "--map-root-user",
            "--net",
            "python3",
            &shipped("beside.py"),
            "--alone",
        ]));
    } else {
        words.extend(text(&["python3", &shipped("beside.py")]));
    }
    words.push(port.to_string());
    words.extend(peers::words(subject, folder, port));
    words.push("--".to_owned());
    words.extend(lint(mode));
    words.push(format!("http://127.0.0.1:{port}{path}"));
    let mut command = bare(&words);
    for (name, value) in subject.variables {
        command.env(name, peers::filled(value, folder, port));
    }
    if !has_own_network() {
        command.env("NODE_OPTIONS", format!("--require {}", shipped("loopback.cjs")));
    }
    command
}

/// A command with only PATH in its environment.
fn bare(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    let path = option_env!("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin");
    command.args(&words[1..]).env_clear().env("PATH", path);
    command
}

/// The port to listen on: the server's usual one in a separate network namespace, otherwise a free
/// one.
fn chosen(usual: u16, port: Port) -> Option<u16> {
    match port {
        _ if has_own_network() => Some(usual),
        Port::Told => Some(TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()),
        Port::Fixed => None,
    }
}
