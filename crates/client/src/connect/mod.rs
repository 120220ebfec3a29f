//! Connecting: transport and era are detected by a probe; the probed link becomes the connection.

mod command;
mod exposure;
mod url;

use crate::{
    connection::{Connection, Detected},
    era::Speech,
    handshake::{self, Initialized, Probe},
    ids::IdSource,
    inbox::{Loss, LossKind},
    link::{Exchange, Link},
    memory::KnownTransport,
    options::{ConnectOptions, RevisionChoice},
    server::{Carrier, ServerInfo},
    state::{Life, State},
    target::Target,
};
use std::{sync::Arc, time::Duration};
use trunkline_protocol::{Era, Fault, FaultKind, Raw, Revision};
use trunkline_resilience::timeout;

/// Wait for the answer to `server/discover` before `initialize` is tried as well.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

impl Connection {
    /// Connects to a server of any revision over any transport.
    pub async fn open(target: &Target, options: ConnectOptions) -> Result<Self, Fault> {
        let life = Arc::new(Life::new());
        let limit = options.timeouts.connect();
        let found = timeout(limit, Box::pin(find(target, &options, &life))).await.unwrap_or_else(|| {
            let fault = format!("no connection to `{target}` within {} s", limit.as_secs_f64());
            Err(Fault::new(FaultKind::Timeout, fault))
        });
        match found {
            Ok(found) => {
                let connection = Self::new(found, options);
                // Cannot fail: it is set only here.
                connection.0.lines.target.set(target.clone()).ok();
                Ok(connection)
            }
            Err(fault) => {
                life.enter(State::Disconnected);
                Err(fault)
            }
        }
    }
}

/// The protocol eras and transports to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// Send `server/discover`; its answer decides.
    Probe,
    Modern,
    Legacy,
    LegacySse,
}

async fn find(target: &Target, options: &ConnectOptions, life: &Arc<Life>) -> Result<Detected, Fault> {
    let key = target.key();
    let known = options.memory.as_ref().and_then(|memory| memory.recall(&key));
    let plan = Plan::of(options.speak, known);
    let mut found = attempt(target, options, life, plan).await;
    if found.is_err() && known.is_some() && plan != Plan::of(options.speak, None) {
        // The remembered way no longer works.
        if let Some(memory) = &options.memory {
            memory.forget(&key);
        }
        found = attempt(target, options, life, Plan::of(options.speak, None)).await;
    }
    let found = found?;
    if let (Some(memory), RevisionChoice::Newest) = (&options.memory, options.speak) {
        memory.remember(key, way_of(&found.server));
    }
    Ok(found)
}

async fn attempt(
    target: &Target,
    options: &ConnectOptions,
    life: &Arc<Life>,
    plan: Plan,
) -> Result<Detected, Fault> {
    match target {
        Target::Command(line) => command::connect(line, options, life, plan).await,
        Target::Url(address) => url::connect(address, options, life, plan).await,
    }
}

impl Plan {
    fn of(speak: RevisionChoice, known: Option<KnownTransport>) -> Self {
        match (speak, known) {
            (RevisionChoice::Newest, None) => Self::Probe,
            (RevisionChoice::Newest, Some(KnownTransport::Modern)) => Self::Modern,
            (RevisionChoice::Newest, Some(KnownTransport::Legacy)) => Self::Legacy,
            (RevisionChoice::Newest, Some(KnownTransport::LegacySse)) => Self::LegacySse,
            (RevisionChoice::Era(era), known) => Self::in_era(era, known),
            (RevisionChoice::Exactly(revision), known) => Self::in_era(revision.era(), known),
        }
    }

    fn in_era(era: Era, known: Option<KnownTransport>) -> Self {
        match (era, known) {
            (Era::Modern, _) => Self::Modern,
            (Era::Legacy, Some(KnownTransport::LegacySse)) => Self::LegacySse,
            (Era::Legacy, _) => Self::Legacy,
        }
    }
}

fn way_of(server: &ServerInfo) -> KnownTransport {
    match (server.era(), server.transport) {
        (Era::Modern, _) => KnownTransport::Modern,
        (Era::Legacy, Carrier::LegacySse) => KnownTransport::LegacySse,
        (Era::Legacy, _) => KnownTransport::Legacy,
    }
}

