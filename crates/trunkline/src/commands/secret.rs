//! `secret`: keeps secrets that the configuration refers to.

use super::{Context, Ending};
use crate::{
    failure::Failure,
    terminal,
    vault::{Vault, VaultError},
};
use clap::Subcommand;
use serde_json::json;
use std::io::{self, Read};
use trunkline_config::is_secret_name;

/// Largest secret.
const MAX_SECRET: u64 = 64 * 1024;

/// Keep secrets that the configuration refers to as `{keychain:NAME}`
///
/// The secrets are in a file that only you can read, `$XDG_DATA_HOME/trunkline/secrets.json`, by
/// default `~/.local/share/trunkline/secrets.json`. It is sealed with a key of the system's
/// keychain, if there is one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Store a secret, read from standard input or from a prompt that shows nothing
    ///
    /// From a variable: `printf %s "$TOKEN" | trunkline secret set NAME`.
    Set {
        /// Name of the secret: letters, digits and `._@/-`
        name: String,
    },
    /// List the names of the secrets
    List,
    /// Remove a secret
    Remove {
        /// Name of the secret
        name: String,
    },
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let vault = Vault::find(&context.environment);
    match &args.command {
        Command::Set { name } => set(context, &vault, name),
        Command::List => {
            let names: Vec<String> = vault.read().map_err(|error| failed(&error))?.into_keys().collect();
            if context.output.json {
                let file = vault.path().map_err(|error| failed(&error))?;
                return context.print_json(&json!({"file": file, "secrets": names}));
            }
            let lines: Vec<String> = names.iter().map(|name| format!("{name}\n")).collect();
            context.print(&lines.concat())
        }
        Command::Remove { name } => {
            let removed = vault.change(|secrets| secrets.remove(name)).map_err(|error| failed(&error))?;
            if removed.is_none() {
                return Err(Failure::usage(format!("there is no secret `{name}`"))
                    .hint("`trunkline secret list` shows all names"));
            }
            Ok(Ending::Fine)
        }
    }
}

fn set(context: &Context, vault: &Vault, name: &str) -> Result<Ending, Failure> {
    if !is_secret_name(name) {
        let text = format!("`{name}` cannot name a secret: use up to 128 letters, digits and `._@/-`");
        return Err(Failure::usage(text));
    }
    let file = vault.path().map_err(|error| failed(&error))?.display().to_string();
    let unreadable = |error: io::Error| Failure::usage(format!("the secret cannot be read: {error}"));
    let typed = terminal::hidden_line(&format!("secret {name}: ")).map_err(unreadable)?;
    let secret = if let Some(line) = typed {
        line
    } else {
        let mut text = String::new();
        io::stdin().take(MAX_SECRET + 1).read_to_string(&mut text).map_err(unreadable)?;
        text
    };
    let secret = secret.trim_end_matches(['\r', '\n']);
    if secret.is_empty() || secret.len() as u64 > MAX_SECRET {
        return Err(Failure::usage(format!("a secret has 1 to {MAX_SECRET} bytes"))
            .hint(format!("for example: printf %s \"$TOKEN\" | trunkline secret set {name}")));
    }
    context.environment.concealed.add(secret);
    vault
        .change(|secrets| secrets.insert(name.to_owned(), secret.to_owned()))
        .map_err(|error| failed(&error))?;
    context.screen.note(&format!("stored in {file}; write {{keychain:{name}}} in the configuration"));
    Ok(Ending::Fine)
}

fn failed(error: &VaultError) -> Failure {
    Failure::usage(error.to_string())
}
