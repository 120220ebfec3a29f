//! Turns the result of the handshake into problems.

use super::{
    handshake::{self, Handshake, HandshakeOutcome},
    pipe::Pipe,
    silence,
};
use crate::{
    cause::Cause,
    clues,
    conversation::Answer,
    diagnosis::Problem,
    evidence::{Evidence, Kind},
    examination::{Checked, passed, quietly},
    frames,
    options::DoctorOptions,
    shell::command_line,
};
use serde_json::Value;
use trunkline_client::{CommandLine, raw::is_response};
use trunkline_process::Ending;
use trunkline_secrets::counted;

/// Number of noise lines that are shown.
const SHOWN: usize = 5;

/// Runs the handshake and checks that the process survives it.
pub(super) async fn alive(pipe: Pipe, line: &CommandLine, options: &DoctorOptions) -> Checked<Handshake> {
    let handshake = handshake::run(pipe, line, options).await;
    match handshake.outcome {
        HandshakeOutcome::Ended(ending) => Err(Box::new(ended(ending, &handshake, line))),
        HandshakeOutcome::Silent { waited, .. } => {
            let detail = format!("it runs, and has not answered for {:.1} s", waited.as_secs_f64());
            passed(handshake, detail)
        }
        _ => {
            let detail = format!("first answer after {:.1} s", handshake.took.as_secs_f64());
            passed(handshake, detail)
        }
    }
}

/// Checks that standard output holds JSON-RPC messages only.
pub(super) fn clean(handshake: &Handshake, line: &CommandLine) -> Checked<()> {
    let written = &handshake.written;
    if let Some(beginning) = &written.endless {
        let problem = Problem::new(Cause::LineTooLong, "a line on standard output does not end")
            .proof(Evidence::new(Kind::Output, beginning.chars().take(200).collect::<String>()))
            .fix("end every message with a line break, and write nothing else to standard output");
        return Err(Box::new(problem));
    }
    let foreign: Vec<&Value> = written.strays.iter().filter(|stray| !frames::is_message(stray)).collect();
    let noise = &written.noise;
    if noise.is_empty() && foreign.is_empty() {
        return quietly(());
    }
    let shown = noise.iter().take(SHOWN).map(|text| Evidence::new(Kind::Output, text.clone()));
    let first = noise.first().map(|text| text.trim().to_owned()).unwrap_or_default();
    let problem = if noise.iter().any(|text| text.to_ascii_lowercase().starts_with("content-length:")) {
        Problem::new(Cause::LspFraming, "messages come with `Content-Length` headers")
            .fix("write each message as one line: json + \"\\n\", without headers")
    } else if is_spread(noise) {
        Problem::new(Cause::MultiLineJson, "a message is spread over several lines")
            .fix("JSON.stringify(message) without indentation, json.dumps(message) without `indent`")
    } else if let (HandshakeOutcome::Silent { .. }, Some(address)) =
        (&handshake.outcome, clues::address_in(&noise.join("\n")))
    {
        silence::http_server(&address, line)
    } else if noise.is_empty() {
        let shown = foreign.iter().take(SHOWN).map(|stray| Evidence::new(Kind::Output, stray.to_string()));
        Problem::new(Cause::StdoutForeignJson, "JSON that is no message is on standard output")
            .proofs(shown)
            .fix(stderr_advice(line))
    } else {
        let more = noise.len().saturating_sub(1);
        let more = if more == 0 { String::new() } else { format!(" and {}", counted(more, "more line")) };
        Problem::new(Cause::StdoutNoise, format!("`{first}`{more} on standard output"))
            .fix(stderr_advice(line))
    };
    Err(Box::new(problem.proofs(shown)))
}

/// Checks that the process answers in JSON-RPC.
pub(super) fn speaks(handshake: &Handshake, line: &CommandLine) -> Checked<Answer> {
    match &handshake.outcome {
        HandshakeOutcome::Introduced(introduction) => quietly(Answer::Introduced(introduction.clone())),
        HandshakeOutcome::Refused(error) => quietly(Answer::Refused(error.clone())),
        HandshakeOutcome::Odd(message) => Err(Box::new(odd(message, handshake))),
        HandshakeOutcome::Silent { waited, late } => match misaddressed(handshake) {
            Some(problem) => Err(Box::new(problem)),
            None => Err(Box::new(silence::explain(handshake, *waited, late.as_ref(), line))),
        },
        HandshakeOutcome::Ended(ending) => Err(Box::new(ended(*ending, handshake, line))),
    }
}

