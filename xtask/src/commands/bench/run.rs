//! One run of `bench-client`, and its report.

use std::fmt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::process;

#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    pub(super) concurrency: usize,
    pub(super) seconds: f64,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Run {
    calls: f64,
    errors: u64,
    seconds: f64,
    cpu_seconds: f64,
    /// `None` if no server was watched.
    server_cpu_seconds: Option<f64>,
}

/// Runs `bench-client` and reads its report.
pub(super) fn once(command: &mut Command) -> Result<Run> {
    command.stderr(Stdio::inherit());
    let shown = process::shown(command);
    let output = command.output().with_context(|| format!("`{shown}` could not be started"))?;
    if !output.status.success() {
        bail!("`{shown}` failed ({})", output.status);
    }
    let run: Run =
        serde_json::from_slice(&output.stdout).with_context(|| format!("`{shown}` reported no result"))?;
    if run.calls < 1.0 || run.errors > 0 {
        bail!("`{shown}`: {} calls answered, {} failed", run.calls, run.errors);
    }
    Ok(run)
}

impl Load {
    /// The matching arguments of `bench-client`.
    pub(super) fn arguments(self) -> [String; 4] {
        let (callers, seconds) = (self.concurrency.to_string(), self.seconds.to_string());
        ["--concurrency".to_owned(), callers, "--seconds".to_owned(), seconds]
    }
}

impl Run {
    pub(super) fn calls_per_second(&self) -> f64 {
        self.calls / self.seconds
    }

    pub(super) fn cpu_micros_per_call(&self) -> f64 {
        self.cpu_seconds * 1e6 / self.calls
    }

    /// CPU time per call of the watched server; NaN if none was watched.
    pub(super) fn server_micros_per_call(&self) -> f64 {
        self.server_cpu_seconds.unwrap_or(f64::NAN) * 1e6 / self.calls
    }
}

/// The kernel counts CPU time in ticks of 10 ms; below 20 ticks, a figure is off by 5 % or more.
const COARSE: f64 = 0.2;

impl Run {
    /// True if the server used too little CPU time for an exact figure.
    pub(super) fn is_coarse(&self) -> bool {
        self.server_cpu_seconds.is_none_or(|seconds| seconds < COARSE)
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, cost) = (self.calls_per_second(), self.cpu_micros_per_call());
        write!(f, "{rate:.0} calls/s, {cost:.1} µs")?;
        if self.server_cpu_seconds.is_some() {
            write!(f, ", server {:.1} µs", self.server_micros_per_call())?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) fn example(calls: f64, seconds: f64, cpu_seconds: f64) -> Run {
    Run { calls, errors: 0, seconds, cpu_seconds, server_cpu_seconds: None }
}

#[cfg(test)]
pub(super) fn served(calls: f64, server_cpu_seconds: f64) -> Run {
    Run { server_cpu_seconds: Some(server_cpu_seconds), ..example(calls, 1.0, 0.0) }
}
