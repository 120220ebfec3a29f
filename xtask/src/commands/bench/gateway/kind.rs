//! Who we put before the upstream ourselves: nobody, nginx, the thinnest proxy, or us.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use serde_json::json;

use super::configured::{self, HEADER};
use super::harness::{Harness, free_address};
use super::nginx;
use super::stand::{Running, Scratch, Stand, Way};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Direct,
    Nginx,
    Floor,
    /// `trunkline bridge` with the upstream over HTTP.
    Http,
    /// `trunkline bridge` with an upstream that it starts.
    Stdio,
    /// `trunkline serve` with all that stands before a call switched on, and the upstream over HTTP.
    Gateway,
    /// The same with an upstream that it starts.
    GatewayStdio,
    /// The upstream as a command of the callers'.
    DirectPipes,
    /// `trunkline bridge` as a command of the callers', with an upstream that it starts.
    BridgePipes,
    /// `trunkline serve` as a command of the callers', with limits and records, and an upstream that it starts.
    GatewayPipes,
}

/// What somebody who is started has to know.
struct Places<'a> {
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

    /// Those that were asked for, or all; a name that is not ours is a peer's.
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

    /// Starts it; none where what it needs is not installed.
    pub(super) fn start(
        self,
        harness: &Harness,
        upstream: &Running,
        trunkline: &Path,
    ) -> Result<Option<Stand>> {
        if self == Self::Nginx && !nginx::is_installed() {
            return Ok(None);
        }
        let scratch = Scratch::make(self.name())?;
        let places = Places { harness, upstream, trunkline, scratch: scratch.path() };
        let mut stand = Stand::named(self.name(), self.way(&places)?);
        stand.scratch = Some(scratch);
        if matches!(self, Self::Gateway | Self::GatewayStdio | Self::GatewayPipes) {
            stand.prefix("bench_");
        }
        if matches!(self, Self::Gateway | Self::GatewayStdio) {
            stand.load = vec!["--header".to_owned(), HEADER.to_owned()];
        }
        harness.wait_for(&stand, upstream)?;
        Ok(Some(stand))
    }

    fn way(self, places: &Places<'_>) -> Result<Way> {
        let &Places { harness, upstream, trunkline, scratch } = places;
        let address = free_address()?;
        let listen = address.to_string();
        let started = harness.upstream_command();
        let command = match self {
            Self::Direct => return Ok(Way::Upstream),
            Self::DirectPipes => return Ok(Way::Command(started.join(" "))),
            Self::BridgePipes => {
                return Ok(Way::Command(format!("{} bridge -- {}", trunkline.display(), started.join(" "))));
            }
            Self::GatewayPipes => {
                let file = configured::write(scratch, None, json!({"command": started}))?;
                let trail = scratch.join("trail-XXXXXX");
                let (trunkline, file, trail) = (trunkline.display(), file.display(), trail.display());
                // A trail for each start: the one before it may not have let go of its own yet.
                let audit = format!("--audit \"$(mktemp -d {trail})\"");
                let command = format!("{trunkline} serve --stdio --config {file} {audit} 2>/dev/null");
                return Ok(Way::Command(command));
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
        Ok(Way::Listening(Running::start(command, format!("http://{address}/mcp"))?))
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
