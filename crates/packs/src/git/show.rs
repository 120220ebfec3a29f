//! `git_show`: shows a commit, a tag, or a directory or file of a revision.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    answer::{Commit, TEXT_LIMIT},
    diff::{default_context, patch, switches, visible},
    failure::clean,
    log,
    pack::{self, Git},
    parse::{FileChange, changes, commits},
    repository::Repository,
    revision::Revision,
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

/// Maximum number of entries of a directory.
const MOST_ENTRIES: usize = 1000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    repo_path: String,
    /// A commit, branch or tag; or `revision:path` for a file or directory as it was there.
    revision: String,
    /// Lines of context around each change of a commit, 0 to 100.
    #[serde(default = "default_context")]
    context_lines: i64,
}

/// The kind of object shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Commit,
    Directory,
    File,
}

/// A commit, a directory or a file.
#[derive(Debug, Serialize, JsonSchema)]
struct Shown {
    kind: Kind,
    /// Full hash.
    hash: String,
    /// Of a commit: author, date and message.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<Commit>,
    /// Of a commit: the files that it changes, compared with its first parent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<FileChange>,
    /// Of a commit: the patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    /// Of a directory: its entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    entries: Vec<TreeEntry>,
    /// Of a text file: its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// Of a file: its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// True if something was left out.
    truncated: bool,
}

/// An entry of a directory.
#[derive(Debug, Serialize, JsonSchema)]
struct TreeEntry {
    name: String,
    /// `blob` for a file, `tree` for a directory, `commit` for a submodule.
    kind: String,
    /// Such as `100644`.
    mode: String,
    hash: String,
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_show", run)
        .title("Show a commit, file or directory")
        .description("Shows a commit with its message and patch, or a file or directory as of a revision (`revision:path`). At most 96 KiB of text.")
        .read_only()
        .idempotent()
        .closed_world()
}

async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Shown>, ToolError> {
    let repository = Repository::open(&git, &args.repo_path).await?;
    let hash = repository.object(&Revision::parse(&args.revision)?).await?;
    let kind = repository.read("cat-file").args(["-t", &hash]).ok().await?.text();
    let data = match kind.as_str() {
        "blob" => file(&repository, hash).await?,
        "tree" => directory(&repository, hash).await?,
        _ => {
            // A tag is shown as the commit that it points to.
            let hash = repository.commit(&Revision::parse(&hash)?).await?;
            commit(&repository, hash, args.context_lines).await?
        }
    };
    Ok(TextAndData { text: data.text(), data })
}

async fn commit(repository: &Repository<'_>, hash: String, context: i64) -> Result<Shown, ToolError> {
    let logged = repository.read("log").args(log::SWITCHES).args(["--max-count=1", &hash, "--"]).ok().await?;
    let commit = commits(&logged.fields()).into_iter().next();
    let compare = || {
        let command = repository.read("show").args(switches());
        command.args(["--format=", "--no-show-signature", "--no-notes", "--diff-merges=first-parent"])
    };
    let listed = compare().args(["--raw", "--numstat", "--no-abbrev", "-z", &hash, "--"]).ok().await?;
    let context = format!("--unified={}", context.clamp(0, 100));
    let patch = patch(compare().args(["--patch", &context, &hash, "--"])).await?;
    Ok(Shown {
        commit,
        files: changes(listed.fields()),
        patch: Some(patch.text),
        truncated: listed.truncated() || patch.truncated || logged.truncated(),
        ..Shown::empty(Kind::Commit, hash)
    })
}

async fn directory(repository: &Repository<'_>, hash: String) -> Result<Shown, ToolError> {
    let output = repository.read("ls-tree").args(["-z", "--full-tree", &hash]).ok().await?;
    let mut entries: Vec<_> = output.fields().iter().filter_map(|field| TreeEntry::parse(field)).collect();
    let truncated = output.truncated() || entries.len() > MOST_ENTRIES;
    entries.truncate(MOST_ENTRIES);
    Ok(Shown { entries, truncated, ..Shown::empty(Kind::Directory, hash) })
}

async fn file(repository: &Repository<'_>, hash: String) -> Result<Shown, ToolError> {
    let size = repository.read("cat-file").args(["-s", &hash]).ok().await?.text().parse().ok();
    let output = repository.read("cat-file").args(["blob", &hash]).output_limit(TEXT_LIMIT).ok().await?;
    let is_text = !output.stdout.head.contains(&0);
    let content = is_text.then(|| output.raw_text());
    Ok(Shown { content, size, truncated: is_text && output.truncated(), ..Shown::empty(Kind::File, hash) })
}

impl TreeEntry {
    /// `mode kind hash TAB name`.
    fn parse(field: &str) -> Option<Self> {
        let (columns, name) = field.split_once('\t')?;
        let mut columns = columns.split_whitespace().map(Into::into);
        Some(Self { mode: columns.next()?, kind: columns.next()?, hash: columns.next()?, name: name.into() })
    }
}

impl Shown {
    fn empty(kind: Kind, hash: String) -> Self {
        Self {
            kind,
            hash,
            commit: None,
            files: Vec::new(),
            patch: None,
            entries: Vec::new(),
            content: None,
            size: None,
            truncated: false,
        }
    }

    fn text(&self) -> String {
        let mut text = match self.kind {
            Kind::Commit => {
                let head = self
                    .commit
                    .as_ref()
                    .map(|commit| format!("{}\n\n{}", commit.line(), visible(&commit.body)));
                let files: Vec<_> = self.files.iter().map(FileChange::line).collect();
                let patch = visible(self.patch.as_deref().unwrap_or_default());
                format!("{}\n{}\n\n{patch}", head.unwrap_or_default(), files.join("\n"))
            }
            Kind::Directory => {
                let lines: Vec<_> = self
                    .entries
                    .iter()
                    .map(|entry| clean(&format!("{} {}", entry.kind, entry.name)))
                    .collect();
                lines.join("\n")
            }
            Kind::File => match &self.content {
                Some(content) => visible(content),
                None => format!("A binary file of {} bytes", self.size.unwrap_or_default()),
            },
        };
        if self.truncated {
            text.push_str("\n(the rest is left out)");
        }
        text
    }
}
