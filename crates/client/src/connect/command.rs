//! Connects to a server that is started as a command. If it exits on the modern probe, it is
//! started again and initialized in the legacy way.

use super::{Attempt, PROBE_TIMEOUT, Plan, Verdict, not_modern, probe, speech};
use crate::{
    connection::Detected,
    handshake,
    ids::IdSource,
    inbox::{Loss, LossKind},
    link::{Exchange, Link, Process, fault_of_spawn},
    memory::KnownTransport,
    options::{ConnectOptions, RevisionChoice},
    server::Carrier,
    state::{Life, State},
    switchboard::Switchboard,
    target::{CommandLine, Target},
};
use std::sync::Arc;
use trunkline_protocol::{Era, Fault, FaultKind};
use trunkline_resilience::timeout;
use trunkline_transport::child::ChildProcess;

pub(super) async fn connect(
    line: &CommandLine,
    options: &ConnectOptions,
    life: &Arc<Life>,
    plan: Plan,
) -> Result<Detected, Fault> {
    let attempt = start(line, options, life)?;
    let mut exchange = match plan {
        Plan::Legacy | Plan::LegacySse => return attempt.initialize().await.map_err(|loss| loss.fault),
        Plan::Modern | Plan::Probe => attempt.begin_probe(),
    };
    if plan == Plan::Modern {
        return match probe(&attempt, &mut exchange).await.map_err(|loss| loss.fault)? {
            Verdict::Modern(introduction) => Ok(attempt.modern(introduction)),
            Verdict::Legacy | Verdict::Again => Err(not_modern()),
        };
    }
    match timeout(PROBE_TIMEOUT, probe(&attempt, &mut exchange)).await {
        Some(Ok(Verdict::Modern(introduction))) => Ok(attempt.modern(introduction)),
        Some(Ok(_)) => attempt.initialize().await.map_err(|loss| loss.fault),
        Some(Err(loss)) if exited(&loss) => {
            attempt.link.close().await;
            start_again(line, options, life).await
        }
        Some(Err(loss)) => Err(loss.fault),
        None => match ask_both(attempt, exchange).await {
            Err(loss) if exited(&loss) => start_again(line, options, life).await,
            found => found.map_err(|loss| loss.fault),
        },
    }
}

/// Starts a server again that exited before it answered `server/discover`, with `initialize` only.
async fn start_again(
    line: &CommandLine,
    options: &ConnectOptions,
    life: &Arc<Life>,
) -> Result<Detected, Fault> {
    tracing::info!("the server exited on `server/discover`; starting it again with `initialize`");
    // Remembered before it has answered: if it starts too slowly for this connection, the next one
    // does not begin with the probe again. A way that does not work is forgotten.
    if let (Some(memory), RevisionChoice::Newest) = (&options.memory, options.speak) {
        memory.remember(Target::Command(line.clone()).key(), KnownTransport::Legacy);
    }
    start(line, options, life)?.initialize().await.map_err(|loss| loss.fault)
}

fn exited(loss: &Loss) -> bool {
    loss.how == LossKind::Line && loss.fault.kind() == FaultKind::ServerExited
}

fn start<'a>(
    line: &CommandLine,
    options: &'a ConnectOptions,
    life: &'a Arc<Life>,
) -> Result<Attempt<'a>, Fault> {
    life.enter(State::Connecting);
    let command = line.command(&options.environment);
    let (child, reader) =
        ChildProcess::spawn(&command, options.process_limits).map_err(|e| fault_of_spawn(&e))?;
    let board = Switchboard::new(options);
    let process = Process { child, patience: options.patience };
    let link = Link::over_pipe((process, reader), board, options.tap.clone());
    life.enter(State::Initializing);
    Ok(Attempt { link, carrier: Carrier::Stdio, ids: IdSource::new(options.ids), life, options })
}

/// The probe has no answer yet: the server may be a legacy one that ignores unknown requests, or a
/// slow one. Sends `initialize` as well; the first clear answer decides.
async fn ask_both(attempt: Attempt<'_>, mut probed: Exchange) -> Result<Detected, Loss> {
    let old = speech(Era::Legacy, attempt.options);
    let mut initialize = handshake::begin_initialize(&attempt.link, &old, &attempt.ids, attempt.options);
    let answer = tokio::select! {
        biased;
        verdict = probe(&attempt, &mut probed) => match verdict? {
            Verdict::Modern(introduction) => return Ok(attempt.modern(introduction)),
            Verdict::Legacy | Verdict::Again => handshake::answer(&mut initialize).await,
        },
        answer = handshake::answer(&mut initialize) => match answer {
            // A slow modern server refuses `initialize`; its answer to the probe may still come.
            Ok(Err(refusal)) => match probe(&attempt, &mut probed).await? {
                Verdict::Modern(introduction) => return Ok(attempt.modern(introduction)),
                Verdict::Legacy | Verdict::Again => Ok(Err(refusal)),
            },
            answer => answer,
        },
    };
    let initialized = handshake::confirm(&attempt.link, answer?, attempt.options).await?;
    Ok(attempt.legacy(initialized))
}
