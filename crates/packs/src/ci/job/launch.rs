//! Starts the program of a job and waits for its end.

use std::{path::PathBuf, sync::Arc, time::Duration, time::SystemTime};

use tempfile::TempDir;
use tokio::sync::watch;

use super::{
    super::{
        environment::Environment,
        options::RunLimits,
        report::{self, Evidence, Reading},
        roots::Inside,
    },
    done::Done,
};
use trunkline_process::{Command, Containment, Keep, Limits, Overflow, Running, SetBy, SpawnError};
use trunkline_toolbox::ToolError;

/// A program to run.
#[derive(Debug)]
pub(in super::super) struct Order {
    pub(in super::super) program: PathBuf,
    pub(in super::super) args: Vec<String>,
    pub(in super::super) directory: Inside,
    pub(in super::super) reading: Reading,
    /// The command line to show.
    pub(in super::super) line: String,
    /// Temporary directory for report files; removed after the job.
    pub(in super::super) scratch: TempDir,
    /// Path suffix of directories in the project that receive report files.
    pub(in super::super) reports: Option<&'static str>,
    pub(in super::super) deadline: Option<Duration>,
}

/// A program that was started.
pub(super) struct Launched {
    pub(super) running: Arc<Running>,
    pub(super) follow: Follow,
}

/// The state needed to wait for the program and read its reports.
pub(super) struct Follow {
    running: Arc<Running>,
    reading: Reading,
    directory: Inside,
    scratch: TempDir,
    reports: Option<&'static str>,
    since: SystemTime,
}

pub(super) fn launch(
    id: &str,
    order: Order,
    environment: &Environment,
    limits: &RunLimits,
) -> Result<Launched, ToolError> {
    let limits = Limits {
        deadline: order.deadline.unwrap_or(limits.deadline).min(limits.deadline),
        stdout: Keep::ends(limits.log_head, limits.log_tail),
        stderr: Keep::ends(limits.log_head, limits.log_tail),
        overflow: Overflow::Drain,
        memory: limits.memory,
        tree_memory: limits.tree_memory,
        processes: limits.processes,
        file_size: limits.file_size,
        open_files: limits.open_files,
        set_by: SetBy::Shell,
    };
    let mut command = Command::new(order.program)
        .directory(order.directory.path())
        .args(&order.args)
        .envs(environment.variables().iter().cloned());
    command.containment = Containment::Marked(id.to_owned());
    let running = Arc::new(command.begin(&limits, []).map_err(|error| cannot_start(&error))?);
    let follow = Follow {
        running: Arc::clone(&running),
        reading: order.reading,
        directory: order.directory,
        scratch: order.scratch,
        reports: order.reports,
        since: SystemTime::now(),
    };
    Ok(Launched { running, follow })
}

impl Follow {
    /// Waits for the program, then parses its output and reports.
    pub(super) async fn run(self, done: watch::Sender<Option<Arc<Done>>>) {
        let finished = self.running.wait().await;
        let read = tokio::task::spawn_blocking(move || {
            let mut evidence = Evidence::new(&finished.stdout, &finished.stderr);
            evidence.add_reports(self.scratch.path(), None, self.since);
            if let Some(reports) = self.reports {
                evidence.add_reports(self.directory.path(), Some(reports), self.since);
            }
            let report = report::read(self.reading, &evidence);
            Done { finished, report }
        });
        match read.await {
            Ok(read) => {
                done.send_replace(Some(Arc::new(read)));
            }
            Err(error) => tracing::error!(%error, "the output of a job could not be parsed"),
        }
    }
}

fn cannot_start(error: &SpawnError) -> ToolError {
    ToolError::new("the program could not be started")
        .hint("Call get_diagnostics to see which programs there are, or ask the operator to look at the log.")
        .detail(error.to_string())
}
