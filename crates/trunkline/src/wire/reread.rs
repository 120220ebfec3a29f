//! Files that are read again when they change.

use trunkline_config::{Seen, Watch};

/// Watches some files. It is made before they are first read, so that no change is missed.
pub(super) struct Reread<F> {
    watch: Watch,
    files: F,
}

impl<F: Fn() -> Vec<Seen> + Send + 'static> Reread<F> {
    /// `files` tells the current state of the files.
    pub(super) fn new(files: F) -> Self {
        Self { watch: Watch::new(files()), files }
    }

    /// Calls `read` after each change, for as long as the process lives. Commands that only check
    /// the settings have no runtime, and watch nothing.
    pub(super) fn by(self, read: impl Fn() + Send + 'static) {
        let Self { mut watch, files } = self;
        let watching = async move {
            loop {
                watch.changed().await;
                watch.follow(files());
                read();
            }
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(watching);
        }
    }
}
