//! One run of `bench-client`, and what it reported.

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::case::Case;
use super::upstream::Upstream;
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
}

pub(super) fn once(
    program: &Path,
    client: &str,
    upstream: &Upstream,
    case: &Case,
    load: Load,
) -> Result<Run> {
    let mut command = Command::new(program);
    command.args(["--client", client, "--era", case.era]);
    command.args(["--concurrency", &load.concurrency.to_string(), "--seconds", &load.seconds.to_string()]);
    command.args(upstream.arguments()).stderr(Stdio::inherit());
    let shown = process::shown(&command);
    let output = command.output().with_context(|| format!("`{shown}` could not be started"))?;
    if !output.status.success() {
        bail!("`{shown}` failed ({})", output.status);
    }
    let run: Run =
        serde_json::from_slice(&output.stdout).with_context(|| format!("`{shown}` reported no result"))?;
    if run.calls < 1.0 || run.errors > 0 {
        bail!("`{shown}`: {} calls were answered, {} went wrong", run.calls, run.errors);
    }
    Ok(run)
}

impl Run {
    pub(super) fn calls_per_second(&self) -> f64 {
        self.calls / self.seconds
    }

    pub(super) fn cpu_micros_per_call(&self) -> f64 {
        self.cpu_seconds * 1e6 / self.calls
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, cost) = (self.calls_per_second(), self.cpu_micros_per_call());
        write!(f, "{rate:.0} calls/s, {cost:.1} µs")
    }
}

#[cfg(test)]
pub(super) fn example(calls: f64, seconds: f64, cpu_seconds: f64) -> Run {
    Run { calls, errors: 0, seconds, cpu_seconds }
}
