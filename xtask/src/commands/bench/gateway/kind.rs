//! The hops that this benchmark starts itself: none, nginx, the minimal proxy, or trunkline.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use serde_json::json;

use super::configured::{self, HEADER};
use super::harness::{Harness, free_address};
use super::hop::{Access, Hop, Running, Scratch};
use super::nginx;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Direct,
    Nginx,
    Floor,
    /// `trunkline bridge` with the upstream over HTTP.
    Http,
    /// `trunkline bridge` with an upstream that it starts.
    Stdio,
    /// `trunkline serve` with every check of a call switched on, and the upstream over HTTP.
    Gateway,
    /// The same with an upstream that it starts.
    GatewayStdio,
    /// The upstream, started by the callers over stdio.
    DirectPipes,
    /// `trunkline bridge`, started by the callers over stdio, with an upstream that it starts.
    BridgePipes,
    /// `trunkline serve`, started by the callers over stdio, with limits, an audit trail, and an
    /// upstream that it starts.
    GatewayPipes,
}

/// Paths and addresses that a hop needs at its start.
struct StartContext<'a> {
    harness: &'a Harness,
    upstream: &'a Running,
    trunkline: &'a Path,
    scratch: &'a Path,
}

impl Kind {
    const ALL: [Self; 10] = [
        Self::Direct,
        Self::Nginx,
        Self::Floor,
        Self::Http,
        Self::Stdio,
        Self::Gateway,
        Self::GatewayStdio,
        Self::DirectPipes,
        Self::BridgePipes,
        Self::GatewayPipes,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Nginx => "nginx",
            Self::Floor => "floor",
            Self::Http => "bridge-http",
            Self::Stdio => "bridge-stdio",
            Self::Gateway => "gateway-http",
            Self::GatewayStdio => "gateway-stdio",
            Self::DirectPipes => "direct-stdio",
            Self::BridgePipes => "bridge-stdio-stdio",
            Self::GatewayPipes => "gateway-stdio-stdio",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// True if the hop is trunkline itself, so that another build can be measured in its place.
    pub(super) fn is_trunkline(self) -> bool {
        !matches!(self, Self::Direct | Self::Nginx | Self::Floor | Self::DirectPipes)
    }

    /// Returns the kinds in `only`, or all if it is empty. Names of peers are skipped; any other
    /// name is an error.
    pub(super) fn chosen(only: &[String], peers: &[&str]) -> Result<Vec<Self>> {
        let known = |name: &String| Self::named(name).is_some() || peers.contains(&name.as_str());
        if let Some(unknown) = only.iter().find(|name| !known(name)) {
            let all: Vec<&str> =
                Self::ALL.iter().map(|kind| kind.name()).chain(peers.iter().copied()).collect();
            bail!("there is no {unknown}; there are {}", all.join(", "));
        }
        let wanted = |kind: &Self| only.is_empty() || only.iter().any(|name| name == kind.name());
        Ok(Self::ALL.into_iter().filter(wanted).collect())
    }

    /// Starts the hop; `None` if its program is not installed.
    pub(super) fn start(
        self,
        harness: &Harness,
        upstream: &Running,
        trunkline: &Path,
    ) -> Result<Option<Hop>> {
        if self == Self::Nginx && !nginx::is_installed() {
            return Ok(None);
        }
        let scratch = Scratch::make(self.name())?;
        let context = StartContext { harness, upstream, trunkline, scratch: scratch.path() };
        let mut hop = Hop::named(self.name(), self.access(&context)?);
        hop.scratch = Some(scratch);
        if matches!(self, Self::Gateway | Self::GatewayStdio | Self::GatewayPipes) {
            hop.prefix("bench_");
        }
        if matches!(self, Self::Gateway | Self::GatewayStdio) {
            hop.load = vec!["--header".to_owned(), HEADER.to_owned()];
        }
        harness.wait_for(&hop, upstream)?;
        Ok(Some(hop))
    }

    fn access(self, context: &StartContext<'_>) -> Result<Access> {
        let &StartContext { harness, upstream, trunkline, scratch } = context;
        let address = free_address()?;
        let listen = address.to_string();
        let started = harness.upstream_command();
        let command = match self {
            Self::Direct => return Ok(Access::Upstream),
            Self::DirectPipes => return Ok(Access::Command(started.join(" "))),
            Self::BridgePipes => {
                return Ok(Access::Command(format!(
                    "{} bridge -- {}",
                    trunkline.display(),
                    started.join(" ")
                )));
            }
            Self::GatewayPipes => {
                let file = configured::write(scratch, None, json!({"command": started}))?;
                let trail = scratch.join("trail-XXXXXX");
                let (trunkline, file, trail) = (trunkline.display(), file.display(), trail.display());
                // Each start gets its own trail: the previous process may still hold the lock on
                // its trail.
                let audit = format!("--audit \"$(mktemp -d {trail})\"");
                let command = format!("{trunkline} serve --stdio --config {file} {audit} 2>/dev/null");
                return Ok(Access::Command(command));
            }
            Self::Nginx => nginx::before(scratch, upstream.address(), address)?,
            Self::Floor => {
                let mut command = harness.program("floor");
                command.args(["--listen", &listen, "--upstream", &upstream.address().to_string()]);
                command
            }
            Self::Http => of(trunkline, &["bridge", "--listen", &listen, &upstream.url()]),
            Self::Stdio => {
                let mut command = of(trunkline, &["bridge", "--listen", &listen, "--"]);
                command.args(started);
                command
            }
            Self::Gateway | Self::GatewayStdio => {
                let server = match self {
                    Self::Gateway => json!({"url": upstream.url()}),
                    _ => json!({"command": started}),
                };
                let mut command = of(trunkline, &["serve", "--config"]);
                command.arg(configured::write(scratch, Some(address), server)?);
                command
            }
        };
        Ok(Access::Listening(Running::start(command, format!("http://{address}/mcp"))?))
    }
}

fn of(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_can_be_chosen_and_the_unknown_is_named() {
        let only = ["floor".to_owned(), "other".to_owned()];
        assert_eq!(Kind::chosen(&only, &["other"]).unwrap(), [Kind::Floor]);
        let refused = Kind::chosen(&only, &[]).unwrap_err().to_string();
        assert!(refused.contains("no other") && refused.contains("bridge-stdio-stdio"), "{refused}");
        assert_eq!(Kind::chosen(&[], &[]).unwrap().len(), Kind::ALL.len());
    }
}
