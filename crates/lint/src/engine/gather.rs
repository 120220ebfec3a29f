//! Runs probes: first the introduction in both eras, then all others, in parallel as far as the
//! limit on open lines allows. Processes that disturb each other run one at a time.

use super::{
    Event, Options, ServerSubject, exclusive,
    introduction::{Introduced, OTHER_ERA, SILENCE, Unreachable, introduce, introduce_era, unreachable},
    plan,
};
use crate::{
    evidence::{Evidence, Line, Missed},
    probes::{self, Known, LineUse, Probe, Stage},
    rule::Mode,
    wire::{Dial, Processes, Speaker},
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

/// Upper bound of the answer timeout for a slow server or on a busy machine.
const LONGEST_ANSWER: Duration = Duration::from_secs(20);

/// Runs the probes against a server and records every frame.
pub async fn gather(subject: &ServerSubject, options: &Options) -> Result<Evidence, Unreachable> {
    options.progress.tell(Event::Connecting { target: &subject.name });
    let mut dial = subject.dial.clone();
    dial.answer = options.budget.start;
    dial.longest = options.budget.answer.min(LONGEST_ANSWER);
    let calls = Arc::new(AtomicUsize::new(options.active.calls));
    let evidence = side_by_side(subject, options, dial.clone(), calls.clone()).await?;
    if !exclusive::is_suspected(&evidence) {
        return Ok(evidence);
    }
    let Some(how) = Box::pin(exclusive::disturbance(&dial, &evidence)).await else { return Ok(evidence) };
    // What the processes did to each other says nothing about the server's protocol.
    let mut evidence = one_at_a_time(subject, options, dial, calls).await;
    evidence.exclusive = Some(how);
    Ok(evidence)
}

async fn side_by_side(
    subject: &ServerSubject,
    options: &Options,
    mut dial: Dial,
    calls: Arc<AtomicUsize>,
) -> Result<Evidence, Unreachable> {
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
    if closed.is_empty()
        && let Some(unreachable) = unreachable(&introduced)
    {
        for era in introduced {
            era.speaker.finish().await;
        }
        return Err(unreachable);
    }
    let slowest = introduced.iter().filter(|era| era.introduction.is_some()).map(Introduced::took).max();
    let dial = patient(dial, options, slowest.unwrap_or_default());
    let run = Run::new(subject, options, &dial, calls);
    let mut evidence = run.evidence(&dial);
    evidence.served = introduced.iter().filter(|era| era.introduction.is_some()).map(|era| era.era).collect();
    for (lines, missed) in join_all(introduced.into_iter().map(|era| run.era(era, dial.clone()))).await {
        evidence.lines.extend(lines);
        evidence.missed.extend(missed);
    }
    evidence.lines.extend(closed);
    Ok(evidence)
}

/// Runs the probes of one era after those of the other, with one process at a time.
async fn one_at_a_time(
    subject: &ServerSubject,
    options: &Options,
    mut dial: Dial,
    calls: Arc<AtomicUsize>,
) -> Evidence {
    dial.processes = Processes::OneAtATime;
    let run = Run::new(subject, options, &dial, calls);
    let mut evidence = run.evidence(&dial);
    let legacy = introduce_era(&dial, Era::Legacy).await;
    let took = legacy.introduction.is_some().then(|| legacy.took());
    let legacy = run.era(legacy, patient(dial.clone(), options, took.unwrap_or_default())).await;
    // Legacy servers may ignore `server/discover`.
    let mut impatient = dial.clone();
    impatient.answer = dial.answer.min(took.map_or(SILENCE, |took| OTHER_ERA.max(took * 2)));
    let modern = introduce_era(&impatient, Era::Modern).await;
    evidence.served.extend(modern.introduction.is_some().then_some(Era::Modern));
    evidence.served.extend(took.map(|_| Era::Legacy));
    let dial = patient(dial, options, modern.took().max(took.unwrap_or_default()));
    let modern = run.era(modern, dial).await;
    for (lines, missed) in [modern, legacy] {
        evidence.lines.extend(lines);
        evidence.missed.extend(missed);
    }
    evidence
}

/// Sets the timeouts of probes. If the introduction was slow, all answers may be.
fn patient(mut dial: Dial, options: &Options, introduction: Duration) -> Dial {
    let patient = introduction.saturating_mul(2).min(LONGEST_ANSWER);
    dial.answer = options.budget.answer.min(PROBE_ANSWER).max(patient);
    dial
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
    total: AtomicUsize,
}

type Gathered = (Vec<Line>, Vec<Missed>);

impl<'a> Run<'a> {
    fn new(subject: &'a ServerSubject, options: &'a Options, dial: &Dial, calls: Arc<AtomicUsize>) -> Self {
        let carrier = dial.carrier();
        Self {
            target: &subject.name,
            options,
            carrier,
            until: Instant::now() + options.budget.total,
            lines: Semaphore::new(options.budget.lines),
            calls,
            done: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
        }
    }

    fn evidence(&self, dial: &Dial) -> Evidence {
        let mut evidence = Evidence::new(self.target, self.carrier);
        evidence.address = dial.address().cloned();
        evidence
    }

    async fn era(&self, introduced: Introduced, dial: Dial) -> Gathered {
        let Introduced { mut speaker, era, introduction } = introduced;
        let Some(introduction) = introduction else {
            return self.protected(speaker, era, dial).await;
        };
        speaker.patience(dial.answer);
        let known = Arc::new(self.known(era, dial, introduction));
        let planned = plan::probes(self.options, era, self.carrier);
        self.total.fetch_add(planned.len(), Ordering::Relaxed);
        let (mut shared, own): (Vec<_>, Vec<_>) =
            planned.into_iter().partition(|probe| matches!(probe.line, LineUse::Shared | LineUse::Risky));
        let alone = known.dial.processes == Processes::OneAtATime;
        let (last, own): (Vec<_>, Vec<_>) =
            own.into_iter().partition(|probe| alone || probe.line == LineUse::Last);
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
        let total = self.total.load(Ordering::Relaxed);
        let event = Event::Probe { target: self.target, name: probe.name, done, total };
        self.options.progress.tell(event);
    }

    fn out_of_time(&self) -> String {
        format!("the time budget of {} s was used up", self.options.budget.total.as_secs())
    }
}
