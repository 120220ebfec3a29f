//! Job: one run of a program for one caller.

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

/// One run of a program. Dropping it kills the program if it still runs.
#[derive(Debug)]
pub(in super::super) struct Job {
    pub(in super::super) id: String,
    /// The owner; for other callers the job does not exist.
    pub(super) caller: String,
    pub(in super::super) line: String,
    pub(in super::super) directory: Inside,
    pub(in super::super) reading: Reading,
    started: Instant,
    running: Arc<Running>,
    done: watch::Receiver<Option<Arc<Done>>>,
    task: AbortHandle,
}

/// Guard that kills the job if the waiting call is dropped, unless it was detached before.
#[derive(Debug)]
pub(in super::super) struct JobGuard(Option<Arc<Job>>);

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

    /// The end of the job; `None` while it runs.
    pub(in super::super) fn done(&self) -> Option<Arc<Done>> {
        self.done.borrow().clone()
    }

    /// Waits until the job ends, at most for `patience`.
    pub(in super::super) async fn wait(&self, patience: Duration) -> Option<Arc<Done>> {
        let mut done = self.done.clone();
        let ended = tokio::time::timeout(patience, done.wait_for(Option::is_some)).await;
        ended.ok()?.ok()?.clone()
    }

    /// Kills the program. `done` is set when it has exited.
    pub(in super::super) fn cancel(&self) {
        self.running.kill();
    }

    pub(in super::super) fn elapsed(&self) -> Duration {
        self.done().map_or_else(|| self.started.elapsed(), |done| done.finished.elapsed)
    }

    /// Time since the job ended; `None` while it runs.
    pub(super) fn age(&self) -> Option<Duration> {
        // The follower task failed, so `done` will never be set: treat the job as expired.
        if self.done.has_changed().is_err() && self.done().is_none() {
            return Some(Duration::MAX);
        }
        self.done().map(|done| self.started.elapsed().saturating_sub(done.finished.elapsed))
    }

    /// A page of one output stream.
    pub(in super::super) fn log(&self, stream: Stream, offset: u64, limit: usize) -> Page {
        // Read before the output, so that a page marked as the last one really is.
        let ended = self.done().is_some();
        let captured = match stream {
            Stream::Stdout => self.running.stdout(),
            Stream::Stderr => self.running.stderr(),
        };
        page(&captured, offset, limit, ended)
    }

    /// Output so far, stderr before stdout.
    pub(in super::super) fn output(&self) -> String {
        format!("{}{}", self.running.stderr().text(), self.running.stdout().text())
    }

    /// Bytes written so far to both streams.
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

impl JobGuard {
    pub(in super::super) fn new(job: Arc<Job>) -> Self {
        Self(Some(job))
    }

    /// Lets the job continue after the call.
    pub(in super::super) fn detach(mut self) {
        self.0 = None;
    }
}

impl Drop for JobGuard {
    fn drop(&mut self) {
        if let Some(job) = &self.0 {
            job.cancel();
        }
    }
}
