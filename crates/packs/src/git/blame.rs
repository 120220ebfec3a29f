//! `git_blame`: which commit each line of a file comes from.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments::{inside, tracked},
    failure::clean,
    pack::{self, Git},
    parse::{BlamedLine, blame},
    repository::Repository,
    revision::Revision,
};
use crate::told::Told;
use trunkline_toolbox::{Tool, ToolError};

/// Most lines in one answer.
const MOST_LINES: u64 = 500;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// A directory in the repository; relative ones start at the first open directory, which is also the default.
    #[serde(default)]
    repo_path: String,
    /// The file, relative to the repository's top directory.
    path: String,
    /// The file as of this revision; the working file if left out.
    #[serde(default)]
    revision: Option<String>,
    /// First line, from 1.
    #[serde(default = "first_line")]
    start_line: u64,
    /// Last line; at most 500 lines are shown.
    #[serde(default)]
    end_line: Option<u64>,
}

/// Lines and the commits that they come from.
#[derive(Debug, Serialize, JsonSchema)]
struct Blame {
    path: String,
    lines: Vec<BlamedLine>,
    /// Whether lines that were asked for are left out.
    truncated: bool,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_blame", run)
        .title("Show where lines come from")
        .description("Shows for each line of a file the commit, author and time that it comes from. At most 500 lines; choose with `start_line`.")
        .read_only()
        .idempotent()
        .closed_world()
}

async fn run(git: Arc<Git>, args: Args) -> Result<Told<Blame>, ToolError> {
    let repository = Repository::open(&git, &args.repo_path).await?;
    let path = match &args.revision {
        Some(_) => tracked(&args.path)?,
        None => inside(&repository, &args.path)?,
    };
    let start = args.start_line.max(1);
    let last = args.end_line.unwrap_or(u64::MAX).max(start);
    // One line more than is shown tells whether there are more.
    let end = last.min(start.saturating_add(MOST_LINES));
    let mut command =
        repository.read("blame").args(["--line-porcelain", "--no-textconv", &format!("-L{start},{end}")]);
    if let Some(revision) = &args.revision {
        command = command.arg(repository.commit(&Revision::parse(revision)?).await?);
    } else {
        repository.born_head().await?;
    }
    let output = command.args(["--", &path]).run().await?;
    if !output.is_success() {
        return Err(failed(&output, &path));
    }
    let mut lines = blame(&output.raw_text());
    let most = usize::try_from(MOST_LINES).expect("a small number");
    let truncated = output.truncated() || lines.len() > most;
    lines.truncate(most);
    let data = Blame { path, lines, truncated };
    Ok(Told { text: data.text(), data })
}

fn failed(output: &super::invocation::Output, path: &str) -> ToolError {
    let said = output.stderr.text();
    let count = said.split_once(" has only ").and_then(|(_, rest)| rest.split_once(" line"));
    match count.and_then(|(count, _)| count.parse::<u64>().ok()) {
        Some(count) => {
            ToolError::new(format!("{path:?} has only {count} lines")).hint("Choose a smaller `start_line`.")
        }
        None => super::failure::of(output),
    }
}

fn first_line() -> u64 {
    1
}

impl Blame {
    fn text(&self) -> String {
        let line = |line: &BlamedLine| {
            let short = &line.commit[..line.commit.len().min(10)];
            clean(&format!("{} {short} {}: {}", line.line, line.author, line.text))
        };
        let mut lines: Vec<_> = self.lines.iter().map(line).collect();
        if self.truncated {
            lines.push("… and more".into());
        }
        lines.join("\n")
    }
}
