//! `add`, `remove`, `enable` and `disable`: edit the servers in the configuration file.

use super::{
    Context, Ending,
    edit_file::{Consent, change, content},
};
use crate::{environment, failure::Failure, render::problems, wire::settings};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use trunkline_config::{FILE_NAME, edit, replace};
use trunkline_protocol::ServerName;

/// The file that is edited.
#[derive(Debug, clap::Args)]
pub(crate) struct FileArgs {
    /// File to edit [default: `trunkline/trunkline.json` in the user's configuration directory]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AddArgs {
    /// Name of the server: 1 to 32 letters, digits or `-`
    #[arg(value_name = "SERVER")]
    server: ServerName,
    /// Address of the server
    #[arg(value_name = "URL", required_unless_present = "command", conflicts_with = "command")]
    url: Option<String>,
    /// Command that starts the server, instead of URL
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Environment variable of the command; write secrets as `{env:NAME}`
    #[arg(long = "env", value_name = "NAME=VALUE", conflicts_with = "url")]
    environment: Vec<String>,
    /// HTTP header of the address; write secrets as `{env:NAME}`
    #[arg(long = "header", value_name = "NAME: VALUE", conflicts_with = "command")]
    headers: Vec<String>,
    /// Replace a server of this name
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    file: FileArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NamedArgs {
    /// Name of the server in the configuration
    #[arg(value_name = "SERVER")]
    server: ServerName,
    #[command(flatten)]
    file: FileArgs,
}

/// A change of a configured server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    Remove,
    Enable,
    Disable,
}

pub(crate) fn add(context: &Context, args: &AddArgs) -> Result<Ending, Failure> {
    let path = args.file.path(context)?;
    let before = content(&path)?;
    let name = args.server.as_ref();
    if !args.replace && has(before.as_deref(), name, &path)? {
        let failure = format!("{} has a server `{name}` already", path.display());
        return Err(Failure::usage(failure).hint("--replace replaces it"));
    }
    let after = edit::set_member(before.as_deref(), &["mcp", "servers", name], &args.entry()?)
        .map_err(|errors| broken(&path, &errors))?;
    write(context, &path, before.as_deref(), &after)
}

pub(crate) fn change_one(context: &Context, args: &NamedArgs, wanted: Edit) -> Result<Ending, Failure> {
    let path = args.file.path(context)?;
    let before = content(&path)?;
    let name = args.server.as_ref();
    if !has(before.as_deref(), name, &path)? {
        return Err(absent(context, name, &path));
    }
    let text = before.as_deref().unwrap_or_default();
    let enabled = ["mcp", "servers", name, "enabled"];
    let after = match wanted {
        Edit::Remove => edit::remove_member(text, &["mcp", "servers", name]),
        Edit::Disable => edit::set_member(Some(text), &enabled, &json!(false)).map(Some),
        // Servers are enabled by default, so the file gets no member for that.
        Edit::Enable => edit::remove_member(text, &enabled),
    };
    let after = after.map_err(|errors| broken(&path, &errors))?;
    write(context, &path, before.as_deref(), after.as_deref().unwrap_or(text))
}

impl FileArgs {
    fn path(&self, context: &Context) -> Result<PathBuf, Failure> {
        let named = self.config.clone().or_else(|| context.environment.get_path(environment::CONFIG));
        if let Some(file) = named {
            return Ok(settings::directory()?.join(file));
        }
        let directory = settings::user_directory(&context.environment);
        let none = || Failure::usage("there is no home directory; name the file with --config");
        directory.map(|directory| directory.join(FILE_NAME)).ok_or_else(none)
    }
}

impl AddArgs {
    fn entry(&self) -> Result<Value, Failure> {
        let mut entry = Map::new();
        if let Some(url) = &self.url {
            entry.insert("type".to_owned(), json!("remote"));
            entry.insert("url".to_owned(), json!(url));
            if !self.headers.is_empty() {
                entry.insert("headers".to_owned(), pairs(&self.headers, ':', "--header")?);
            }
        } else {
            entry.insert("type".to_owned(), json!("local"));
            entry.insert("command".to_owned(), json!(self.command));
            if !self.environment.is_empty() {
                entry.insert("environment".to_owned(), pairs(&self.environment, '=', "--env")?);
            }
        }
        Ok(Value::Object(entry))
    }
}

/// The pairs of an option as an object.
fn pairs(words: &[String], mark: char, option: &str) -> Result<Value, Failure> {
    let mut members = Map::new();
    for word in words {
        let Some((name, value)) = word.split_once(mark) else {
            return Err(Failure::usage(format!("{option} must be NAME{mark}VALUE, and is `{word}`")));
        };
        members.insert(name.trim().to_owned(), json!(value.trim()));
    }
    Ok(Value::Object(members))
}

fn has(text: Option<&str>, server: &str, path: &Path) -> Result<bool, Failure> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(false) };
    edit::has_member(text, &["mcp", "servers", server]).map_err(|errors| broken(path, &errors))
}

/// Writes the file. If the configuration cannot be used with it, the previous content is put
/// back.
fn write(context: &Context, path: &Path, before: Option<&str>, after: &str) -> Result<Ending, Failure> {
    let was_valid = is_valid(context, path);
    let ending = change(context, path, before, after, Consent::Given)?;
    let read = settings::read(&context.environment, Some(path), Vec::new())?;
    if let Err(rejected) = read.as_ref()
        && was_valid
        && before != Some(after)
    {
        context.screen.tell(&problems::text(&rejected.problems, &rejected.sources));
        let put_back = replace(path, Some(after), before.unwrap_or("{}\n"));
        put_back.map_err(|error| Failure::usage(format!("{} cannot be written: {error}", path.display())))?;
        return Err(Failure::usage("the change makes the configuration unusable; it was taken back"));
    }
    if !context.output.json && before != Some(after) {
        context.screen.note("a running gateway that uses this file takes the change over by itself");
    }
    Ok(ending)
}

fn is_valid(context: &Context, path: &Path) -> bool {
    !path.is_file() || matches!(settings::read(&context.environment, Some(path), Vec::new()), Ok(Ok(_)))
}

fn absent(context: &Context, server: &str, path: &Path) -> Failure {
    let failure = Failure::usage(format!("{} has no server `{server}`", path.display()));
    let loaded = settings::read(&context.environment, None, Vec::new()).ok().and_then(Result::ok);
    let origin = loaded.as_ref().and_then(|loaded| loaded.origins.get(&server.parse().ok()?));
    match origin {
        Some(origin) => {
            failure.hint(format!("it is defined in {}; name that file with --config", origin.file))
        }
        None => failure.hint("`trunkline list` shows the configured servers"),
    }
}

fn broken(path: &Path, errors: &[trunkline_config::jsonc::SyntaxError]) -> Failure {
    let reason = errors.first().map(|error| error.reason.clone()).unwrap_or_default();
    Failure::usage(format!("{} cannot be edited: {reason}", path.display()))
        .hint(format!("see `trunkline config check {}`", path.display()))
}
