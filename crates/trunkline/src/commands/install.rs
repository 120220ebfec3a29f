//! `install` and `uninstall`: write Trunkline into the file of another client.

use super::{
    Context, Ending,
    edit_file::{Consent, change, content},
};
use crate::{environment, failure::Failure, wire::settings};
use std::path::{Path, PathBuf};
use trunkline_config::import::{Client, Connection, Machine, NotInstalled};

#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// Client, such as `cursor`, `claude-code` or `vscode`
    #[arg(value_name = "CLIENT", value_parser = client)]
    client: Client,
    /// Address of a running gateway, such as `http://127.0.0.1:8425/mcp` [default: the client
    /// starts `trunkline serve --stdio` itself]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    file: FileArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UninstallArgs {
    /// Client, such as `cursor`, `claude-code` or `vscode`
    #[arg(value_name = "CLIENT", value_parser = client)]
    client: Client,
    #[command(flatten)]
    file: FileArgs,
}

#[derive(Debug, clap::Args)]
struct FileArgs {
    /// File of the client [default: the user's file]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Change the file without asking
    #[arg(long)]
    yes: bool,
}

pub(crate) fn install(context: &Context, args: &InstallArgs) -> Result<Ending, Failure> {
    let path = args.file.path(context, args.client)?;
    let before = content(&path)?;
    let connection = match &args.url {
        Some(url) => Connection::Address(url.clone()),
        None => Connection::Program {
            command: our_program()?,
            arguments: ["serve", "--stdio"].map(str::to_owned).to_vec(),
        },
    };
    let after = args.client.installed(before.as_deref(), &connection).map_err(|bad| refused(&path, &bad))?;
    change(context, &path, before.as_deref(), &after, args.file.consent())
}

pub(crate) fn uninstall(context: &Context, args: &UninstallArgs) -> Result<Ending, Failure> {
    let path = args.file.path(context, args.client)?;
    let before = content(&path)?.unwrap_or_default();
    let after = match before.trim() {
        "" => None,
        _ => args.client.uninstalled(&before).map_err(|bad| refused(&path, &bad))?,
    };
    let Some(after) = after else {
        return Err(Failure::usage(format!("{} does not name Trunkline", path.display())));
    };
    change(context, &path, Some(&before), &after, args.file.consent())
}

impl FileArgs {
    fn path(&self, context: &Context, client: Client) -> Result<PathBuf, Failure> {
        let environment = &context.environment;
        let machine = Machine {
            home: settings::home(environment),
            config_home: environment.get_directory(environment::CONFIG_HOME),
            app_data: environment.get_directory(environment::APP_DATA),
            directory: settings::directory()?,
        };
        if let Some(file) = &self.file {
            return Ok(machine.directory.join(file));
        }
        let none = || Failure::usage("there is no home directory; name the client's file with --file");
        client.user_file(&machine).ok_or_else(none)
    }

    fn consent(&self) -> Consent {
        Consent::of(self.yes)
    }
}

/// The path of this program: clients do not have the same `PATH` as a shell.
fn our_program() -> Result<String, Failure> {
    let path = std::env::current_exe()
        .map_err(|error| Failure::usage(format!("the path of this program is unknown: {error}")))?;
    Ok(path.display().to_string())
}

fn refused(path: &Path, bad: &NotInstalled) -> Failure {
    Failure::usage(format!("{} is not changed: {bad}", path.display()))
}

pub(crate) fn client(text: &str) -> Result<Client, String> {
    text.parse::<Client>().map_err(|error| {
        let names: Vec<&str> = Client::ALL.iter().map(|client| client.name()).collect();
        format!("{error}: {}", names.join(", "))
    })
}
