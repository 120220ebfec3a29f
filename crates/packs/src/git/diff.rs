//! `git_diff_unstaged`, `git_diff_staged`, `git_diff`: show changes as a list of files and as a
//! patch.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    answer::TEXT_LIMIT,
    arguments::inside,
    failure::{self, clean},
    invocation::Invocation,
    pack::{self, Git},
    parse::{self, FileChange},
    repository::Repository,
    revision::Revision,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

/// Maximum number of context lines.
const MOST_CONTEXT: i64 = 100;

/// Maximum number of files in an answer.
const MOST_FILES: usize = 1000;

/// Switches of every diff: no program of the repository runs, and the output format is fixed.
const SWITCHES: [&str; 8] = [
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=dirty",
    "--submodule=short",
    "--find-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    pub(super) repo_path: String,
    /// Lines of context around each change, 0 to 100.
    #[serde(default = "default_context")]
    pub(super) context_lines: i64,
    /// Only these files or directories.
    #[serde(default)]
    pub(super) paths: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TargetArgs {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    repo_path: String,
    /// Revision to compare with the working files; or `a..b`; or `a...b` (from the merge base).
    target: String,
    /// Lines of context around each change, 0 to 100.
    #[serde(default = "default_context")]
    context_lines: i64,
    /// Only these files or directories.
    #[serde(default)]
    paths: Vec<String>,
}

/// The changes.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Diff {
    pub(super) files: Vec<FileChange>,
    /// The patch, possibly truncated.
    pub(super) patch: String,
    /// True if files or a part of the patch were left out.
    pub(super) truncated: bool,
}

/// The two sides of a diff.
pub(super) enum Sides {
    IndexAndFiles,
    HeadAndIndex,
    /// One commit, compared with the working files, or two commits; by full hash.
    Commits(Vec<String>),
}

pub(super) fn unstaged_tool(git: &Arc<Git>) -> Tool {
    describe(
        pack::tool(git, "git_diff_unstaged", unstaged),
        "Show unstaged changes",
        "Shows how the working files differ from the index: what git_add would stage. Untracked files are not shown.",
    )
}

pub(super) fn staged_tool(git: &Arc<Git>) -> Tool {
    describe(
        pack::tool(git, "git_diff_staged", staged),
        "Show staged changes",
        "Shows how the index differs from the last commit: what git_commit would record.",
    )
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    describe(
        pack::tool(git, "git_diff", target),
        "Compare revisions",
        "Shows how the working files differ from a branch, tag or commit, or how two of them differ (`a..b`, `a...b`).",
    )
}

fn describe(tool: Tool, title: &str, text: &str) -> Tool {
    tool.title(title)
        .description(format!("{text} At most 1000 files and 96 KiB of patch; name `paths` to see less."))
        .read_only()
        .idempotent()
        .closed_world()
}

pub(super) async fn unstaged(git: Arc<Git>, args: Args) -> Result<TextAndData<Diff>, ToolError> {
    let repository = Repository::open(&git, &args.repo_path).await?;
    repository.top()?;
    answer(&repository, &Sides::IndexAndFiles, args.context_lines, &args.paths).await
}

async fn staged(git: Arc<Git>, args: Args) -> Result<TextAndData<Diff>, ToolError> {
    let repository = Repository::open(&git, &args.repo_path).await?;
    repository.top()?;
    answer(&repository, &Sides::HeadAndIndex, args.context_lines, &args.paths).await
}

async fn target(git: Arc<Git>, args: TargetArgs) -> Result<TextAndData<Diff>, ToolError> {
    let repository = Repository::open(&git, &args.repo_path).await?;
    let sides = Sides::Commits(commits(&repository, &args.target).await?);
    answer(&repository, &sides, args.context_lines, &args.paths).await
}

