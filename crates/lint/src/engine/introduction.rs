//! The introduction of a server, in both eras at the same time.

use crate::{
    evidence::{Direction, Line, MAIN, Settled},
    probes,
    wire::{Dial, Speaker},
};
use serde_json::Value;
use std::time::Duration;
use trunkline_protocol::Era;

/// Minimum time for the modern era to answer after the legacy one has; a slow legacy answer
/// extends it.
pub(super) const OTHER_ERA: Duration = Duration::from_secs(2);

/// Time after which the input of a silent process is closed, to see whether it flushes a buffered
/// answer.
pub(super) const SILENCE: Duration = Duration::from_secs(10);

/// The server could not be started or reached, so there is nothing to judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unreachable {
    pub why: String,
    /// The end of what the process wrote to stderr.
    pub stderr: String,
}

/// The outcome of the introduction in one era.
pub(super) struct Introduced {
    pub(super) speaker: Speaker,
    pub(super) era: Era,
    pub(super) introduction: Option<Value>,
}

pub(super) async fn introduce(dial: &Dial) -> (Vec<Introduced>, Vec<Line>) {
    let mut impatient = dial.clone();
    impatient.answer = dial.answer.min(SILENCE);
    let modern = introduce_era(&impatient, Era::Modern);
    let legacy = introduce_era(dial, Era::Legacy);
    tokio::pin!(legacy);
    let (modern, first_legacy) = {
        tokio::pin!(modern);
        tokio::select! {
            first = &mut modern => (Some(first), None),
            first = &mut legacy => {
                let wait = if first.introduction.is_some() { OTHER_ERA.max(first.took().saturating_mul(2)) } else { SILENCE };
                (tokio::time::timeout(wait, &mut modern).await.ok(), Some(first))
            }
        }
    };
    let (mut introduced, mut closed) = (Vec::new(), Vec::new());
    let mut again = false;
    let mut wait = dial.answer;
    match modern {
        Some(silent) if silent.is_silent() => {
            // A process that buffers its output flushes it after EOF on its input.
            let line = silent.speaker.finish().await;
            if line.frames.iter().any(|frame| frame.direction == Direction::Received) {
                wait = wait.min(SILENCE);
            }
            closed.push(line);
            again = true;
        }
        other => introduced.extend(other),
    }
    let legacy = match first_legacy {
        Some(legacy) => Some(legacy),
        None => tokio::time::timeout(wait, legacy).await.ok(),
    };
    let Some(legacy) = legacy else { return (introduced, closed) };
    if legacy.introduction.is_some() {
        // The server was only slow, so the late answer does not prove buffering.
        closed.clear();
    }
    // Retries the modern era: the server was slow to start and is warm now.
    if again && legacy.introduction.is_some() {
        impatient.answer = OTHER_ERA.max(legacy.took().saturating_mul(2)).min(dial.answer);
        introduced.push(introduce_era(&impatient, Era::Modern).await);
    }
    introduced.push(legacy);
    (introduced, closed)
}

pub(super) async fn introduce_era(dial: &Dial, era: Era) -> Introduced {
    let mut speaker = dial.open(MAIN, era).await;
    let step = match era {
        Era::Legacy => probes::INITIALIZE,
        Era::Modern => probes::DISCOVER,
    };
    let introduction = speaker.introduce(step).await;
    let modern = |result: &Value| {
        ["supportedVersions", "capabilities", "resultType"].iter().any(|member| result.get(member).is_some())
    };
    let legacy =
        |result: &Value| result.get("protocolVersion").is_some() || result.get("capabilities").is_some();
    let introduction = introduction.filter(|result| match era {
        Era::Modern => modern(result),
        Era::Legacy => legacy(result),
    });
    Introduced { speaker, era, introduction }
}

impl Introduced {
    /// True if a process timed out without writing anything.
    fn is_silent(&self) -> bool {
        let silent = self.speaker.so_far(|line| {
            line.frames.iter().all(|frame| frame.direction == Direction::Sent)
                && line.exchanges.iter().any(|exchange| matches!(exchange.settled, Settled::Silent(_)))
        });
        silent && self.speaker.is_process()
    }

    /// True if the server answered, even if with an error.
    pub(super) fn was_refused(&self) -> bool {
        self.speaker
            .so_far(|line| line.exchanges.iter().any(|exchange| exchange.settled == Settled::Answered))
    }

    /// True if there was an HTTP response: without an introduction, the server may speak HTTP+SSE.
    pub(super) fn refuses_posts(&self) -> bool {
        self.speaker.so_far(|line| line.exchanges.iter().any(|exchange| exchange.http.is_some()))
    }

    /// Duration of the introduction.
    pub(super) fn took(&self) -> Duration {
        self.speaker.so_far(|line| line.exchanges.first().map_or(Duration::ZERO, |first| first.took))
    }
}

/// Returns the error if the connection failed in every era.
pub(super) fn unreachable(introduced: &[Introduced]) -> Option<Unreachable> {
    let mut why = None;
    for era in introduced {
        if let Some(failed) = era.speaker.failed() {
            why = Some(failed.to_owned());
            continue;
        }
        let failed = era.speaker.so_far(|line| {
            let spoke = line.frames.iter().any(|frame| frame.direction != Direction::Sent);
            if spoke || line.ended.is_some() || line.exchanges.iter().any(|exchange| exchange.http.is_some())
            {
                return None;
            }
            line.exchanges.iter().find_map(|exchange| match &exchange.settled {
                Settled::Failed(why) => Some(why.clone()),
                _ => None,
            })
        });
        why = Some(failed?);
    }
    why.map(|why| Unreachable { why, stderr: String::new() })
}
