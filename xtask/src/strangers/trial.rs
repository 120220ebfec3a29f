//! `Trial`: one server, listed directly, through the bridge and through the gateway.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use super::offer::Offer;
use super::server::Server;
use crate::conformance::ServerProcess;
use crate::process::{self, Ending};

/// Timeout of one listing, starting the server included.
const LIMIT: Duration = Duration::from_mins(3);
/// The one difference of the gateway that `docs/rewrites.md` names for every server: callers
/// without an identity are not offered a list of tasks.
const TASK_LIST: &str = "/server/capabilities/tasks/list";
/// The server's name in the gateway's configuration.
const NAME: &str = "stranger";

/// The result of trying one server.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It could not be installed, or nothing could be read.
    NotTried(String),
    Compared(Box<Compared>),
}

#[derive(Debug)]
pub(super) struct Compared {
    pub(super) direct: Offer,
    /// JSON pointers of what differs from `direct`.
    pub(super) bridge: Vec<String>,
    pub(super) gateway: Vec<String>,
    /// JSON pointers of what differs between two direct listings.
    pub(super) varying: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Trial {
    binary: PathBuf,
    /// The output of each listing, and the gateway's configuration.
    folder: PathBuf,
    /// Working and home directory of the server, empty at the start.
    work: PathBuf,
    command: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Trial {
    pub(super) fn new(binary: &Path, folder: &Path, server: &Server, programs: &Path) -> Result<Self> {
        let work = folder.join("work");
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(&work)?;
        let command = server.command(programs, &work);
        if !Path::new(&command[0]).exists() {
            bail!("the package has no program {}", command[0]);
        }
        let environment = server.environment(&work);
        Ok(Self { binary: binary.to_owned(), folder: folder.to_owned(), work, command, environment })
    }

    pub(super) fn run(&self) -> Result<Outcome> {
        let direct = self.direct("direct").context("direct")?;
        let bridge = direct.differences(&self.bridged(direct.era()).context("bridge")?);
        let mut gateway = direct.differences(&self.served(direct.era()).context("gateway")?);
        gateway.retain(|pointer| pointer != TASK_LIST);
        let mut compared = Compared { direct, bridge, gateway, varying: Vec::new() };
        if !(compared.bridge.is_empty() && compared.gateway.is_empty()) {
            // A text with the time of the start, for example, is nobody's change.
            compared.varying = compared.direct.differences(&self.direct("again").context("again")?);
            compared.forget_varying();
        }
        Ok(Outcome::Compared(Box::new(compared)))
    }

    fn direct(&self, name: &str) -> Result<Offer> {
        let mut list = self.list();
        list.args(self.options()).arg("--").args(&self.command);
        self.read(&mut list, name)
    }

    fn bridged(&self, era: &str) -> Result<Offer> {
        let mut list = self.list();
        list.args(["--era", era, "--"]).arg(&self.binary).args(["--json", "bridge", "--no-cache"]);
        list.args(self.options()).arg("--").args(&self.command);
        self.read(&mut list, "bridge")
    }

    fn served(&self, era: &str) -> Result<Offer> {
        let environment: Map<String, Value> =
            self.environment.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let server = json!({ "command": self.command, "environment": environment, "cwd": self.work });
        let file = self.folder.join("trunkline.json");
        fs::write(&file, json!({ "mcp": { "servers": { NAME: server } } }).to_string())?;
        let mut serve = self.trunkline();
        serve.args(["--json", "serve", "--listen", "127.0.0.1:0", "--config"]).arg(file);
        serve.stderr(File::create(self.folder.join("serve.err"))?);
        let gateway = ServerProcess::read(serve, endpoint)?;
        let mut list = self.list();
        list.args(["--wait", "--era", era, &format!("{}/server/{NAME}", gateway.url)]);
        self.read(&mut list, "gateway")
    }

    fn trunkline(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command.current_dir(&self.work).env("HOME", &self.work);
        for variable in ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"] {
            command.env_remove(variable);
        }
        command
    }

    fn list(&self) -> Command {
        let mut command = self.trunkline();
        command.args(["--json", "list", "--no-cache"]);
        command
    }

    /// The server's directory and variables.
    fn options(&self) -> Vec<String> {
        let mut options = vec!["--cwd".to_owned(), self.work.to_string_lossy().into_owned()];
        for (name, value) in &self.environment {
            options.extend(["--env".to_owned(), format!("{name}={value}")]);
        }
        options
    }

    fn read(&self, list: &mut Command, name: &str) -> Result<Offer> {
        let file = |ending: &str| self.folder.join(format!("{name}.{ending}"));
        match process::run_apart(list, &file("json"), &file("err"), LIMIT)? {
            Ending::Exited(_) => Offer::read(&file("json"), &file("err")),
            Ending::OutOfTime => bail!("it did not end within {} s", LIMIT.as_secs()),
        }
    }
}

impl Compared {
    fn forget_varying(&mut self) {
        let Self { varying, bridge, gateway, .. } = self;
        for pointers in [bridge, gateway] {
            pointers.retain(|pointer| !(varying.contains(pointer) && is_detail(pointer)));
        }
    }

    pub(super) fn is_same(&self) -> bool {
        self.bridge.is_empty() && self.gateway.is_empty()
    }
}

impl Outcome {
    /// One line for the terminal.
    pub(super) fn summary(&self) -> String {
        let compared = match self {
            Self::NotTried(error) => return format!("not tried: {error}"),
            Self::Compared(compared) => compared,
        };
        let differs = |pointers: &[String]| match pointers {
            [] => "same".to_owned(),
            some => format!("differs in {}", some.join(", ")),
        };
        let direct = compared.direct.error().unwrap_or_else(|| "lists".to_owned());
        format!("{direct}; bridge {}; gateway {}", differs(&compared.bridge), differs(&compared.gateway))
    }
}

/// True below an item or a member of the server: a whole list, or an error in its place, is no
/// detail, and a server that fails only sometimes must not pass as the same.
fn is_detail(pointer: &str) -> bool {
    pointer.matches('/').count() > 2 && !pointer.starts_with("/error")
}

/// Reads the address from the first line of `serve --json`.
fn endpoint(line: &str) -> Option<String> {
    let started: Value = serde_json::from_str(line).ok()?;
    started.get("endpoint")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_details_may_vary() {
        let all = ["/server", "/tools", "/tools/3", "/errors/tools/message", "/tools/0/description"];
        let details: Vec<_> = all.into_iter().filter(|pointer| is_detail(pointer)).collect();
        assert_eq!(details, ["/tools/0/description"]);
    }
}
