//! Reloads the configuration while the gateway runs.

use super::{Args, offer::SharedConfig};
use crate::{
    commands::Context,
    failure::Failure,
    wire::{
        flags,
        gateway::{self, RuledPacks, Running},
        settings,
    },
};
use parking_lot::Mutex;
use std::{path::PathBuf, sync::Arc, time::Duration};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::{sleep, timeout},
};
use trunkline_config::{Flag, Loaded, Rejected, Settings, Watch};
use trunkline_gateway::status::ConfigStatus;

/// Debounce time: a reload starts when no further SIGHUP came for this long.
const QUIET: Duration = Duration::from_millis(100);
/// Upper limit for debouncing SIGHUP.
const PATIENCE: Duration = Duration::from_secs(1);
/// Said when servers are configured while the built-in tools are served.
const RESTART: &str = "servers are configured now; restart `trunkline serve` to use them";

/// Said when roles or rules are configured while every caller may use the built-in tools.
const RESTART_FOR_RULES: &str =
    "roles or policy rules are configured now; restart `trunkline serve` to apply them";

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

/// Watches the configuration of a process that serves the built-in tools, and applies changed
/// roles and rules. Servers, and the first roles or rules, need a restart, which is said here and
/// on the status page.
pub(super) fn watch(
    context: &Context,
    args: &Args,
    loaded: &Loaded,
    ruled: Option<Arc<RuledPacks>>,
) -> SharedConfig {
    let config = Arc::new(Mutex::new(ConfigStatus::default().loaded().waiting(gateway::waiting(loaded))));
    let mut watch = Watch::new(loaded.watched.clone());
    let (context, file, flags) = (context.clone(), args.config.clone(), flags::of(args));
    let shared = config.clone();
    tokio::spawn(async move {
        loop {
            watch.changed().await;
            let Ok(read) = settings::read(&context.environment, file.as_deref(), flags.clone()) else {
                continue;
            };
            let now = shared.lock().clone();
            let next = match read {
                Ok(loaded) => {
                    watch.follow(loaded.watched.clone());
                    let next = now.loaded().waiting(gateway::waiting(&loaded));
                    match take_roles(&loaded, ruled.as_deref()) {
                        Ok(()) => next,
                        Err(why) => next.refused(&why),
                    }
                }
                Err(rejected) => {
                    watch.follow(rejected.watched.clone());
                    now.refused(first_problem(&rejected))
                }
            };
            if let Some(error) = &next.last_error {
                context.screen.note(&format!("the changed configuration is not used: {}", error.text));
            }
            *shared.lock() = next;
        }
    });
    config
}

/// Applies the roles of changed settings to the built-in tools, or says why that is impossible.
fn take_roles(loaded: &Loaded, ruled: Option<&RuledPacks>) -> Result<(), String> {
    let settings = &loaded.settings;
    if !settings.servers.is_empty() {
        return Err(RESTART.to_owned());
    }
    match ruled {
        Some(ruled) => ruled.reload(loaded).map_err(|failure| plain(&failure)),
        None if gateway::policy(settings).map_err(|failure| plain(&failure))?.is_open() => Ok(()),
        None => Err(RESTART_FOR_RULES.to_owned()),
    }
}

fn first_problem(rejected: &Rejected) -> String {
    let first = rejected.problems.iter().find(|problem| problem.is_error());
    first.map_or_else(|| rejected.to_string(), settings::one_line)
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
                    self.refuse(&first_problem(&rejected));
                }
                Err(failure) => self.refuse(&plain(&failure)),
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
                        "changes of listen, auth, errors, handshake, limits, audit, accessLog, telemetry, store and documents need a restart",
                    );
                }
                self.settings = loaded.settings;
            }
            Err(failure) => self.refuse(&plain(&failure)),
        }
    }

    /// Keeps the current settings, and reports the reason here and on the status page.
    fn refuse(&self, why: &str) {
        self.context.screen.note(&format!("the changed configuration is not used: {why}"));
        self.running.refuse(why);
    }
}

/// The text of a failure on one line, without styles.
fn plain(failure: &Failure) -> String {
    let text = anstream::adapter::strip_str(&failure.to_text()).to_string();
    text.trim().trim_start_matches("error: ").replace('\n', "; ")
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
        && one.handshake == other.handshake
        && one.errors == other.errors
        && one.limits == other.limits
        && one.audit == other.audit
        && one.access_log == other.access_log
        && one.telemetry == other.telemetry
        && one.store == other.store
        && one.documents == other.documents
}
