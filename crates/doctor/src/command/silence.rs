//! Explains a process that runs and does not answer.

use super::handshake::Handshake;
use crate::{
    cause::Cause,
    clues,
    diagnosis::Problem,
    evidence::{Evidence, Kind},
    shell::{command_line, doctor},
};
use serde_json::Value;
use std::time::Duration;
use trunkline_client::CommandLine;

/// Output of package runners while they install.
const INSTALLING: [&str; 8] = [
    "downloading",
    "installing",
    "resolving",
    "fetching",
    "building",
    "pulling from",
    "unable to find image",
    "npm warn exec the following package was not found and will be installed",
];
/// Endings of interactive prompts, which get no answer here.
const QUESTIONS: [&str; 7] =
    ["ok to proceed? (y)", "(y/n)", "[y/n]", "password:", "passphrase", "press any key", "press enter"];

pub(super) fn explain(
    handshake: &Handshake,
    waited: Duration,
    late: Option<&Value>,
    line: &CommandLine,
) -> Problem {
    let told = handshake.all_stderr.to_lowercase();
    let happened = format!("no answer within {:.1} s", waited.as_secs_f64());
    let stderr = Evidence::new(Kind::Stderr, handshake.stderr.join("\n"));
    let problem = if let Some(message) = late {
        only_at_end(message, line)
    } else if QUESTIONS.iter().any(|question| told.contains(question)) {
        asks_back(&told, line)
    } else if told.contains("\"jsonrpc\"") {
        Problem::new(Cause::AnswersOnStderr, "its answers are on standard error")
            .fix("write messages to standard output, and logs to standard error")
    } else if let Some(address) = clues::address_in(&handshake.all_stderr) {
        return http_server(&address, line).proofs(handshake.written.sent()).proof(stderr);
    } else if INSTALLING.iter().any(|word| told.contains(word)) {
        Problem::new(Cause::StillInstalling, format!("{happened}; it still installs"))
            .fix(format!("{} --help    # once by hand, until it is installed", command_line(line)))
            .fix("or allow more time: --install-timeout 5m here, a longer start-up timeout in the client")
    } else {
        Problem::new(Cause::NoAnswer, happened)
            .fix(format!("{}    # by hand; then type a message and see", command_line(line)))
    };
    problem.proofs(handshake.written.sent()).proof(stderr)
}

pub(super) fn http_server(address: &str, line: &CommandLine) -> Problem {
    Problem::new(
        Cause::LooksLikeHttpServer,
        format!("it says that it listens at {address}, and is silent on stdio"),
    )
    .fix(format!("trunkline doctor {address}    # while it runs"))
    .fix(format!("or start it for stdio, often: {} --stdio", command_line(line)))
}

fn only_at_end(message: &Value, line: &CommandLine) -> Problem {
    let shown = Evidence::new(Kind::Received, message.to_string());
    let is_python = line.program.rsplit('/').next().is_some_and(|name| name.starts_with("python"));
    if !is_python {
        return Problem::new(Cause::AnswersOnlyAtEnd, "the answer came only after its input had ended")
            .proof(shown)
            .fix("flush standard output after every message, and read line by line")
            .fix(format!("stdbuf -oL {}    # if it uses the C library's output", command_line(line)));
    }
    Problem::new(Cause::StdoutBuffered, "the answer came only after its input had ended")
        .proof(shown)
        .fix("\"env\": { \"PYTHONUNBUFFERED\": \"1\" }")
        .fix("or in the server: print(message, flush=True)")
}

fn asks_back(told: &str, line: &CommandLine) -> Problem {
    let question = told.lines().rev().find(|text| QUESTIONS.iter().any(|question| text.contains(question)));
    let question = question.unwrap_or_default().trim();
    let problem = Problem::new(Cause::WaitsForConfirmation, format!("it asks `{question}` and waits"));
    if line.program.rsplit('/').next() != Some("npx") {
        return problem
            .fix(doctor(&[], line))
            .fix("answer the question once by hand, or find the option that skips it");
    }
    let mut args = vec!["\"-y\"".to_owned()];
    args.extend(line.args.iter().map(|arg| format!("{arg:?}")));
    problem.fix(format!("\"command\": \"npx\", \"args\": [{}]", args.join(", ")))
}
