//! Changes of the configuration, taken up while everything runs.

use super::Args;
use crate::{
    commands::Context,
    failure::Failure,
    wire::{flags, gateway::Running, settings},
};
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::{sleep, timeout},
};
use trunkline_config::{Flag, Loaded, Settings, Watch};

/// How long no further hangup must have come before one is obeyed.
const QUIET: Duration = Duration::from_millis(100);
/// The longest that hangups put each other off.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is needed to read the configuration again.
struct Reloader {
    context: Context,
    file: Option<PathBuf>,
    flags: Vec<Flag>,
    running: Arc<Running>,
    /// What holds now, for settings that cannot change while we run.
    settings: Settings,
}

/// Watches the configuration for as long as the process lives.
pub(super) fn start(
    context: &Context,
    args: &Args,
    loaded: &Loaded,
    running: &Arc<Running>,
) -> Result<(), Failure> {
    let hangup = signal(SignalKind::hangup())
        .map_err(|error| Failure::usage(format!("signals cannot be received: {error}")))?;
    let reloader = Reloader {
        context: context.clone(),
        file: args.config.clone(),
        flags: flags::of(args),
        running: running.clone(),
        settings: loaded.settings.clone(),
    };
    tokio::spawn(reloader.run(Watch::new(loaded.watched.clone()), hangup));
    Ok(())
}

impl Reloader {
    async fn run(mut self, mut watch: Watch, mut hangup: Signal) {
        loop {
            tokio::select! {
                () = watch.changed() => {}
                Some(()) = hangup.recv() => calm(&mut hangup).await,
            }
            match settings::read(&self.context.environment, self.file.as_deref(), self.flags.clone()) {
                Ok(Ok(loaded)) => {
                    watch.follow(loaded.watched.clone());
                    self.take(loaded);
                }
                Ok(Err(rejected)) => {
                    watch.follow(rejected.watched.clone());
                    let first = rejected.problems.iter().find(|problem| problem.is_error());
                    let why = first.map_or_else(|| rejected.to_string(), settings::one_line);
                    self.refuse(&why);
                }
                Err(failure) => self.refuse(&failure.to_text()),
            }
        }
    }

    fn take(&mut self, loaded: Loaded) {
        match self.running.reload(&loaded) {
            Ok(changes) => {
                let names = |names: &[trunkline_protocol::ServerName]| {
                    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
                };
                tracing::info!(
                    added = names(&changes.added),
                    removed = names(&changes.removed),
                    changed = names(&changes.changed),
                    "the configuration was taken up"
                );
                if !same_front(&self.settings, &loaded.settings) {
                    self.context.screen.note(
                        "listen, auth, limits, audit, accessLog and telemetry hold from the next start on",
                    );
                }
                self.settings = loaded.settings;
            }
            Err(failure) => self.refuse(&failure.to_text()),
        }
    }

    /// Nothing changes, and everybody who looks is told why.
    fn refuse(&self, why: &str) {
        self.context.screen.note(&format!("the changed configuration is not used: {why}"));
        self.running.refuse(why);
    }
}

/// Waits until hangups have calmed down, so that a burst of them is one reload.
async fn calm(hangup: &mut Signal) {
    let quiet = async { while timeout(QUIET, hangup.recv()).await.is_ok() {} };
    tokio::select! {
        () = quiet => {}
        () = sleep(PATIENCE) => {}
    }
}

/// Whether two settings agree about everything that is decided at the start.
fn same_front(one: &Settings, other: &Settings) -> bool {
    one.listen == other.listen
        && one.auth == other.auth
        && one.limits == other.limits
        && one.audit == other.audit
        && one.access_log == other.access_log
        && one.telemetry == other.telemetry
}
