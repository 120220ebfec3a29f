//! Runs probes: first the introduction in both eras, then all others, in parallel as far as the
//! limit on open lines allows.

use super::{Event, Options, ServerSubject, plan};
use crate::{
    evidence::{Direction, Evidence, Line, Missed, Settled},
    probes::{self, Known, LineUse, Probe, Stage},
    rule::Mode,
    wire::{Dial, Speaker},
};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{sync::Semaphore, time::Instant};
use trunkline_client::Carrier;
use trunkline_protocol::Era;

/// Timeout of a probe for which silence is a possible outcome.
const PROBE_ANSWER: Duration = Duration::from_secs(3);

/// Upper bound of the answer timeout that is derived from a slow introduction.
const LONGEST_ANSWER: Duration = Duration::from_secs(20);

/// Minimum time for the modern era to answer after the legacy one has; a slow legacy answer
/// extends it.
const OTHER_ERA: Duration = Duration::from_secs(2);

/// The server could not be started or reached, so there is nothing to judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unreachable {
    pub why: String,
    /// The end of what the process wrote to stderr.
    pub stderr: String,
}

/// The outcome of the introduction in one era.
struct Introduced {
    speaker: Speaker,
    era: Era,
    introduction: Option<Value>,
}

/// Runs the probes against a server and records every frame.
pub async fn gather(subject: &ServerSubject, options: &Options) -> Result<Evidence, Unreachable> {
    options.progress.tell(Event::Connecting { target: &subject.name });
    let mut dial = subject.dial.clone();
    dial.answer = options.budget.start;
    let (mut introduced, closed) = Box::pin(introduce(&dial)).await;
    if introduced.iter().all(|era| era.introduction.is_none())
        && introduced.iter().any(Introduced::refuses_posts)
        && let Some(sse) = dial.over_sse()
    {
        let old = introduce_era(&sse, Era::Legacy).await;
        if old.introduction.is_some() {
            dial = sse;
            introduced = vec![old];
        }
    }
    if introduced.iter().all(|era| era.introduction.is_none())
        && let Some(modern) = introduced.iter_mut().find(|era| era.era == Era::Modern && era.was_refused())
    {
        modern.speaker.ask(probes::UNINTRODUCED, "tools/list", json!({})).await;
    }
    // On a busy machine all answers are slow, not only the first.
    let slowest = introduced.iter().filter(|era| era.introduction.is_some()).map(Introduced::took).max();
    let patient = slowest.unwrap_or_default().saturating_mul(2).min(LONGEST_ANSWER);
    dial.answer = options.budget.answer.min(PROBE_ANSWER).max(patient);
    if closed.is_empty()
        && let Some(unreachable) = unreachable(&introduced)
    {
        for era in introduced {
            era.speaker.finish().await;
        }
        return Err(unreachable);
    }
    let mut evidence = probe(subject, options, dial, introduced).await;
    evidence.lines.extend(closed);
    Ok(evidence)
}

async fn probe(
    subject: &ServerSubject,
    options: &Options,
    dial: Dial,
    introduced: Vec<Introduced>,
) -> Evidence {
    let mut evidence = Evidence::new(&subject.name, dial.carrier());
    evidence.address = dial.address().cloned();
    evidence.served = introduced.iter().filter(|era| era.introduction.is_some()).map(|era| era.era).collect();
    let run = Run {
        target: &subject.name,
        options,
        carrier: dial.carrier(),
        until: Instant::now() + options.budget.total,
        lines: Semaphore::new(options.budget.lines),
        calls: Arc::new(AtomicUsize::new(options.active.calls)),
        done: AtomicUsize::new(0),
        total: introduced
            .iter()
            .filter(|era| era.introduction.is_some())
            .map(|era| plan::probes(options, era.era, dial.carrier()).len())
            .sum(),
    };
    for (lines, missed) in join_all(introduced.into_iter().map(|era| run.era(era, dial.clone()))).await {
        evidence.lines.extend(lines);
        evidence.missed.extend(missed);
    }
    evidence
}

/// Time after which the input of a silent process is closed, to see whether it flushes a buffered
/// answer.
const SILENCE: Duration = Duration::from_secs(10);

