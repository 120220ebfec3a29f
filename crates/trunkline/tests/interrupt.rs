//! Ctrl-C: the call is cancelled on the wire, and the server is stopped.
#![expect(dead_code, reason = "only a part of the shared support is used here")]

mod support;

use rustix::process::{Pid, Signal, kill_process};
use std::{
    fs,
    io::{BufRead, BufReader},
    process::Stdio,
};

/// Starts a call that never ends, sends the signal once it is in flight, and returns exit code,
/// standard error and the server's log.
fn stopped_by(signal: Signal) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("log");
    let mut command = support::trunkline(&[]);
    command
        .args(["call", "hang", "--trace", "--ids", "int", "--env"])
        .arg(format!("SERVER_LOG={}", log.display()));
    command
        .arg("--")
        .args(support::server())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let mut seen = String::new();
    for line in stderr.by_ref() {
        let line = line.expect("all output is text");
        let sent = line.contains("tools/call");
        seen.push_str(&line);
        if sent {
            break;
        }
    }
    kill_process(Pid::from_child(&child), signal).expect("it still runs");
    for line in stderr {
        seen.push_str(&line.expect("all output is text"));
    }
    (child.wait().expect("it ends").code(), seen, fs::read_to_string(log).expect("the server keeps a log"))
}

#[test]
fn an_interrupted_call_is_cancelled_on_the_wire() {
    let (code, shown, log) = stopped_by(Signal::INT);
    assert_eq!(code, Some(130), "{shown}");
    assert!(log.contains("notifications/cancelled"), "{log}");
    assert!(log.ends_with("end of input\n"), "the server was not let go politely: {log}");
    assert!(shown.ends_with("error: interrupted"), "{shown}");
}

#[test]
fn a_terminated_call_is_cancelled_too() {
    let (code, _, log) = stopped_by(Signal::TERM);
    assert_eq!(code, Some(143));
    assert!(log.contains("notifications/cancelled"), "{log}");
}

#[test]
fn a_call_whose_terminal_went_away_is_cancelled_too() {
    let (code, _, log) = stopped_by(Signal::HUP);
    assert_eq!(code, Some(143));
    assert!(log.contains("notifications/cancelled"), "{log}");
}

/// `nohup` starts a program with SIGHUP ignored, and the program must keep it ignored.
#[test]
fn what_was_started_to_outlive_its_terminal_does() {
    let mut command = std::process::Command::new("sh");
    command.args([
        "-c",
        "trap '' HUP; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_trunkline"),
        "call",
        "hang",
        "--trace",
    ]);
    command
        .arg("--")
        .args(support::server())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the shell starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let sent = stderr.by_ref().any(|line| line.is_ok_and(|line| line.contains("tools/call")));
    assert!(sent, "the call is on its way");
    kill_process(Pid::from_child(&child), Signal::HUP).expect("it still runs");
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs after the first one, too");
    stderr.for_each(drop);
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "only the second signal ended it");
}
