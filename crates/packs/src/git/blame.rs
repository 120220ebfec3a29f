//! `git_blame`: shows the commit that last changed each line of a file.

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
use crate::text_and_data::TextAndData;
use trunkline_secrets::counted;
use trunkline_toolbox::{Tool, ToolError};

/// Maximum number of lines in an answer.
const MOST_LINES: u64 = 500;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    repo_path: String,
    /// The file, relative to the repository's top directory.
    path: String,
    /// Revision of the file; default: the working file.
    #[serde(default)]
    revision: Option<String>,
    /// First line, from 1.
    #[serde(default = "first_line")]
    start_line: u64,
    /// Last line; at most 500 lines are shown.
    #[serde(default)]
    end_line: Option<u64>,
}

/// Lines with the commits that last changed them.
#[derive(Debug, Serialize, JsonSchema)]
struct Blame {
    path: String,
    lines: Vec<BlamedLine>,
    /// True if requested lines were left out.
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

async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Blame>, ToolError> {
    let repository = Repository::open(&git, &args.repo_path).await?;
    let path = match &args.revision {
        Some(_) => tracked(&args.path)?,
        None => inside(&repository, &args.path)?,
    };
    let start = args.start_line.max(1);
    let last = args.end_line.unwrap_or(u64::MAX).max(start);
    // Requests one line more than is shown, to know if there are more.
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
    Ok(TextAndData { text: data.text(), data })
}

fn failed(output: &super::invocation::Output, path: &str) -> ToolError {
    let said = output.stderr.text();
    let count = said.split_once(" has only ").and_then(|(_, rest)| rest.split_once(" line"));
    match count.and_then(|(count, _)| count.parse::<u64>().ok()) {
        Some(count) => ToolError::new(format!("{path:?} has only {}", counted(count, "line")))
            .hint("Choose a smaller `start_line`."),
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