async fn commits(repository: &Repository<'_>, target: &str) -> Result<Vec<String>, ToolError> {
    let resolve = async |side: &str| {
        let side = if side.is_empty() { "HEAD" } else { side };
        repository.commit(&Revision::parse(side)?).await
    };
    Revision::parse(target)?;
    if let Some((left, right)) = target.split_once("...") {
        let (left, right) = (resolve(left).await?, resolve(right).await?);
        let base = repository.read("merge-base").args([&left, &right]).run().await?.text();
        if base.is_empty() {
            return Err(
                ToolError::new("the two revisions have no common history").hint("Compare them with `a..b`.")
            );
        }
        return Ok(vec![base, right]);
    }
    if let Some((left, right)) = target.split_once("..") {
        return Ok(vec![resolve(left).await?, resolve(right).await?]);
    }
    repository.top()?;
    Ok(vec![resolve(target).await?])
}

async fn answer(
    repository: &Repository<'_>,
    sides: &Sides,
    context: i64,
    paths: &[String],
) -> Result<TextAndData<Diff>, ToolError> {
    let paths = paths.iter().map(|path| inside(repository, path)).collect::<Result<Vec<_>, _>>()?;
    let data = of(repository, sides, context, &paths).await?;
    Ok(TextAndData { text: data.text(), data })
}

/// Computes the diff; the caller has checked `paths`.
pub(super) async fn of(
    repository: &Repository<'_>,
    sides: &Sides,
    context: i64,
    paths: &[String],
) -> Result<Diff, ToolError> {
    repository.enclose_nested()?;
    let command = || {
        let command = repository.read("diff").args(SWITCHES);
        match sides {
            Sides::IndexAndFiles => command,
            Sides::HeadAndIndex => command.arg("--cached"),
            Sides::Commits(commits) => command.args(commits),
        }
    };
    let listed = command().args(["--raw", "--numstat", "--no-abbrev", "-z", "--"]).args(paths).ok().await?;
    let mut files = parse::changes(listed.fields());
    let context = format!("--unified={}", context.clamp(0, MOST_CONTEXT));
    let patch = patch(command().args(["--patch", &context, "--"]).args(paths)).await?;
    let truncated = listed.truncated() || patch.truncated || files.len() > MOST_FILES;
    files.truncate(MOST_FILES);
    Ok(Diff { files, patch: patch.text, truncated })
}

/// A patch, possibly truncated.
pub(super) struct Patch {
    pub(super) text: String,
    pub(super) truncated: bool,
}

/// The patch that `command` prints. If a file exceeds git's memory limit there is no patch,
/// because git compares whole files in memory.
pub(super) async fn patch(command: Invocation<'_>) -> Result<Patch, ToolError> {
    let output = command.output_limit(TEXT_LIMIT).run().await?;
    if output.is_success() {
        return Ok(Patch { text: output.raw_text(), truncated: output.truncated() });
    }
    if output.stderr.text().contains("Out of memory") {
        return Ok(Patch { text: String::new(), truncated: true });
    }
    Err(failure::of(&output))
}

impl Diff {
    pub(super) fn text(&self) -> String {
        if self.files.is_empty() {
            return "No differences".into();
        }
        let mut lines: Vec<_> = self.files.iter().map(FileChange::line).collect();
        if self.truncated {
            lines.push(
                "(left out: a part of the files or of the patch; name `paths` to see less at a time)".into(),
            );
        }
        format!("{}\n\n{}", lines.join("\n"), visible(&self.patch))
    }
}

/// Patch text with terminal controls made visible, not truncated.
pub(super) fn visible(text: &str) -> String {
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return text
            .chars()
            .map(
                |c| {
                    if c.is_control() && !matches!(c, '\n' | '\t') { clean(&c.to_string()) } else { c.into() }
                },
            )
            .collect();
    }
    text.into()
}

pub(super) fn default_context() -> i64 {
    3
}

/// The switches, for other commands that print patches.
pub(super) fn switches() -> [&'static str; 8] {
    SWITCHES
}
