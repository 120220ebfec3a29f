//! The handshake with a process: tries both eras, the preferred one first.

use super::pipe::{self, Pipe, ReadOutcome, Transcript};
use crate::{
    frames::{self, Introduction, Reading},
    options::DoctorOptions,
};
use serde_json::Value;
use std::time::{Duration, Instant};
use trunkline_client::{CommandLine, RevisionChoice};
use trunkline_process::Ending;
use trunkline_protocol::Era;

/// Time to wait for the first era's answer before the other era is tried, too.
const FIRST_ERA_WAIT: Duration = Duration::from_secs(5);
/// Time to read output after we closed the process's input.
const AFTER_EOF: Duration = Duration::from_secs(2);
/// Programs that may download something before the server starts.
const RUNNERS: [&str; 10] = ["npx", "uvx", "uv", "bunx", "pnpm", "pnpx", "yarn", "pipx", "docker", "podman"];

/// The result of the handshake, with the output of the process.
#[derive(Debug)]
pub(super) struct Handshake {
    pub(super) outcome: HandshakeOutcome,
    pub(super) written: Transcript,
    pub(super) stderr: Vec<String>,
    /// All of stderr that was kept, not only the last lines.
    pub(super) all_stderr: String,
    /// Time until an answer, EOF or the timeout.
    pub(super) took: Duration,
    /// The process exited at the first modern request and was restarted for the legacy era.
    pub(super) restarted: bool,
}

#[derive(Debug)]
pub(super) enum HandshakeOutcome {
    Introduced(Introduction),
    /// It answered every request with an error.
    Refused(Value),
    /// It answered with neither a usable result nor an error.
    Odd(Value),
    Ended(Ending),
    Silent {
        waited: Duration,
        late: Option<Value>,
    },
}

impl Handshake {
    /// True if it introduced itself in an allowed era and with a revision that we support.
    pub(super) fn understands(&self, speak: RevisionChoice) -> bool {
        matches!(&self.outcome, HandshakeOutcome::Introduced(found) if found.shared().is_some() && frames::eras(speak).contains(&found.era))
    }
}

pub(super) async fn run(mut pipe: Pipe, line: &CommandLine, options: &DoctorOptions) -> Handshake {
    let eras = match options.speak {
        RevisionChoice::Era(Era::Legacy) => [Era::Legacy, Era::Modern],
        RevisionChoice::Exactly(revision) if revision.era() == Era::Legacy => [Era::Legacy, Era::Modern],
        _ => [Era::Modern, Era::Legacy],
    };
    let started = pipe.started;
    let mut restarted = false;
    let mut outcome = exchange(&mut pipe, eras, line, options).await;
    // A slow server may have got `initialize` as well by then.
    let died_of_it = matches!(outcome, HandshakeOutcome::Ended(_)) && eras[0] == Era::Modern;
    if died_of_it && let Ok(again) = pipe::start(line, options) {
        // A server may exit at an unknown method. One that exits for another reason exits again.
        let mut second = again.value;
        let answer = exchange(&mut second, [Era::Legacy; 2], line, options).await;
        if matches!(answer, HandshakeOutcome::Introduced(_)) {
            std::mem::replace(&mut pipe, second).end().await;
            (outcome, restarted) = (answer, true);
        } else {
            second.end().await;
        }
    }
    let (stderr, all_stderr) = (pipe.stderr(), pipe.all_stderr());
    let written = std::mem::take(&mut pipe.written);
    pipe.end().await;
    Handshake { outcome, written, stderr, all_stderr, took: started.elapsed(), restarted }
}

/// Timeout for the first answer of a program.
pub(super) fn patience(line: &CommandLine, options: &DoctorOptions) -> Duration {
    let program = line.program.rsplit('/').next().unwrap_or_default();
    if RUNNERS.contains(&program) { options.limits.install } else { options.limits.step }
}

async fn exchange(
    pipe: &mut Pipe,
    eras: [Era; 2],
    line: &CommandLine,
    options: &DoctorOptions,
) -> HandshakeOutcome {
    let limit = patience(line, options);
    let begun = Instant::now();
    let mut last = None;
    let mut open: Vec<u64> = Vec::new();
    for (id, era) in (1..).zip(eras) {
        if id == 2 && eras[0] == eras[1] {
            break;
        }
        pipe.send(frames::first(era, options.speak, id)).await;
        open.push(id);
        let left = limit.saturating_sub(begun.elapsed());
        let wait = if id == 1 { FIRST_ERA_WAIT.min(limit / 2) } else { left };
        match pipe.receive(&open, wait).await {
            ReadOutcome::Answer(id, message) => {
                open.retain(|other| *other != id);
                let era = eras[usize::from(id == 2)];
                match frames::read(&message, era) {
                    Reading::Introduced(introduction) if needs_initialize(&introduction, era) => {}
                    Reading::Introduced(introduction) => return settle(pipe, introduction).await,
                    Reading::Refused(error) => last = Some(HandshakeOutcome::Refused(error)),
                    Reading::Odd if era == Era::Legacy => last = Some(HandshakeOutcome::Odd(message)),
                    Reading::Odd => last = last.or(Some(HandshakeOutcome::Odd(message))),
                }
            }
            ReadOutcome::Ended(ending) => return HandshakeOutcome::Ended(ending),
            ReadOutcome::Silence => {}
        }
    }
    match last {
        Some(outcome) => outcome,
        None => silent(pipe, &open, begun.elapsed()).await,
    }
}

/// True if a server answers `server/discover` but shares only legacy revisions with us, so that it
/// needs `initialize`.
fn needs_initialize(introduction: &Introduction, era: Era) -> bool {
    era == Era::Modern && introduction.shared().is_some_and(|revision| revision.era() == Era::Legacy)
}

async fn settle(pipe: &mut Pipe, introduction: Introduction) -> HandshakeOutcome {
    if introduction.era == Era::Legacy {
        pipe.send(frames::initialized()).await;
    }
    HandshakeOutcome::Introduced(introduction)
}

/// No answer came. Closes the input: a process that buffers its output flushes it on exit.
async fn silent(pipe: &mut Pipe, open: &[u64], waited: Duration) -> HandshakeOutcome {
    let late = match pipe.receive_after_eof(open, AFTER_EOF).await {
        ReadOutcome::Answer(_, message) => Some(message),
        ReadOutcome::Ended(_) | ReadOutcome::Silence => None,
    };
    HandshakeOutcome::Silent { waited, late }
}
