//! The access log: a line per request, written by a thread of its own.

mod line;
mod writer;

use crate::failure::Failure;
use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    time::Duration,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::oneshot,
    task::JoinHandle,
};
use trunkline_serve::{Access, AccessHook};
use writer::Writer;

pub(super) use line::Form;

/// Records that wait to be written; further ones are dropped and counted.
const QUEUE: usize = 8192;
/// How long the last lines may take when the program ends.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Where lines go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    StandardError,
    File(PathBuf),
}

/// The way of records to their file.
#[derive(Debug)]
pub(super) struct AccessLog {
    queue: SyncSender<Entry>,
    shared: Arc<Shared>,
    hearing: JoinHandle<()>,
}

/// What the thread is told.
#[derive(Debug)]
enum Entry {
    Record(Box<Access>),
    /// Look at `reopen`.
    Wake,
    /// Say when everything before this is written.
    Flush(oneshot::Sender<()>),
}

#[derive(Debug, Default)]
struct Shared {
    dropped: Arc<AtomicU64>,
    reopen: AtomicBool,
}

impl AccessLog {
    /// Opens the file and starts the thread. SIGHUP opens the file anew, for whoever moved it away.
    pub(super) fn open((destination, form): (Destination, Form)) -> Result<Self, Failure> {
        let shared = Arc::new(Shared::default());
        let writer = Writer::open(destination, form, shared.clone())
            .map_err(|error| Failure::usage(format!("the access log cannot be written: {error}")))?;
        let (queue, entries) = sync_channel(QUEUE);
        let started =
            std::thread::Builder::new().name("access-log".into()).spawn(move || writer.run(&entries));
        started.map_err(|error| Failure::usage(format!("the access log cannot be written: {error}")))?;
        let mut hangups = signal(SignalKind::hangup())
            .map_err(|error| Failure::usage(format!("signals cannot be received: {error}")))?;
        let (told, flag) = (queue.clone(), shared.clone());
        let hearing = tokio::spawn(async move {
            while hangups.recv().await.is_some() {
                reopen(&flag, &told);
            }
        });
        Ok(Self { queue, shared, hearing })
    }

    pub(super) fn hook(&self) -> AccessHook {
        let (queue, dropped) = (self.queue.clone(), self.shared.dropped.clone());
        Arc::new(move |access| {
            if queue.try_send(Entry::Record(Box::new(access))).is_err() {
                dropped.fetch_add(1, Ordering::Relaxed);
            }
        })
    }

    /// Lines that could not be written.
    pub(super) fn dropped(&self) -> Arc<AtomicU64> {
        self.shared.dropped.clone()
    }

    /// Waits until what was told so far is written, within a bound.
    pub(super) async fn finish(self) {
        self.hearing.abort();
        let (tell, told) = oneshot::channel();
        let queue = self.queue.clone();
        let flushing = async {
            // A full queue takes it once the thread has caught up.
            let mut entry = Entry::Flush(tell);
            while let Err(std::sync::mpsc::TrySendError::Full(back)) = queue.try_send(entry) {
                entry = back;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            told.await
        };
        if !matches!(tokio::time::timeout(FLUSH_TIMEOUT, flushing).await, Ok(Ok(()))) {
            tracing::warn!("the last lines of the access log were not written in time");
        }
    }
}

fn reopen(shared: &Shared, queue: &SyncSender<Entry>) {
    shared.reopen.store(true, Ordering::Release);
    // A full queue means that the thread is awake.
    queue.try_send(Entry::Wake).unwrap_or_default();
}
