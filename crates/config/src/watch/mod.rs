//! Watch: tells when a file of the configuration changed, appeared or vanished.
//!
//! Directories are watched, not files, because most programs write a new file and rename it. Where the system cannot
//! watch, the files are looked at every two seconds. A burst of changes is told once, when it has calmed down.

mod seen;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until},
};

pub use seen::Seen;

/// How long it must be quiet before a change is told.
const QUIET: Duration = Duration::from_millis(100);
/// The longest that a change waits for quiet.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often files are looked at where the system cannot watch.
const POLL: Duration = Duration::from_secs(2);

/// Watches the files of one configuration.
#[derive(Debug)]
pub struct Watch {
    seen: Vec<Seen>,
    /// What the system watches; `None`: it cannot.
    watcher: Option<RecommendedWatcher>,
    directories: BTreeSet<PathBuf>,
    stirred: mpsc::Receiver<()>,
    /// Something happened that was not yet looked at.
    pending: bool,
}

impl Watch {
    /// Watches what a reading of the configuration saw. A change between the reading and now is told at once.
    pub fn new(seen: Vec<Seen>) -> Self {
        let (tell, stirred) = mpsc::channel(1);
        let hear = move |event: notify::Result<notify::Event>| {
            let only_read = event.is_ok_and(|event| event.kind.is_access());
            if !only_read {
                // A full queue already says that something happened.
                tell.try_send(()).unwrap_or_default();
            }
        };
        let watcher = notify::recommended_watcher(hear)
            .inspect_err(|error| tracing::warn!(%error, "files are looked at every two seconds, because the system cannot watch them"))
            .ok();
        let mut watch =
            Self { seen: Vec::new(), watcher, directories: BTreeSet::new(), stirred, pending: true };
        watch.follow(seen);
        watch
    }

    /// Watches without the help of the system.
    pub fn polling(seen: Vec<Seen>) -> Self {
        let (_, stirred) = mpsc::channel(1);
        Self { seen, watcher: None, directories: BTreeSet::new(), stirred, pending: true }
    }

    /// Watches what a later reading saw, instead.
    pub fn follow(&mut self, seen: Vec<Seen>) {
        self.seen = seen;
        self.pending = true;
        self.watch_directories();
    }

    /// Watches where the files are or could appear. Directories come and go, so this is done before every look: what is there
    /// before is seen by the look, what comes after stirs.
    fn watch_directories(&mut self) {
        let wanted: BTreeSet<PathBuf> =
            self.seen.iter().filter_map(|seen| nearest_directory(&seen.path)).collect();
        let Some(watcher) = &mut self.watcher else { return };
        for gone in self.directories.difference(&wanted) {
            // A directory that was removed is not watched any more anyway.
            watcher.unwatch(gone).unwrap_or_default();
        }
        for new in wanted.difference(&self.directories) {
            if let Err(error) = watcher.watch(new, RecursiveMode::NonRecursive) {
                tracing::warn!(%error, directory = %new.display(), "files are looked at every two seconds, because a directory cannot be watched");
                self.watcher = None;
                self.directories.clear();
                return;
            }
        }
        self.directories = wanted;
    }

    /// Waits until a file is different from what was seen; then what is there now counts as seen. Nothing is lost when the
    /// wait is given up and begun again.
    pub async fn changed(&mut self) {
        loop {
            if !self.pending {
                self.stir().await;
                self.pending = true;
            }
            self.calm().await;
            let changed = self.look().await;
            self.pending = false;
            if changed {
                return;
            }
        }
    }

    async fn stir(&mut self) {
        if self.watcher.is_none() {
            return sleep(POLL).await;
        }
        if self.stirred.recv().await.is_none() {
            // The watcher is gone; files must be looked at from now on.
            self.watcher = None;
        }
    }

    /// Waits for the end of a burst.
    async fn calm(&mut self) {
        if self.watcher.is_none() {
            return;
        }
        let end = Instant::now() + PATIENCE;
        loop {
            let quiet = end.min(Instant::now() + QUIET);
            tokio::select! {
                more = self.stirred.recv(), if quiet < end => {
                    if more.is_none() {
                        return;
                    }
                }
                () = sleep_until(quiet) => return,
            }
        }
    }

    async fn look(&mut self) -> bool {
        self.watch_directories();
        let seen = self.seen.clone();
        let look = move || {
            let changed = seen.iter().any(Seen::has_changed);
            changed.then(|| seen.into_iter().map(|seen| Seen::now(seen.path)).collect::<Vec<Seen>>())
        };
        let Ok(Some(now)) = tokio::task::spawn_blocking(look).await else { return false };
        self.seen = now;
        true
    }
}

/// The directory in which a file appears or changes: its own, or the nearest one that exists above it.
fn nearest_directory(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|directory| directory.is_dir()).map(Path::to_owned)
}

#[cfg(test)]
mod tests;
