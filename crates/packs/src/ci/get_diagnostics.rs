//! `get_diagnostics`: describes this machine and its build tools.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    log_text::{cut, plain},
    pack::{self, Ci},
};
use crate::text_and_data::TextAndData;
use trunkline_process::{Command, Keep, Limits};
use trunkline_toolbox::{Context, Tool, ToolError};

/// Timeout of a program that prints its version.
const DEADLINE: Duration = Duration::from_secs(5);

/// Maximum length of a version in bytes.
const LONGEST_VERSION: usize = 120;

/// Programs, with the argument that prints the version.
const PROGRAMS: [(&str, &str); 14] = [
    ("cargo", "--version"),
    ("rustc", "--version"),
    ("go", "version"),
    ("dotnet", "--version"),
    ("java", "-version"),
    ("mvn", "--version"),
    ("gradle", "--version"),
    ("node", "--version"),
    ("npm", "--version"),
    ("pnpm", "--version"),
    ("yarn", "--version"),
    ("python3", "--version"),
    ("make", "--version"),
    ("git", "--version"),
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Diagnostics {
    /// Such as linux or macos.
    os: &'static str,
    architecture: &'static str,
    is_64_bit: bool,
    /// Number of CPUs available to the server.
    cpu_count: usize,
    /// Base of relative paths.
    working_directory: String,
    /// All open directories.
    roots: Vec<String>,
    server_version: &'static str,
    programs: Vec<Installed>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Installed {
    name: &'static str,
    path: String,
    /// Missing if the program printed none.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

pub(super) fn tool(ci: &Arc<Ci>) -> Tool {
    pack::tool(ci, "get_diagnostics", run)
        .title("Show diagnostics")
        .description("Tells the operating system, architecture, number of CPUs, open directories, and which build tools are installed in which version.")
        .read_only()
        .idempotent()
        .closed_world()
}

async fn run(ci: Arc<Ci>, _cx: Context, _args: Args) -> Result<TextAndData<Diagnostics>, ToolError> {
    let installed = join_all(PROGRAMS.map(|(name, question)| version(&ci, name, question))).await;
    let data = Diagnostics {
        os: std::env::consts::OS,
        architecture: std::env::consts::ARCH,
        is_64_bit: cfg!(target_pointer_width = "64"),
        cpu_count: std::thread::available_parallelism().map_or(1, usize::from),
        working_directory: ci.roots.first().display().to_string(),
        roots: ci.roots.all().iter().map(|root| root.display().to_string()).collect(),
        server_version: env!("CARGO_PKG_VERSION"),
        programs: installed.into_iter().flatten().collect(),
    };
    Ok(TextAndData { text: data.text(), data })
}

/// The installed version. The program runs in `/`, because some tools read settings of the project
/// around them. A program inside an open directory is not run, because it is untrusted.
async fn version(ci: &Ci, name: &'static str, question: &'static str) -> Option<Installed> {
    let path = ci.environment.find(name)?;
    let real = std::fs::canonicalize(&path).ok()?;
    let is_open = ci.roots.contain(&path) || ci.roots.contain(&real);
    let version = if is_open { None } else { ask(ci, &path, question).await };
    Some(Installed { name, path: path.display().to_string(), version })
}

async fn ask(ci: &Ci, path: &std::path::Path, question: &str) -> Option<String> {
    let limits = Limits {
        deadline: DEADLINE,
        stdout: Keep::head(4096),
        stderr: Keep::head(4096),
        memory: ci.limits.memory,
        ..Limits::default()
    };
    let command =
        Command::new(path).directory("/").args([question]).envs(ci.environment.variables().iter().cloned());
    let finished = command.run(&limits, []).await.ok().filter(|finished| finished.ending.is_success())?;
    let said = plain(&(finished.stdout.text() + &finished.stderr.text()));
    let line = said.lines().find(|line| line.chars().any(|c| c.is_ascii_digit()))?;
    Some(cut(line.trim(), LONGEST_VERSION).to_owned())
}

impl Diagnostics {
    fn text(&self) -> String {
        let mut lines = vec![
            format!("{} on {}, {} CPUs", self.os, self.architecture, self.cpu_count),
            format!("Working directory: {}", self.working_directory),
            format!("Server version: {}", self.server_version),
        ];
        for program in &self.programs {
            lines.push(format!(
                "{}: {} ({})",
                program.name,
                program.version.as_deref().unwrap_or("version unknown"),
                program.path
            ));
        }
        lines.join("\n")
    }
}
