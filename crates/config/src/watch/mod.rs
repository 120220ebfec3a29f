//! Watch: reports when a configuration file was changed, created or removed.
//!
//! Directories are watched, not files, because most programs write a new file and rename it. If
//! the system cannot watch, the files are polled every two seconds. Bursts of changes are
//! debounced.

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

/// Debounce time: a change is reported when no further one came for this long.
const QUIET: Duration = Duration::from_millis(100);
/// Upper limit for debouncing.
const PATIENCE: Duration = Duration::from_secs(1);
/// Polling interval if the system cannot watch.
const POLL: Duration = Duration::from_secs(2);

/// Watches the files of one configuration.
#[derive(Debug)]
pub struct Watch {
    seen: Vec<Seen>,
    /// The system's file watcher; `None` if unavailable.
    watcher: Option<RecommendedWatcher>,
    directories: BTreeSet<PathBuf>,
    events: mpsc::Receiver<()>,
    /// An event arrived, and the files were not compared since.
    pending: bool,
}

impl Watch {
    /// Watches the files as they were read. A change since they were read is reported immediately.
    pub fn new(seen: Vec<Seen>) -> Self {
        let (tell, events) = mpsc::channel(1);
        let hear = move |event: notify::Result<notify::Event>| {
            let only_read = event.is_ok_and(|event| event.kind.is_access());
            if !only_read {
                // If the queue is full, an event is pending already.
                tell.try_send(()).unwrap_or_default();
            }
        };
        let watcher = notify::recommended_watcher(hear)
            .inspect_err(
                |error| tracing::warn!(%error, "the system cannot watch files; polling every two seconds"),
            )
            .ok();
        let mut watch =
            Self { seen: Vec::new(), watcher, directories: BTreeSet::new(), events, pending: true };
        watch.follow(seen);
        watch
    }

    /// Watches by polling only.
    pub fn polling(seen: Vec<Seen>) -> Self {
        let (_, events) = mpsc::channel(1);
        Self { seen, watcher: None, directories: BTreeSet::new(), events, pending: true }
    }

    /// Replaces the watched files with those of a later reading.
    pub fn follow(&mut self, seen: Vec<Seen>) {
        self.seen = seen;
        self.pending = true;
        self.watch_directories();
    }

    /// Watches the directories where the files are or could appear. Directories come and go, so
    /// this runs before every comparison: earlier changes are found by the comparison, later ones
    /// cause an event.
    fn watch_directories(&mut self) {
        let wanted: BTreeSet<PathBuf> =
            self.seen.iter().filter_map(|seen| nearest_directory(&seen.path)).collect();
        let Some(watcher) = &mut self.watcher else { return };
        for gone in self.directories.difference(&wanted) {
            // This fails if the directory was removed, which ended the watch anyway.
            watcher.unwatch(gone).unwrap_or_default();
        }
        for new in wanted.difference(&self.directories) {
            if let Err(error) = watcher.watch(new, RecursiveMode::NonRecursive) {
                tracing::warn!(%error, directory = %new.display(), "a directory cannot be watched; polling every two seconds");
                self.watcher = None;
                self.directories.clear();
                return;
            }
        }
        self.directories = wanted;
    }

    /// Waits until a file differs from its recorded state, and records the new one. Cancel-safe.
    pub async fn changed(&mut self) {
        loop {
            if !self.pending {
                self.next_event().await;
                self.pending = true;
            }
            self.debounce().await;
            let changed = self.look().await;
            self.pending = false;
            if changed {
                return;
            }
        }
    }

    async fn next_event(&mut self) {
        if self.watcher.is_none() {
            return sleep(POLL).await;
        }
        if self.events.recv().await.is_none() {
            // The watcher has ended; poll from now on.
            self.watcher = None;
        }
    }

    /// Debounces: waits for the end of a burst.
    async fn debounce(&mut self) {
        if self.watcher.is_none() {
            return;
        }
        let end = Instant::now() + PATIENCE;
        loop {
            let quiet = end.min(Instant::now() + QUIET);
            tokio::select! {
                more = self.events.recv(), if quiet < end => {
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

/// The directory to watch for a file: its own, or the nearest existing one above it.
fn nearest_directory(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).find(|directory| directory.is_dir()).map(Path::to_owned)
}

#[cfg(test)]
mod tests;
