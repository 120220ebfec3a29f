//! The access log: one line per request, written by a dedicated thread.

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

/// Capacity of the queue; records beyond it are dropped and counted.
const QUEUE: usize = 8192;
/// Time limit for the final flush.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The destination of log lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    StandardError,
    File(PathBuf),
}

/// Handle of the writer thread.
#[derive(Debug)]
pub(super) struct AccessLog {
    queue: SyncSender<LogCommand>,
    shared: Arc<Shared>,
    reopen_task: JoinHandle<()>,
}

/// Message to the writer thread.
#[derive(Debug)]
enum LogCommand {
    Record(Box<Access>),
    /// Check the `reopen` flag.
    Wake,
    /// Reply when everything queued before this is written.
    Flush(oneshot::Sender<()>),
}

#[derive(Debug, Default)]
struct Shared {
    dropped: Arc<AtomicU64>,
    reopen: AtomicBool,
}

impl AccessLog {
    /// Opens the file and starts the thread. SIGHUP reopens the file, for log rotation.
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
        let reopen_task = tokio::spawn(async move {
            while hangups.recv().await.is_some() {
                reopen(&flag, &told);
            }
        });
        Ok(Self { queue, shared, reopen_task })
    }

    pub(super) fn hook(&self) -> AccessHook {
        let (queue, dropped) = (self.queue.clone(), self.shared.dropped.clone());
        Arc::new(move |access| {
            if queue.try_send(LogCommand::Record(Box::new(access))).is_err() {
                dropped.fetch_add(1, Ordering::Relaxed);
            }
        })
    }

    /// Counter of lines that were lost.
    pub(super) fn dropped(&self) -> Arc<AtomicU64> {
        self.shared.dropped.clone()
    }

    /// Waits until all queued lines are written, at most `FLUSH_TIMEOUT`.
    pub(super) async fn finish(self) {
        self.reopen_task.abort();
        let (tell, told) = oneshot::channel();
        let queue = self.queue.clone();
        let flushing = async {
            // If the queue is full, retry until the thread has caught up.
            let mut entry = LogCommand::Flush(tell);
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

fn reopen(shared: &Shared, queue: &SyncSender<LogCommand>) {
    shared.reopen.store(true, Ordering::Release);
    // If the queue is full, the thread is running anyway and will see the flag.
    queue.try_send(LogCommand::Wake).unwrap_or_default();
}
