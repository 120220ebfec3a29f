//! `key`: makes, lists and removes API keys in the key file.

use super::{Context, Ending};
use crate::{failure::Failure, render::safe, wire::settings};
use clap::Subcommand;
use serde_json::{Map, Value, json};
use std::{
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
};
use trunkline_auth::{ApiKeys, BadKeys, keys};
use trunkline_config::{overwrite, read_regular_text};

const FILE_NAME: &str = "keys.json";

/// Make, list or remove API keys
///
/// The file has only the hash of each key. A running gateway reads the file again when it changes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
    /// The key file [default: `auth.keys` of the configuration, else `keys.json` beside your own
    /// configuration file]
    #[arg(long, value_name = "FILE", global = true)]
    keys: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a key, print it once, and add its hash to the key file
    New {
        /// Name of the key; its holder is the caller `key:<ID>`
        id: String,
        /// Give the holder this role; may be repeated
        #[arg(long = "role", value_name = "ROLE")]
        roles: Vec<String>,
        /// Give the holder this scope; may be repeated
        #[arg(long = "scope", value_name = "SCOPE")]
        scopes: Vec<String>,
        /// Last validity: a date such as `2027-01-31`, or a UTC time such as `2027-01-31T12:00:00Z`
        #[arg(long, value_name = "DATE")]
        expires: Option<String>,
    },
    /// List the keys with their roles and expiry
    List,
    /// Remove a key; its holder is refused from then on
    Remove {
        /// Name of the key
        id: String,
    },
}

/// The key file: its text when it was read, and its entries.
struct KeyFile {
    path: PathBuf,
    before: Option<String>,
    entries: Vec<Value>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let configured = settings::read_if_valid(&context.environment).and_then(|settings| settings.auth.keys);
    let path = match (&args.keys, &configured) {
        (Some(path), _) | (None, Some(path)) => path.clone(),
        (None, None) => settings::user_directory(&context.environment)
            .ok_or_else(|| Failure::usage("there is no home directory; name the file with --keys"))?
            .join(FILE_NAME),
    };
    let mut file = KeyFile::read(path)?;
    match &args.command {
        Command::New { id, roles, scopes, expires } => {
            let key = keys::generate();
            let mut entry = json!({"id": id, "sha256": key.sha256});
            for (name, given) in [("roles", roles), ("scopes", scopes)] {
                if !given.is_empty() {
                    entry[name] = json!(given);
                }
            }
            if let Some(expires) = expires {
                entry["expires"] = json!(expires);
            }
            file.entries.push(entry);
            file.write()?;
            if configured.is_none() && args.keys.is_none() {
                let line = format!("\"auth\": {{ \"keys\": \"{}\" }}", file.path.display());
                context.screen.note(&format!("to require keys, add {line} to your configuration"));
            }
            show_new(context, id, &key.token, &file.path)
        }
        Command::List => file.show(context),
        Command::Remove { id } => {
            let count = file.entries.len();
            file.entries.retain(|entry| entry["id"] != json!(id));
            if file.entries.len() == count {
                return Err(Failure::usage(format!("there is no key `{}`", safe::line(id)))
                    .hint("`trunkline key list` shows all keys"));
            }
            file.write()?;
            Ok(Ending::Fine)
        }
    }
}

fn show_new(context: &Context, id: &str, token: &str, file: &Path) -> Result<Ending, Failure> {
    if context.output.json {
        return context.print_json(&json!({"id": id, "key": token, "file": file}));
    }
    context.screen.note("this key is shown once; clients send it as `Authorization: Bearer <key>`");
    context.print(&format!("{token}\n"))
}

impl KeyFile {
    /// Reads the file; a missing one has no keys.
    fn read(path: PathBuf) -> Result<Self, Failure> {
        let unusable = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", path.display()));
        let before = match read_regular_text(&path, keys::MAX_FILE) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unusable(&error)),
        };
        let Some(text) = &before else { return Ok(Self { path, before, entries: Vec::new() }) };
        check(text).map_err(|error| unusable(&error))?;
        let mut file: Map<String, Value> = serde_json::from_str(text).map_err(|error| unusable(&error))?;
        let entries = match file.remove("keys") {
            Some(Value::Array(entries)) => entries,
            _ => Vec::new(),
        };
        Ok(Self { path, before, entries })
    }

    /// Writes the file, if all of its keys are valid and it did not change since it was read.
    fn write(&self) -> Result<(), Failure> {
        let failed = |why: &dyn std::fmt::Display| {
            Failure::usage(format!("{} is left as it is: {why}", self.path.display()))
        };
        let text = format!("{:#}\n", json!({"keys": self.entries}));
        check(&text).map_err(|error| failed(&error))?;
        let now = read_regular_text(&self.path, keys::MAX_FILE).ok();
        if now != self.before {
            return Err(failed(&"it was changed in the meantime; try again"));
        }
        overwrite(&self.path, &text).map_err(|error| failed(&error))
    }

    fn show(&self, context: &Context) -> Result<Ending, Failure> {
        let about = |entry: &Value| {
            let mut about = entry.clone();
            about.as_object_mut().map(|about| about.remove("sha256"));
            about
        };
        if context.output.json {
            let keys: Vec<Value> = self.entries.iter().map(about).collect();
            return context.print_json(&json!({"file": self.path, "keys": keys}));
        }
        let mut text = String::new();
        for entry in &self.entries {
            let words = |name: &str| {
                let words = entry[name].as_array().into_iter().flatten().filter_map(Value::as_str);
                words.collect::<Vec<_>>().join(" ")
            };
            let id = entry["id"].as_str().unwrap_or_default();
            let mut line = format!("{id:<20}");
            for (name, given) in [("roles", words("roles")), ("scopes", words("scopes"))] {
                if !given.is_empty() {
                    write!(line, "  {name}: {given}").expect("writing to a String does not fail");
                }
            }
            if let Some(expires) = entry["expires"].as_str() {
                write!(line, "  expires: {expires}").expect("writing to a String does not fail");
            }
            writeln!(text, "{}", safe::line(line.trim_end())).expect("writing to a String does not fail");
        }
        context.print(&text)
    }
}

/// A file without keys is valid here: it is one before the first key and after the last.
fn check(text: &str) -> Result<(), BadKeys> {
    match ApiKeys::from_json(text) {
        Ok(_) | Err(BadKeys::Empty) => Ok(()),
        Err(error) => Err(error),
    }
}