pub(super) fn died_when_asked(handshake: &Handshake) -> Problem {
    Problem::new(
        Cause::DiesAtTheQuestion,
        "it ended at `server/discover`, and was started again for `initialize`",
    )
    .proofs(handshake.stderr.last().map(|text| Evidence::new(Kind::Stderr, text.clone())))
    .fix("answer an unknown method with {\"error\": {\"code\": -32601, \"message\": \"Method not found\"}}")
    .fix("or begin with `initialize`: --era legacy")
}

fn ended(ending: Ending, handshake: &Handshake, line: &CommandLine) -> Problem {
    let after = handshake.took.as_secs_f64();
    let happened = format!("the process {ending} after {after:.1} s");
    let told = format!("{}\n{}", handshake.all_stderr, handshake.written.noise.join("\n"));
    let problem = match clues::read(&told, line) {
        Some(clue) => Problem { summary: format!("{happened}: {}", clue.summary), ..clue },
        None => unexplained(ending, happened, line),
    };
    let output =
        handshake.written.noise.iter().take(SHOWN).map(|text| Evidence::new(Kind::Output, text.clone()));
    problem.proof(Evidence::new(Kind::Stderr, handshake.stderr.join("\n"))).proofs(output)
}

fn unexplained(ending: Ending, happened: String, line: &CommandLine) -> Problem {
    let by_hand = format!("{}    # by hand, to see what it says", command_line(line));
    match ending {
        Ending::Signal(9) => Problem::new(Cause::KilledBySignal, happened)
            .fix("dmesg | grep -i oom    # whether the system killed it because memory ran out")
            .fix(by_hand),
        Ending::Signal(_) => Problem::new(Cause::KilledBySignal, happened).fix(by_hand),
        Ending::Code(0) => Problem::new(Cause::ExitedAtStart, happened)
            .fix("is this the command of an MCP server? a server runs until its input is closed")
            .fix(by_hand),
        _ => Problem::new(Cause::ExitedAtStart, happened).fix(by_hand),
    }
}

/// Reports an answer whose id differs from the request's in value or type.
fn misaddressed(handshake: &Handshake) -> Option<Problem> {
    let stray = handshake.written.strays.iter().find(|stray| is_response(stray))?;
    let id = stray.get("id").map_or("no id at all".to_owned(), |id| format!("the id {id}"));
    let problem = Problem::new(Cause::IdMismatch, format!("the answer has {id}; the requests had 1 and 2"))
        .proofs(handshake.written.sent())
        .proof(Evidence::new(Kind::Received, stray.to_string()));
    Some(problem.fix("answer with \"id\": <the request's id, same value and same type>"))
}

fn odd(message: &Value, handshake: &Handshake) -> Problem {
    Problem::new(Cause::NotJsonRpc, "the answer to the first request has neither a usable `result` nor an `error`")
        .proofs(handshake.written.sent())
        .proof(Evidence::new(Kind::Received, message.to_string()))
        .fix("answer `initialize` with {\"jsonrpc\": \"2.0\", \"id\": …, \"result\": {\"protocolVersion\": …, \"capabilities\": …, \"serverInfo\": …}}")
}

/// True if several lines together are one JSON text.
fn is_spread(noise: &[String]) -> bool {
    let starts = noise.iter().position(|text| text.trim_start().starts_with(['{', '[']));
    let Some(start) = starts else { return false };
    let joined = noise[start..].concat();
    let mut values = serde_json::Deserializer::from_str(&joined).into_iter::<Value>();
    matches!(values.next(), Some(Ok(value)) if value.get("jsonrpc").is_some())
}

fn stderr_advice(line: &CommandLine) -> &'static str {
    let program = line.program.rsplit('/').next().unwrap_or_default();
    if program.starts_with("python") || matches!(program, "uv" | "uvx" | "pipx") {
        "print(…, file=sys.stderr), and logging.basicConfig(stream=sys.stderr)"
    } else if matches!(program, "node" | "npx" | "bun" | "bunx" | "tsx" | "deno" | "pnpm") {
        "console.error(…) in place of console.log(…)"
    } else {
        "write it to standard error"
    }
}
