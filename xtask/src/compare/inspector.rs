//! The Inspector's command line. It is not a linter: it calls one method and reports if that
//! fails.

use std::process::Command;

use super::complaint::Complaint;
use super::fault::Fault;
use super::served::Served;
use crate::peers::Linters;

/// Connect timeout in milliseconds.
const CONNECT: &str = "15000";

/// Returns its runs: `tools/list` with all available checks, resources and prompts if the fault
/// involves them, and `tools/call` if the fault needs a call.
pub(super) fn commands(linters: &Linters, fault: &Fault, served: &Served) -> Vec<Command> {
    let mut runs: Vec<Vec<String>> = vec![words(&["tools/list", "--strict"])];
    if fault.is_clean() || fault.is_about("resources/") {
        runs.push(words(&["resources/list"]));
        runs.push(words(&["resources/templates/list"]));
        runs.push(words(&["resources/read", "--uri", "note:///first"]));
    }
    if fault.is_clean() || fault.is_about("prompts/") {
        runs.push(words(&["prompts/list"]));
        runs.push(words(&["prompts/get", "--prompt-name", "summarise", "--prompt-args", "note=first"]));
    }
    if fault.active {
        let mut call = words(&["tools/call", "--tool-name", fault.tool(), "--tool-arg"]);
        call.extend(fault.parameters().iter().map(|name| format!("{name}=1")));
        runs.push(call);
    }
    runs.into_iter()
        .map(|run| {
            let mut command = Command::new(&linters.node);
            command.arg(&linters.inspector).args(["--cli", &served.word(), "--protocol-era", "auto"]);
            command.args(["--connect-timeout", CONNECT, "--method"]).args(run);
            command
        })
        .collect()
}

/// Returns the lines of its standard error that contain a letter, which skips box borders;
/// `failed` if there are none and it exited with an error.
pub(super) fn complaints(err: &str, exit: &str) -> Vec<Complaint> {
    let check = format!("exit {exit}");
    let mut all: Vec<Complaint> = err
        .lines()
        .filter(|line| line.chars().any(char::is_alphabetic))
        .map(|line| Complaint::new(&check, line))
        .collect();
    if all.is_empty() && exit != "0" {
        all.push(Complaint::new(&check, "failed"));
    }
    all
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
