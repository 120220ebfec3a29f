//! `cargo xtask bench tls`: the CPU time that TLS adds to a call, of trunkline and of nginx in one
//! run.
//!
//! Both stand in front of the upstream of the harness, once without and once with TLS, and take
//! turns within each round. `wrk` calls them, over connections that are kept and over a new one for
//! each call; the table shows medians over the rounds.

mod cpu;
mod table;
mod wrk;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::json;

use super::super::ROUNDS;
use super::harness::{Harness, free_address};
use super::hop::{Running, Scratch};
use super::{configured, nginx};
use crate::arguments::Arguments;
use crate::peers::{self, TlsTools};
use crate::process;
use crate::workspace::Workspace;
use wrk::{Connections, Wrk};

const SECONDS: u32 = 4;

/// The files of a certificate and its key.
#[derive(Debug, Clone)]
pub(super) struct Certificate {
    pub(super) chain: PathBuf,
    pub(super) key: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hop {
    Nginx,
    Trunkline,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encryption {
    None,
    Tls,
}

/// One figure: CPU time of a call in microseconds.
struct Sample {
    hop: Hop,
    encryption: Encryption,
    connections: Connections,
    micros: f64,
}

struct Benchmark {
    tools: TlsTools,
    upstream: Running,
    trunkline: PathBuf,
    certificate: Certificate,
    seconds: u32,
    scratch: Scratch,
}

pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let folder = arguments.value("--harness")?.map(PathBuf::from).context(
        "bench tls needs a harness: --harness FOLDER, whose target/release has `upstream`, `load` and `floor`",
    )?;
    let program = arguments.value("--program")?.map(PathBuf::from);
    let seconds = arguments.parsed("--seconds")?.unwrap_or(SECONDS).max(1);
    let rounds = arguments.parsed("--rounds")?.unwrap_or(ROUNDS).max(1);
    arguments.finish()?;
    let tools = peers::install_tls_tools(&workspace.peers())?;
    let harness = Harness::at(&folder, f64::from(seconds))?;
    let trunkline = if let Some(program) = program {
        program
    } else {
        process::run(&mut workspace.cargo(&["build", "--release", "--package", "trunkline"]))?;
        workspace.target().join("release/trunkline")
    };
    let scratch = Scratch::make("tls")?;
    let certificate = certificate(&tools, scratch.path())?;
    let upstream = harness.upstream(free_address()?)?;
    let benchmark = Benchmark { tools, upstream, trunkline, certificate, seconds, scratch };
    println!("\n{rounds} rounds of {seconds} s for each");
    let mut samples = Vec::new();
    for round in 1..=rounds {
        for hop in [Hop::Nginx, Hop::Trunkline] {
            for encryption in [Encryption::None, Encryption::Tls] {
                for sample in benchmark.sample(hop, encryption)? {
                    let Sample { connections, micros, .. } = &sample;
                    println!("round {round}: {hop:?}, {encryption:?}, {connections:?}: {micros:.1} µs CPU");
                    samples.push(sample);
                }
            }
        }
    }
    println!("\n{}", table::render(&samples));
    Ok(())
}

impl Benchmark {
    /// Starts a hop, measures it, and stops it.
    fn sample(&self, hop: Hop, encryption: Encryption) -> Result<Vec<Sample>> {
        let folder = self.scratch.path().join(format!("{hop:?}-{encryption:?}"));
        fs::create_dir_all(&folder)?;
        let running = self.start(hop, encryption, &folder)?;
        let wrk = Wrk { program: &self.tools.wrk, libraries: &self.tools.libraries, folder: &folder, hop };
        wrk.wait_for(&running.url())?;
        let mut samples = Vec::new();
        for connections in [Connections::Kept, Connections::New] {
            let before = cpu::of_group(running.group())?;
            let calls = wrk.run(&running.url(), connections, self.seconds)?;
            let used = cpu::of_group(running.group())? - before;
            #[expect(clippy::cast_precision_loss, reason = "a run has far fewer calls")]
            let micros = used * 1e6 / calls as f64;
            samples.push(Sample { hop, encryption, connections, micros });
        }
        Ok(samples)
    }

    fn start(&self, hop: Hop, encryption: Encryption, folder: &Path) -> Result<Running> {
        let address = free_address()?;
        let certificate = Some(&self.certificate).filter(|_| encryption == Encryption::Tls);
        let command = match hop {
            Hop::Nginx => {
                let mut command = Command::new(&self.tools.nginx);
                command.env("LD_LIBRARY_PATH", &self.tools.libraries);
                let file = nginx::configure(folder, self.upstream.address(), address, certificate)?;
                command.arg("-c").arg(file).arg("-e").arg(folder.join("start.log"));
                command
            }
            Hop::Trunkline => {
                let server = json!({"url": self.upstream.url()});
                let mut configuration = configured::content(folder, Some(address), server)?;
                if let Some(Certificate { chain, key }) = certificate {
                    configuration["tls"] = json!({"certificate": chain, "key": key});
                }
                let mut command = Command::new(&self.trunkline);
                command.args(["serve", "--config"]).arg(configured::save(folder, &configuration)?);
                command
            }
        };
        let scheme = if encryption == Encryption::Tls { "https" } else { "http" };
        Running::start(command, format!("{scheme}://{address}/mcp"))
    }
}

/// A self-signed certificate with a P-256 key, as most sites have.
fn certificate(tools: &TlsTools, folder: &Path) -> Result<Certificate> {
    let at = |name: &str| folder.join(name);
    let made = Certificate { chain: at("chain.pem"), key: at("key.pem") };
    fs::write(at("openssl.cnf"), "[req]\ndistinguished_name = name\n[name]\n")?;
    let mut command = Command::new(&tools.openssl);
    command.env("LD_LIBRARY_PATH", &tools.libraries);
    command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]);
    command.args(["-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]);
    command.arg("-config").arg(at("openssl.cnf")).arg("-keyout").arg(&made.key).arg("-out").arg(&made.chain);
    process::run(&mut command)?;
    Ok(made)
}