async fn introduce(dial: &Dial) -> (Vec<Introduced>, Vec<Line>) {
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
                let wait = if first.introduction.is_some() { OTHER_ERA.max(first.took()) } else { SILENCE };
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

async fn introduce_era(dial: &Dial, era: Era) -> Introduced {
    let mut speaker = dial.open("main", era).await;
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
    fn was_refused(&self) -> bool {
        self.speaker
            .so_far(|line| line.exchanges.iter().any(|exchange| exchange.settled == Settled::Answered))
    }

    /// True if there was an HTTP response: without an introduction, the server may speak HTTP+SSE.
    fn refuses_posts(&self) -> bool {
        self.speaker.so_far(|line| line.exchanges.iter().any(|exchange| exchange.http.is_some()))
    }

    /// Duration of the introduction.
    fn took(&self) -> Duration {
        self.speaker.so_far(|line| line.exchanges.first().map_or(Duration::ZERO, |first| first.took))
    }
}

/// Returns the error if the connection failed in every era.
fn unreachable(introduced: &[Introduced]) -> Option<Unreachable> {
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

/// The state of one run against one target.
struct Run<'a> {
    target: &'a str,
    options: &'a Options,
    carrier: Carrier,
    until: Instant,
    lines: Semaphore,
    calls: Arc<AtomicUsize>,
    done: AtomicUsize,
    total: usize,
}

type Gathered = (Vec<Line>, Vec<Missed>);

impl Run<'_> {
    async fn era(&self, introduced: Introduced, dial: Dial) -> Gathered {
        let Introduced { mut speaker, era, introduction } = introduced;
        let Some(introduction) = introduction else {
            return self.protected(speaker, era, dial).await;
        };
        speaker.patience(dial.answer);
        let known = Arc::new(self.known(era, dial, introduction));
        let (mut shared, own): (Vec<_>, Vec<_>) = plan::probes(self.options, era, self.carrier)
            .into_iter()
            .partition(|probe| matches!(probe.line, LineUse::Shared | LineUse::Risky));
        let (last, own): (Vec<_>, Vec<_>) = own.into_iter().partition(|probe| probe.line == LineUse::Last);
        // Malformed JSON goes first of the risky ones: an error without an id is then its answer,
        // and no late answer to another broken message.
        let risk = |probe: &Probe| match probe.line {
            LineUse::Risky if probe.name == probes::MALFORMED.name => 1,
            LineUse::Risky => 2,
            _ => 0,
        };
        shared.sort_by_key(|probe| (probe.mode >= Mode::Active, risk(probe), probe.mode));
        let mut stage = Stage::new(speaker, known.clone());
        // The lists go first of all: the time they take is the measure for every other answer.
        let mut gathered = (Vec::new(), Vec::new());
        if let Some(at) = shared.iter().position(|probe| probe.name == probes::LISTS.name) {
            gathered.1.extend(self.on_shared(&mut stage, shared.remove(at)).await);
        }
        let (main, others) = tokio::join!(
            self.shared(stage, shared),
            join_all(own.into_iter().map(|probe| self.own(probe, known.clone())))
        );
        for (lines, missed) in std::iter::once(main).chain(others) {
            gathered.0.extend(lines);
            gathered.1.extend(missed);
        }
        for probe in last {
            let (lines, missed) = self.own(probe, known.clone()).await;
            gathered.0.extend(lines);
            gathered.1.extend(missed);
        }
        gathered
    }

    fn known(&self, era: Era, dial: Dial, introduction: Value) -> Known {
        let budget = self.options.budget;
        Known {
            era,
            dial,
            introduction,
            start: budget.start,
            owed: budget.answer.min(budget.total / 2),
            slowest_list: AtomicU64::new(0),
            active: self.options.active,
            calls_left: self.calls.clone(),
        }
    }

    /// Runs only the authorization probe against a server that answers 401.
    async fn protected(&self, speaker: Speaker, era: Era, dial: Dial) -> Gathered {
        let refused = speaker.so_far(|line| {
            line.exchanges
                .iter()
                .any(|exchange| exchange.http.as_ref().is_some_and(|http| http.status == 401))
        });
        let planned = plan::probes(self.options, era, self.carrier);
        let probe = planned.into_iter().find(|probe| probe.name == probes::AUTHORIZATION.name);
        let Some(probe) = probe.filter(|_| refused && era == Era::Modern) else {
            return (vec![speaker.finish().await], Vec::new());
        };
        let known = self.known(era, dial, Value::Null);
        self.shared(Stage::new(speaker, Arc::new(known)), vec![probe]).await
    }

    async fn shared(&self, mut stage: Stage, probes: Vec<&'static Probe>) -> Gathered {
        let mut missed = Vec::new();
        for probe in probes {
            missed.extend(self.on_shared(&mut stage, probe).await);
        }
        (stage.finish().await, missed)
    }

    async fn on_shared(&self, stage: &mut Stage, probe: &'static Probe) -> Option<Missed> {
        let era = Some(stage.era());
        self.begins(probe);
        let run = async {
            if !stage.is_usable() {
                stage.renew(probe.name).await;
            }
            (probe.run)(stage).await;
        };
        let ran = tokio::time::timeout_at(self.until, run).await;
        ran.is_err().then(|| Missed { probe: probe.name, era, why: self.out_of_time() })
    }

    async fn own(&self, probe: &'static Probe, known: Arc<Known>) -> Gathered {
        let era = Some(known.era);
        let miss = |why: String| vec![Missed { probe: probe.name, era, why }];
        let Ok(Ok(_permit)) = tokio::time::timeout_at(self.until, self.lines.acquire()).await else {
            return (Vec::new(), miss(self.out_of_time()));
        };
        self.begins(probe);
        let mut speaker = known.dial.open(probe.name, known.era).await;
        if let Some(why) = speaker.failed().map(str::to_owned) {
            return (vec![speaker.finish().await], miss(why));
        }
        // A new process may need as long for its first answer as the first one.
        speaker.patience(self.options.budget.start);
        let introduced = probe.line != LineUse::Fresh;
        if introduced && speaker.introduce(probes::INTRODUCED_AGAIN).await.is_none() {
            return (
                vec![speaker.finish().await],
                miss("the server did not introduce itself again".to_owned()),
            );
        }
        if introduced {
            speaker.patience(known.patience());
        }
        let mut stage = Stage::new(speaker, known);
        let ran = tokio::time::timeout_at(self.until, (probe.run)(&mut stage)).await;
        let missed = if ran.is_err() { miss(self.out_of_time()) } else { Vec::new() };
        (stage.finish().await, missed)
    }

    fn begins(&self, probe: &Probe) {
        let done = self.done.fetch_add(1, Ordering::Relaxed);
        let event = Event::Probe { target: self.target, name: probe.name, done, total: self.total };
        self.options.progress.tell(event);
    }

    fn out_of_time(&self) -> String {
        format!("the time budget of {} s was used up", self.options.budget.total.as_secs())
    }
}
