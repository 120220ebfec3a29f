//! The harness: the paths of its programs, and one run of its load generator.

use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::hop::{Access, Hop, Running};
use crate::process;

const PROGRAMS: [&str; 3] = ["upstream", "load", "floor"];
/// Number of tools that the upstream offers.
pub(super) const TOOLS: &str = "10";
/// Timeout in seconds for the first call to a process that was just started.
const START: &str = "60";
/// Timeout in seconds for one call.
const ANSWER: &str = "20";

#[derive(Debug)]
pub(super) struct Harness {
    programs: PathBuf,
    seconds: f64,
}

/// Report of one run of the load generator.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Sample {
    pub(super) rps: f64,
    errors: u64,
    p50_us: f64,
    cpu_us_per_request: Cost,
}

#[derive(Debug, Clone, Deserialize)]
struct Cost {
    /// CPU time of the hop in front of the upstream; `None` if there is no hop.
    target: Option<f64>,
}

impl Harness {
    pub(super) fn at(folder: &Path, seconds: f64) -> Result<Self> {
        let programs = folder.join("target/release");
        let missing: Vec<&str> =
            PROGRAMS.into_iter().filter(|program| !programs.join(program).is_file()).collect();
        if !missing.is_empty() {
            let (missing, folder) = (missing.join(", "), folder.display());
            bail!("{folder} has no {missing} in target/release; run `cargo build --release` there first");
        }
        Ok(Self { programs, seconds })
    }

    /// Starts the upstream server and waits until it answers.
    pub(super) fn upstream(&self, address: SocketAddr) -> Result<Running> {
        let mut command = self.program("upstream");
        command.args(["--listen", &address.to_string(), "--tools", TOOLS]);
        let upstream = Running::start(command, format!("http://{address}/mcp"))?;
        self.wait_for(&Hop::named("upstream", Access::Upstream), &upstream)?;
        Ok(upstream)
    }

    /// The command that starts the upstream over stdio.
    pub(super) fn upstream_command(&self) -> [String; 4] {
        let program = self.programs.join("upstream").to_string_lossy().into_owned();
        [program, "--stdio".to_owned(), "--tools".to_owned(), TOOLS.to_owned()]
    }

    pub(super) fn program(&self, name: &str) -> Command {
        Command::new(self.programs.join(name))
    }

    /// Waits until a first call is answered.
    pub(super) fn wait_for(&self, hop: &Hop, upstream: &Running) -> Result<()> {
        let mut command = self.program("load");
        command.args(["--mode", "wait", "--timeout", START, "--tool", &hop.echo]);
        hop.add_arguments(upstream, &mut command);
        let answer = output(&mut command)?;
        let ready = serde_json::from_str::<serde_json::Value>(&answer)
            .is_ok_and(|answer| answer["call_ms"].is_number());
        if ready { Ok(()) } else { bail!("{} did not answer its first call: {answer}", hop.name) }
    }

    pub(super) fn load(&self, mode: &str, callers: usize, hop: &Hop, upstream: &Running) -> Result<Sample> {
        let mut command = self.program("load");
        let (callers, seconds) = (callers.to_string(), self.seconds.to_string());
        let tool = if mode == "blob" { &hop.blob } else { &hop.echo };
        command.args(["--mode", mode, "-c", &callers, "-d", &seconds, "--timeout", ANSWER, "--tool", tool]);
        hop.add_arguments(upstream, &mut command);
        let answer = output(&mut command)?;
        let sample: Sample =
            serde_json::from_str(answer.lines().last().unwrap_or_default()).with_context(|| {
                format!("the load generator printed no report for {mode} × {callers}: {answer}")
            })?;
        if sample.errors > 0 {
            bail!("{} answered {} calls of {mode} × {callers} wrongly", hop.name, sample.errors);
        }
        Ok(sample)
    }
}

impl Sample {
    /// CPU time per call of the hop in front of the upstream, in microseconds; NaN without a hop.
    pub(super) fn cost(&self) -> f64 {
        self.cpu_us_per_request.target.unwrap_or(f64::NAN)
    }

    pub(super) fn p50(&self) -> f64 {
        self.p50_us
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} calls/s, {:.1} µs CPU, median {:.0} µs", self.rps, self.cost(), self.p50())
    }
}

/// Returns a loopback address whose port was free a moment ago.
pub(super) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

fn output(command: &mut Command) -> Result<String> {
    let shown = process::shown(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("`{shown}` could not be started"))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_programs_is_refused_with_what_to_do() {
        let refused = Harness::at(Path::new("/nowhere"), 1.0).unwrap_err().to_string();
        assert!(
            refused.contains("upstream, load, floor") && refused.contains("cargo build --release"),
            "{refused}"
        );
    }

    #[test]
    fn a_report_of_the_load_is_read() {
        let report = r#"{"mode":"echo","rps":1000.5,"errors":0,"p50_us":12,"cpu_us_per_request":{"target":16.5,"upstream":3}}"#;
        let sample: Sample = serde_json::from_str(report).unwrap();
        assert_eq!(sample.to_string(), "1000 calls/s, 16.5 µs CPU, median 12 µs");
    }
}
