//! Servers of which only one process can run: a second one ends the first, waits for it, or fails.

use super::introduction::{Introduced, SILENCE, introduce_era};
use crate::{
    evidence::{Evidence, Line, Settled, Step},
    wire::{Dial, Heard},
};
use serde_json::json;
use std::time::Duration;
use trunkline_client::Carrier;
use trunkline_protocol::Era;

/// A request to the first process, before and after the start of the second.
const BESIDE: Step = Step("beside");

/// Minimum time for the second process to start; a slow start of the first extends it.
const SECOND_START: Duration = Duration::from_secs(3);

/// True if a process ended by itself or did not answer, while others ran: the reason may be the
/// other processes.
pub(super) fn is_suspected(evidence: &Evidence) -> bool {
    let answered = |era| evidence.lines.iter().any(|line| line.era == Some(era) && line.was_answered());
    evidence.carrier == Carrier::Stdio
        && evidence.lines.iter().any(Line::was_answered)
        && (evidence.lines.iter().any(|line| line.ended.is_some() || !line.was_answered())
            || !(answered(Era::Legacy) && answered(Era::Modern)))
}

/// Starts one process and then another. Returns how they disturb each other; `None` if they do
/// not, or if the first does not work alone either.
pub(super) async fn disturbance(dial: &Dial, evidence: &Evidence) -> Option<String> {
    let answered = evidence.lines.iter().filter(|line| line.was_answered());
    let slowest = answered.filter_map(|line| line.exchanges.first()).map(|first| first.took).max();
    let mut dial = dial.clone();
    dial.answer = dial.answer.min(SILENCE.max(slowest.unwrap_or_default().saturating_mul(2)));
    for era in [Era::Legacy, Era::Modern] {
        let first = introduce_era(&dial, era).await;
        if first.introduction.is_some() {
            return beside(&dial, first).await;
        }
        first.speaker.finish().await;
    }
    None
}

async fn beside(dial: &Dial, mut first: Introduced) -> Option<String> {
    let before = ask(&mut first).await;
    let mut impatient = dial.clone();
    impatient.answer = dial.answer.min(SECOND_START.max(first.took().saturating_mul(2)));
    let second = introduce_era(&impatient, first.era).await;
    let after = ask(&mut first).await;
    let how = if before.answer.is_some() && after.answer.is_none() {
        let ended = first.speaker.so_far(|line| line.ended.as_ref().map(|ended| ended.how.clone()));
        let how = ended.unwrap_or_else(|| "no longer answers".to_owned());
        Some(format!("when a second process starts, the first one {how}"))
    } else if second.introduction.is_none() {
        let how = second.speaker.so_far(|line| match line.exchanges.first().map(|first| &first.settled) {
            Some(Settled::Silent(_)) => "does not answer".to_owned(),
            _ => line.ended.as_ref().map_or("refuses".to_owned(), |ended| ended.how.clone()),
        });
        Some(format!("a process works alone, but a second one beside it {how}"))
    } else {
        None
    };
    first.speaker.finish().await;
    second.speaker.finish().await;
    how
}

async fn ask(introduced: &mut Introduced) -> Heard {
    let method = match introduced.era {
        Era::Legacy => "ping",
        Era::Modern => "server/discover",
    };
    introduced.speaker.ask(BESIDE, method, json!({})).await
}
