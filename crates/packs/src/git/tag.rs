//! `git_tag`: lists, creates and deletes tags.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    arguments::RepositoryOnly,
    failure::clean,
    identity,
    pack::{self, Git},
    repository::Repository,
    revision::{RefName, Revision},
};
use crate::text_and_data::TextAndData;
use trunkline_toolbox::{Tool, ToolError};

/// Maximum number of tags in an answer.
const MOST_TAGS: usize = 1000;

const FORMAT: &str =
    "--format=%(refname)%00%(objectname)%00%(*objectname)%00%(creatordate:iso-strict)%00%(contents:subject)";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Directory in the repository, relative to the first open directory, which is the default.
    #[serde(default)]
    repo_path: String,
    /// Action.
    #[serde(default)]
    action: Action,
    /// For `create` and `delete`: the tag.
    #[serde(default)]
    name: Option<String>,
    /// For `create`: commit to tag; default HEAD.
    #[serde(default)]
    revision: Option<String>,
    /// For `create`: message, which makes an annotated tag.
    #[serde(default)]
    message: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    #[default]
    List,
    Create,
    Delete,
}

/// Tags, newest first: all of them, or the one that was created or deleted.
#[derive(Debug, Serialize, JsonSchema)]
struct Tags {
    tags: Vec<Tag>,
    /// True if there are more than listed.
    truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Tag {
    name: String,
    /// The tagged commit.
    commit: String,
    annotated: bool,
    date: String,
    /// First line of its message, or of its commit's.
    subject: String,
}

/// The read-only variant of the tool.
pub(super) fn list_tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_tag", list)
        .title("List tags")
        .description("Lists the tags with their commits, newest first. At most 1000.")
        .read_only()
        .idempotent()
        .closed_world()
}

pub(super) fn tool(git: &Arc<Git>) -> Tool {
    pack::tool(git, "git_tag", run)
        .title("List, create or delete tags")
        .description("Lists the tags (at most 1000, newest first), makes one, or removes one.")
        .destructive()
        .not_idempotent()
        .closed_world()
}

async fn list(git: Arc<Git>, args: RepositoryOnly) -> Result<TextAndData<Tags>, ToolError> {
    let repository = Repository::open(&git, &args.repo_path).await?;
    Ok(answer(tags(&repository, "refs/tags/").await?))
}

async fn run(git: Arc<Git>, args: Args) -> Result<TextAndData<Tags>, ToolError> {
    let _changing = git.change().await;
    let repository = Repository::open(&git, &args.repo_path).await?;
    if args.action == Action::List {
        return Ok(answer(tags(&repository, "refs/tags/").await?));
    }
    let Some(name) = &args.name else {
        return Err(ToolError::new("`name` is missing").hint("Name the tag."));
    };
    let name = RefName::parse(name)?;
    let exists = repository.has(&name.tag()).await?;
    match args.action {
        Action::Delete if !exists => {
            Err(ToolError::new(format!("there is no tag {:?}", name.as_str())).hint("See action `list`."))
        }
        Action::Delete => {
            let removed = tags(&repository, &name.tag()).await?;
            repository.write("tag").args(["--delete", "--end-of-options", name.as_str()]).ok().await?;
            Ok(answer(removed))
        }
        _ if exists => Err(ToolError::new(format!("there is a tag {:?} already", name.as_str()))
            .hint("Choose another name; a tag that others have must not move.")),
        _ => create(&repository, &name, &args).await,
    }
}

async fn create(
    repository: &Repository<'_>,
    name: &RefName,
    args: &Args,
) -> Result<TextAndData<Tags>, ToolError> {
    let commit = match &args.revision {
        Some(revision) => repository.commit(&Revision::parse(revision)?).await?,
        None => repository.born_head().await?,
    };
    let mut command = repository.write("tag").args(["--no-sign", "--cleanup=whitespace"]);
    if let Some(message) = &args.message {
        if message.trim().is_empty() || message.contains('\0') {
            return Err(ToolError::new("the message is empty or contains a NUL byte")
                .hint("Leave `message` out, or fill it."));
        }
        for (key, value) in identity::settings(repository).await? {
            command = command.setting(key, value);
        }
        command = command.args(["--annotate", "--file", "-"]).input(message.as_str());
    }
    command.args(["--end-of-options", name.as_str(), &commit]).ok().await?;
    Ok(answer(tags(repository, &name.tag()).await?))
}

async fn tags(repository: &Repository<'_>, pattern: &str) -> Result<Tags, ToolError> {
    let count = format!("--count={}", MOST_TAGS + 1);
    let output =
        repository.read("for-each-ref").args(["--sort=-creatordate", FORMAT, &count, pattern]).ok().await?;
    let text = output.raw_text();
    let mut tags: Vec<_> =
        text.split_inclusive('\n').filter_map(|line| Tag::parse(line.strip_suffix('\n')?)).collect();
    let truncated = output.truncated() || tags.len() > MOST_TAGS;
    tags.truncate(MOST_TAGS);
    Ok(Tags { tags, truncated })
}

fn answer(data: Tags) -> TextAndData<Tags> {
    let lines: Vec<_> =
        data.tags.iter().map(|tag| format!("{} {} {}", tag.name, tag.commit, tag.subject)).collect();
    let text = if lines.is_empty() {
        "No tags".into()
    } else {
        lines.iter().map(|line| clean(line)).collect::<Vec<_>>().join("\n")
    };
    TextAndData { text, data }
}

impl Tag {
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<_> = line.split('\0').collect();
        let [name, object, target, date, subject] = fields[..] else { return None };
        let annotated = !target.is_empty();
        Some(Self {
            name: name.strip_prefix("refs/tags/")?.into(),
            commit: if annotated { target } else { object }.into(),
            annotated,
            date: date.into(),
            subject: subject.into(),
        })
    }
}
