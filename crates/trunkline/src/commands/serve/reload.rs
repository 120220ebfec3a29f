//! Reloads the configuration while the gateway runs.

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

/// Debounce time: a reload starts when no further SIGHUP came for this long.
const QUIET: Duration = Duration::from_millis(100);
/// Upper limit for debouncing SIGHUP.
const PATIENCE: Duration = Duration::from_secs(1);

/// Reads the configuration again and applies it.
struct Reloader {
    context: Context,
    file: Option<PathBuf>,
    flags: Vec<Flag>,
    running: Arc<Running>,
    /// The settings in force, to detect changes that need a restart.
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
                Some(()) = hangup.recv() => debounce(&mut hangup).await,
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
                    "the configuration was reloaded"
                );
                if !same_startup_settings(&self.settings, &loaded.settings) {
                    self.context.screen.note(
                        "changes of listen, auth, limits, audit, accessLog and telemetry need a restart",
                    );
                }
                self.settings = loaded.settings;
            }
            Err(failure) => self.refuse(&failure.to_text()),
        }
    }

    /// Keeps the current settings, and reports the reason here and on the status page.
    fn refuse(&self, why: &str) {
        self.context.screen.note(&format!("the changed configuration is not used: {why}"));
        self.running.refuse(why);
    }
}

/// Debounces SIGHUP, so that a burst of signals causes one reload.
async fn debounce(hangup: &mut Signal) {
    let quiet = async { while timeout(QUIET, hangup.recv()).await.is_ok() {} };
    tokio::select! {
        () = quiet => {}
        () = sleep(PATIENCE) => {}
    }
}

/// True if the settings that take effect only at startup are equal.
fn same_startup_settings(one: &Settings, other: &Settings) -> bool {
    one.listen == other.listen
        && one.auth == other.auth
        && one.limits == other.limits
        && one.audit == other.audit
        && one.access_log == other.access_log
        && one.telemetry == other.telemetry
}