/// The request format to try in an era.
fn speech(era: Era, options: &ConnectOptions) -> Speech {
    let newest = match era {
        Era::Modern => Revision::NEWEST,
        Era::Legacy => Revision::NEWEST_LEGACY,
    };
    let revision = match options.speak {
        RevisionChoice::Exactly(revision) if revision.era() == era => revision,
        _ => newest,
    };
    Speech::new(revision, options)
}

/// A link to a server whose era is not known yet.
struct Attempt<'a> {
    link: Link,
    carrier: Carrier,
    ids: IdSource,
    life: &'a Arc<Life>,
    options: &'a ConnectOptions,
}

impl Attempt<'_> {
    /// The probe succeeded: the server is modern.
    fn modern(self, introduction: Raw) -> Detected {
        let speech = speech(Era::Modern, self.options);
        self.link.settle(speech.revision);
        let server = ServerInfo::read(introduction, speech.revision, self.carrier);
        Detected { link: self.link, speech, server, ids: self.ids, life: self.life.clone() }
    }

    /// `initialize` succeeded: the server is legacy.
    fn legacy(self, initialized: Initialized) -> Detected {
        let server = ServerInfo::read(initialized.result, initialized.revision, self.carrier);
        let speech = Speech::new(initialized.revision, self.options);
        Detected { link: self.link, speech, server, ids: self.ids, life: self.life.clone() }
    }

    fn begin_probe(&self) -> Exchange {
        handshake::probe(&self.link, &speech(Era::Modern, self.options), &self.ids)
    }

    async fn initialize(self) -> Result<Detected, Loss> {
        let speech = speech(Era::Legacy, self.options);
        let initialized = handshake::initialize(&self.link, &speech, &self.ids, self.options).await?;
        Ok(self.legacy(initialized))
    }
}

/// The result of a probe.
enum Verdict {
    /// A modern server, with its introduction.
    Modern(Raw),
    /// Continue with `initialize`.
    Legacy,
    /// The server refused our revision but shares a modern one: probe again.
    Again,
}

impl Verdict {
    fn of(probe: Probe) -> Result<Self, Fault> {
        match probe {
            Probe::Modern(introduction) => {
                let supported: Vec<String> = introduction.member_as("supportedVersions").unwrap_or_default();
                match shared_era(&supported)? {
                    Era::Modern => Ok(Self::Modern(introduction)),
                    Era::Legacy => Ok(Self::Legacy),
                }
            }
            Probe::OtherRevisions(supported) => match shared_era(&supported)? {
                Era::Modern => Ok(Self::Again),
                Era::Legacy => Ok(Self::Legacy),
            },
            Probe::Unintroduced => Ok(Self::Modern(Raw::empty_object())),
            Probe::Legacy => Ok(Self::Legacy),
        }
    }
}

/// The newest era that we share with a server of these revisions.
fn shared_era(supported: &[String]) -> Result<Era, Fault> {
    let newest = supported.iter().filter_map(|text| text.parse::<Revision>().ok()).max();
    newest.map(Revision::era).ok_or_else(|| {
        let offered =
            if supported.is_empty() { "none that it names".to_owned() } else { supported.join(", ") };
        let fault = format!("the server speaks revisions {offered}; we speak up to {}", Revision::NEWEST);
        Fault::new(FaultKind::UnsupportedRevision, fault)
    })
}

/// Reads the answer to the probe, and sends a second probe if the answer calls for one.
async fn probe(attempt: &Attempt<'_>, exchange: &mut Exchange) -> Result<Verdict, Loss> {
    let answer = handshake::answer(exchange).await?;
    let line = |fault| Loss { fault, how: LossKind::Line };
    let verdict = Verdict::of(handshake::read_probe(answer, exchange.http_status())).map_err(line)?;
    if !matches!(verdict, Verdict::Again) {
        return Ok(verdict);
    }
    *exchange = attempt.begin_probe();
    let answer = handshake::answer(exchange).await?;
    match Verdict::of(handshake::read_probe(answer, exchange.http_status())).map_err(line)? {
        Verdict::Again => Err(line(Fault::new(
            FaultKind::UnsupportedRevision,
            "the server refuses the revisions that it says it supports",
        ))),
        verdict => Ok(verdict),
    }
}

fn not_modern() -> Fault {
    let fault = "the server does not speak the modern era; omit `--era`, or pass `--era legacy`";
    Fault::new(FaultKind::UnsupportedRevision, fault)
}
