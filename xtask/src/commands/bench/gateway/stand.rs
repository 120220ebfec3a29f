//! Who stands before the upstream: nobody, nginx, the thinnest proxy, or we.

use std::env;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::configured;
use super::harness::{Harness, free_address};
use crate::process;

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
}

#[derive(Debug)]
pub(super) struct Stand {
    pub(super) kind: Kind,
    running: Option<Running>,
}

/// A process that listens; it ends with this.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    address: SocketAddr,
}

impl Kind {
    const ALL: [Self; 7] =
        [Self::Direct, Self::Nginx, Self::Floor, Self::Http, Self::Stdio, Self::Gateway, Self::GatewayStdio];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Nginx => "nginx",
            Self::Floor => "floor",
            Self::Http => "bridge-http",
            Self::Stdio => "bridge-stdio",
            Self::Gateway => "gateway-http",
            Self::GatewayStdio => "gateway-stdio",
        }
    }

    /// What stands before the names of the upstream's tools.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Gateway | Self::GatewayStdio => "bench_",
            Self::Direct | Self::Nginx | Self::Floor | Self::Http | Self::Stdio => "",
        }
    }

    /// What callers have to show.
    pub(super) fn header(self) -> Option<&'static str> {
        matches!(self, Self::Gateway | Self::GatewayStdio).then_some(configured::HEADER)
    }

    pub(super) fn chosen(only: &[String]) -> Result<Vec<Self>> {
        if let Some(unknown) = only.iter().find(|name| !Self::ALL.iter().any(|kind| kind.name() == **name)) {
            bail!("there is no {unknown}; there are {}", Self::ALL.map(Self::name).join(", "));
        }
        let wanted = |kind: &Self| only.is_empty() || only.iter().any(|name| name == kind.name());
        Ok(Self::ALL.into_iter().filter(wanted).collect())
    }
}

impl Stand {
    /// None where what it needs is not installed.
    pub(super) fn start(
        kind: Kind,
        harness: &Harness,
        upstream: &Running,
        trunkline: &Path,
    ) -> Result<Option<Self>> {
        let address = free_address()?;
        let listen = address.to_string();
        let command = match kind {
            Kind::Direct => return Ok(Some(Self { kind, running: None })),
            Kind::Nginx if !is_on_path("nginx") => return Ok(None),
            Kind::Nginx => nginx(address, upstream.address)?,
            Kind::Floor => {
                let mut command = harness.program("floor");
                command.args(["--listen", &listen, "--upstream", &upstream.address.to_string()]);
                command
            }
            Kind::Http => {
                let mut command = Command::new(trunkline);
                command.args(["bridge", "--listen", &listen, &upstream.url()]);
                command
            }
            Kind::Stdio => {
                let mut command = Command::new(trunkline);
                command.args(["bridge", "--listen", &listen, "--"]).args(harness.upstream_command());
                command
            }
            Kind::Gateway => {
                let server = serde_json::json!({"url": upstream.url()});
                configured::serve(trunkline, kind.name(), address, server)?
            }
            Kind::GatewayStdio => {
                let server = serde_json::json!({"command": harness.upstream_command()});
                configured::serve(trunkline, kind.name(), address, server)?
            }
        };
        let running = Running::start(command, address)?;
        harness.wait_for(&running, kind)?;
        Ok(Some(Self { kind, running: Some(running) }))
    }

    pub(super) fn url(&self, upstream: &Running) -> String {
        self.running.as_ref().unwrap_or(upstream).url()
    }

    pub(super) fn process(&self) -> Option<u32> {
        self.running.as_ref().map(Running::process)
    }
}

impl Running {
    pub(super) fn start(mut command: Command, address: SocketAddr) -> Result<Self> {
        let shown = process::shown(&command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().with_context(|| format!("`{shown}` could not be started"))?;
        Ok(Self { child, address })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(super) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Asked and not killed, so that it can end what it started.
        let asked = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        if let Some(asked) = asked {
            // It fails only for a process that is gone already.
            rustix::process::kill_process(asked, rustix::process::Signal::TERM).ok();
        }
        drop(self.child.wait());
    }
}

fn is_on_path(program: &str) -> bool {
    env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// nginx as a plain hop that keeps its connections.
fn nginx(address: SocketAddr, upstream: SocketAddr) -> Result<Command> {
    let folder = env::temp_dir().join(format!("trunkline-bench-nginx-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let at = folder.display();
    let text = format!(
        "worker_processes auto;\ndaemon off;\npid {at}/pid;\nerror_log {at}/error.log warn;\n\
         events {{ worker_connections 8192; }}\nhttp {{\n  access_log off;\n  client_body_temp_path {at}/body;\n  \
         proxy_temp_path {at}/proxy;\n  fastcgi_temp_path {at}/fastcgi;\n  uwsgi_temp_path {at}/uwsgi;\n  \
         scgi_temp_path {at}/scgi;\n  keepalive_requests 100000000;\n  client_max_body_size 16m;\n  \
         upstream mcp {{ server {upstream}; keepalive 512; keepalive_requests 100000000; }}\n  \
         server {{\n    listen {address} backlog=4096;\n    location / {{\n      proxy_pass http://mcp;\n      \
         proxy_http_version 1.1;\n      proxy_set_header Connection \"\";\n      proxy_buffers 8 64k;\n      \
         proxy_buffer_size 16k;\n      proxy_busy_buffers_size 128k;\n      proxy_max_temp_file_size 0;\n    }}\n  }}\n}}\n"
    );
    let file = folder.join("nginx.conf");
    fs::write(&file, text)?;
    let mut command = Command::new("nginx");
    command.arg("-c").arg(file);
    Ok(command)
}
