//! The first words with a process: both eras are tried, the one that the caller wants first.

use super::pipe::{self, Heard, Pipe, Transcript};
use crate::{
    frames::{self, Introduction, Reading},
    options::DoctorOptions,
};
use serde_json::Value;
use std::time::{Duration, Instant};
use trunkline_client::{CommandLine, Speak};
use trunkline_process::Ending;
use trunkline_protocol::Era;

/// How long one way of asking waits before the other one is tried, too.
const FIRST_PATIENCE: Duration = Duration::from_secs(5);
/// How long is listened after the input was ended.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// Programs that may have to download before they start.
const RUNNERS: [&str; 10] = ["npx", "uvx", "uv", "bunx", "pnpm", "pnpx", "yarn", "pipx", "docker", "podman"];

/// Everything that is known after the first words.
#[derive(Debug)]
pub(super) struct Meeting {
    pub(super) said: Said,
    pub(super) written: Transcript,
    pub(super) stderr: Vec<String>,
    /// All of it that was kept.
    pub(super) all_stderr: String,
    /// How long until there was an answer, an end, or no more patience.
    pub(super) took: Duration,
    /// It ended at the first modern question, and was started again.
    pub(super) restarted: bool,
}

#[derive(Debug)]
pub(super) enum Said {
    Introduced(Introduction),
    /// It answered, and with an error to every question.
    Refused(Value),
    /// It answered with something else.
    Odd(Value),
    Ended(Ending),
    Silent {
        waited: Duration,
        late: Option<Value>,
    },
}

impl Meeting {
    /// Whether it introduced itself in an era and a revision in which a conversation is possible.
    pub(super) fn understands(&self, speak: Speak) -> bool {
        matches!(&self.said, Said::Introduced(found) if found.shared().is_some() && frames::eras(speak).contains(&found.era))
    }
}

pub(super) async fn meet(mut pipe: Pipe, line: &CommandLine, options: &DoctorOptions) -> Meeting {
    let eras = match options.speak {
        Speak::Era(Era::Legacy) => [Era::Legacy, Era::Modern],
        Speak::Exactly(revision) if revision.era() == Era::Legacy => [Era::Legacy, Era::Modern],
        _ => [Era::Modern, Era::Legacy],
    };
    let started = pipe.started;
    let mut restarted = false;
    let mut said = talk(&mut pipe, eras, line, options).await;
    let died_of_it = matches!(said, Said::Ended(_)) && pipe.written.sent.len() == 1;
    if died_of_it && let Ok(again) = pipe::start(line, options) {
        // A server may end at a question that it does not know; one that ends anyway does so again.
        let mut second = again.value;
        let answer = talk(&mut second, [Era::Legacy; 2], line, options).await;
        if matches!(answer, Said::Introduced(_)) {
            std::mem::replace(&mut pipe, second).end().await;
            (said, restarted) = (answer, true);
        } else {
            second.end().await;
        }
    }
    let (stderr, all_stderr) = (pipe.stderr(), pipe.all_stderr());
    let written = std::mem::take(&mut pipe.written);
    pipe.end().await;
    Meeting { said, written, stderr, all_stderr, took: started.elapsed(), restarted }
}

/// How long a program may take to say its first word.
pub(super) fn patience(line: &CommandLine, options: &DoctorOptions) -> Duration {
    let program = line.program.rsplit('/').next().unwrap_or_default();
    if RUNNERS.contains(&program) { options.limits.install } else { options.limits.step }
}

async fn talk(pipe: &mut Pipe, eras: [Era; 2], line: &CommandLine, options: &DoctorOptions) -> Said {
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
        let wait = if id == 1 { FIRST_PATIENCE.min(limit / 2) } else { left };
        match pipe.hear(&open, wait).await {
            Heard::Answer(id, message) => {
                open.retain(|other| *other != id);
                let era = eras[usize::from(id == 2)];
                match frames::read(&message, era) {
                    Reading::Introduced(introduction) if needs_initialize(&introduction, era) => {}
                    Reading::Introduced(introduction) => return settle(pipe, introduction).await,
                    Reading::Refused(error) => last = Some(Said::Refused(error)),
                    Reading::Odd if era == Era::Legacy => last = Some(Said::Odd(message)),
                    Reading::Odd => last = last.or(Some(Said::Odd(message))),
                }
            }
            Heard::Ended(ending) => return Said::Ended(ending),
            Heard::Silence => {}
        }
    }
    match last {
        Some(said) => said,
        None => silent(pipe, &open, begun.elapsed()).await,
    }
}

/// A modern server that speaks only legacy revisions to us wants the handshake.
fn needs_initialize(introduction: &Introduction, era: Era) -> bool {
    era == Era::Modern && introduction.shared().is_some_and(|revision| revision.era() == Era::Legacy)
}

async fn settle(pipe: &mut Pipe, introduction: Introduction) -> Said {
    if introduction.era == Era::Legacy {
        pipe.send(frames::initialized()).await;
    }
    Said::Introduced(introduction)
}

/// Nothing came. Whether the answer is somewhere on the way shows when the input ends.
async fn silent(pipe: &mut Pipe, open: &[u64], waited: Duration) -> Said {
    let late = match pipe.hear_after_end(open, LAST_WORDS).await {
        Heard::Answer(_, message) => Some(message),
        Heard::Ended(_) | Heard::Silence => None,
    };
    Said::Silent { waited, late }
}
