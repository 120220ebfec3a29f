//! The tasks that read a program's two streams, so that it never waits for us.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::Notify,
    task::JoinHandle,
};

use super::head_tail::{Captured, HeadTail, Keep};

/// One read empties a full pipe.
const CHUNK: usize = 64 * 1024;

/// A stream that is being read; may be looked at any time.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    kept: Arc<Mutex<HeadTail>>,
    overflowed: Arc<Notify>,
}

impl Stream {
    pub(super) fn new(keep: Keep) -> Self {
        Self { kept: Arc::new(Mutex::new(HeadTail::new(keep))), overflowed: Arc::new(Notify::new()) }
    }

    /// Starts to read `source` to its end.
    pub(super) fn read(&self, source: impl AsyncRead + Unpin + Send + 'static) -> JoinHandle<()> {
        tokio::spawn(self.clone().drain(source))
    }

    /// What is kept by now.
    pub(super) fn captured(&self) -> Captured {
        self.kept().captured()
    }

    /// Waits until something had to be dropped.
    pub(super) async fn overflowed(&self) {
        self.overflowed.notified().await;
    }

    async fn drain(self, mut source: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; CHUNK];
        while let Ok(count @ 1..) = source.read(&mut chunk).await {
            let dropped = {
                let mut kept = self.kept();
                kept.push(&chunk[..count]);
                kept.has_dropped()
            };
            if dropped {
                self.overflowed.notify_one();
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, HeadTail> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
