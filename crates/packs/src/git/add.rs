//! `git_add`: stages files.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, path::Path, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments::{MOST_PATHS, inside},
    failure::clean,
    options::{Drivers, UserSettings},
    pack::{self, Git},
    parse::{FileChange, changes},
    repository::Repository,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

/// Maximum number of files in an answer.
const MOST_FILES: usize = 1000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    pub(super) repo_path: String,
    /// Files or directories relative to the repository's top; `.` for all. Taken literally.
    #[schemars(length(min = 1, max = 1000))]
    pub(super) files: Vec<String>,
}

/// The staged changes among the named files.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Added {
    pub(super) staged: Vec<FileChange>,
    /// True if there are more than listed.
    pub(super) truncated: bool,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_add", run)
        .title("Stage files")
        .description(
            "Stages the present contents of files and directories, deletions included, for the next commit.",
        )
        .additive()
        .idempotent()
        .closed_world()
}

pub(super) async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Added>, ToolError> {
    let _changing = git.change().await;
    let repository = Repository::open(&git, &args.repo_path).await?;
    if args.files.is_empty() || args.files.len() > MOST_PATHS {
        return Err(
            ToolError::new("`files` must name 1 to 1000 paths").hint("Name a directory to stage all in it.")
        );
    }
    let paths = args.files.iter().map(|path| inside(&repository, path)).collect::<Result<Vec<_>, _>>()?;
    let command = repository.convert("add")?;
    check(&repository, &paths).await?;
    repository.takes_no_secret(&paths).await?;
    command.args(["--no-warn-embedded-repo", "--"]).args(&paths).ok().await?;
    let data = staged(&repository, &paths).await?;
    Ok(TextAndData { text: data.text(), data })
}

/// Refuses files with a filter attribute whose filter does not run here, because git would store
/// their unfiltered contents. Also refuses nested repositories outside of the roots.
async fn check(repository: &Repository<'_>, paths: &[String]) -> Result<(), ToolError> {
    let options = repository.git().options();
    if options.drivers == Drivers::Run {
        return Ok(());
    }
    let args = ["-z", "--others", "--modified", "--exclude-standard", "--"];
    let candidates = repository.read("ls-files").args(args).args(paths).ok().await?;
    if candidates.truncated() {
        return Err(ToolError::new("too many files at once").hint("Stage one directory at a time."));
    }
    for path in candidates.raw_fields() {
        let path = Path::new(OsStr::from_bytes(&path));
        // For a nested repository git stages its current commit.
        if repository.top()?.join(path).is_dir() {
            repository.enclose_nested_at(path)?;
        }
    }
    if matches!(options.user_settings, UserSettings::Read(_)) {
        return Ok(());
    }
    let asked = repository.read("check-attr").args(["-z", "--stdin", "filter"]).input(candidates.stdout.head);
    for field in asked.ok().await?.fields().chunks_exact(3) {
        let (path, filter) = (&field[0], &field[2]);
        if !matches!(filter.as_str(), "unspecified" | "unset" | "set") {
            return Err(ToolError::new(format!(
                "{path:?} must go through the filter {filter:?}, and filters do not run here"
            ))
            .hint("Stage other files, or ask the operator to allow drivers or to do it by hand."));
        }
    }
    Ok(())
}

/// The staged changes in `paths`; an empty list means all.
pub(super) async fn staged(repository: &Repository<'_>, paths: &[String]) -> Result<Added, ToolError> {
    let args = ["--cached", "--raw", "--numstat", "--no-abbrev", "-z", "--"];
    let output = repository.read("diff").args(super::diff::switches()).args(args).args(paths).ok().await?;
    let mut staged = changes(output.fields());
    let truncated = output.truncated() || staged.len() > MOST_FILES;
    staged.truncate(MOST_FILES);
    Ok(Added { staged, truncated })
}

impl Added {
    fn text(&self) -> String {
        if self.staged.is_empty() {
            return "Nothing was staged: these files are as they are in the last commit".into();
        }
        let lines: Vec<_> = self.staged.iter().map(FileChange::line).collect();
        clean(&format!("Staged:\n{}", lines.join("\n")))
    }
}
