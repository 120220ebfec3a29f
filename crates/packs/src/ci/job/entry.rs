//! Job: one run, for one caller.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, task::AbortHandle, time::Instant};

use super::{
    super::{environment::Environment, options::RunLimits, report::Reading, roots::Inside},
    done::Done,
    launch::{Order, launch},
    log::{Page, Stream, page},
};
use trunkline_process::Running;
use trunkline_toolbox::ToolError;

/// One run. Dropping it kills the program if it still runs.
#[derive(Debug)]
pub(in super::super) struct Job {
    pub(in super::super) id: String,
    /// Whose it is; to others it does not exist.
    pub(super) caller: String,
    pub(in super::super) line: String,
    pub(in super::super) directory: Inside,
    pub(in super::super) reading: Reading,
    started: Instant,
    running: Arc<Running>,
    done: watch::Receiver<Option<Arc<Done>>>,
    task: AbortHandle,
}

/// A job that ends with the call that waits for it, unless it is let go.
#[derive(Debug)]
pub(in super::super) struct InCall(Option<Arc<Job>>);

impl Job {
    pub(super) fn start(
        caller: &str,
        order: Order,
        environment: &Environment,
        limits: &RunLimits,
    ) -> Result<Self, ToolError> {
        let id = uuid::Uuid::new_v4().simple().to_string();
        let (line, directory, reading) = (order.line.clone(), order.directory.clone(), order.reading);
        let launched = launch(&id, order, environment, limits)?;
        let (tell, done) = watch::channel(None);
        let task = tokio::spawn(launched.follow.run(tell)).abort_handle();
        Ok(Self {
            id,
            caller: caller.to_owned(),
            line,
            directory,
            reading,
            started: Instant::now(),
            running: launched.running,
            done,
            task,
        })
    }

    /// How it ended; `None` while it runs.
    pub(in super::super) fn done(&self) -> Option<Arc<Done>> {
        self.done.borrow().clone()
    }

    /// Waits for its end, but not longer than this.
    pub(in super::super) async fn wait(&self, patience: Duration) -> Option<Arc<Done>> {
        let mut done = self.done.clone();
        let ended = tokio::time::timeout(patience, done.wait_for(Option::is_some)).await;
        ended.ok()?.ok()?.clone()
    }

    /// Kills it. Its end follows.
    pub(in super::super) fn cancel(&self) {
        self.running.kill();
    }

    pub(in super::super) fn elapsed(&self) -> Duration {
        self.done().map_or_else(|| self.started.elapsed(), |done| done.finished.elapsed)
    }

    /// How long ago it ended.
    pub(super) fn age(&self) -> Option<Duration> {
        // Whoever followed it has failed, and will never tell.
        if self.done.has_changed().is_err() && self.done().is_none() {
            return Some(Duration::MAX);
        }
        self.done().map(|done| self.started.elapsed().saturating_sub(done.finished.elapsed))
    }

    /// A part of what it wrote.
    pub(in super::super) fn log(&self, stream: Stream, offset: u64, limit: usize) -> Page {
        // Looked at first, so that a log that is said to be complete is.
        let ended = self.done().is_some();
        let captured = match stream {
            Stream::Stdout => self.running.stdout(),
            Stream::Stderr => self.running.stderr(),
        };
        page(&captured, offset, limit, ended)
    }

    /// What it wrote to both streams by now.
    pub(in super::super) fn output(&self) -> String {
        format!("{}{}", self.running.stderr().text(), self.running.stdout().text())
    }

    /// Bytes it wrote to both streams by now.
    pub(in super::super) fn output_bytes(&self) -> u64 {
        self.running.stdout().total + self.running.stderr().total
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.running.kill();
        self.task.abort();
    }
}

impl InCall {
    pub(in super::super) fn new(job: Arc<Job>) -> Self {
        Self(Some(job))
    }

    /// The job goes on without the call.
    pub(in super::super) fn let_go(mut self) {
        self.0 = None;
    }
}

impl Drop for InCall {
    fn drop(&mut self) {
        if let Some(job) = &self.0 {
            job.cancel();
        }
    }
}
