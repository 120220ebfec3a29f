//! `config import`: shows the servers configured in other clients and, with `--write`, imports
//! them.

mod report;

use crate::{
    commands::{Context, Ending},
    environment::{self, Environment},
    failure::Failure,
    wire::settings,
};
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};
use trunkline_config::{
    FILE_NAME, Problem,
    import::{
        Client, ClientFile, Found, Machine, Outcome, Plan, Scope, SecretFile, insert, plan as decide, read,
    },
    jsonc, read_regular_text, replace, write_secret,
};

/// Import the servers configured in other clients
///
/// Shows the servers found and the resulting configuration; nothing is written without --write.
/// Secrets in a client's file are replaced by references to environment variables, or to files
/// with --move-secrets; they are never shown.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Clients to import from, such as `cursor` or `claude-code` [default: all]
    #[arg(value_name = "CLIENT", value_parser = crate::commands::install::client)]
    clients: Vec<Client>,
    /// Import from this file of CLIENT; without CLIENT, the client is guessed
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// File to import into [default: `trunkline/trunkline.json` in the user's configuration
    /// directory]
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Also import the servers of project files, such as `.mcp.json`, in the current directory or
    /// above it. Whoever wrote the project chose what they start
    #[arg(long)]
    project: bool,
    /// Write the file; a backup of its previous content is kept next to it
    #[arg(long)]
    write: bool,
    /// Store secrets in files next to the configuration that only you can read, instead of
    /// environment variables that you have to set
    #[arg(long)]
    move_secrets: bool,
}

/// The result of an import, before it is written.
struct Import {
    target: PathBuf,
    before: Option<String>,
    after: String,
    plan: Plan,
    secrets: Vec<SecretFile>,
    /// Client files that cannot be read.
    problems: Vec<Problem>,
    files: Vec<ClientFile>,
    /// Variables that are needed and not set, with the servers that need them.
    missing: BTreeMap<String, Vec<String>>,
}

pub(crate) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let import = prepare(args, &context.environment)?;
    let mut backup = None;
    let writes = args.write && import.plan.adds();
    if writes {
        for file in &import.secrets {
            let path = beside(&import.target, &file.path);
            write_secret(&path, &file.value).map_err(|error| unwritable(&path, &error))?;
        }
        backup = replace(&import.target, import.before.as_deref(), &import.after)
            .map_err(|error| unwritable(&import.target, &error))?;
    }
    let written = report::Written { done: writes, backup };
    if context.output.json {
        context.print_json(&report::json(&import, &written))?;
    } else {
        context.print(&report::text(&import, &written))?;
    }
    match (&args.from, import.problems.is_empty()) {
        (Some(from), false) => Err(Failure::usage(format!("{} cannot be read", from.display()))),
        _ => Ok(Ending::Fine),
    }
}

fn prepare(args: &Args, environment: &Environment) -> Result<Import, Failure> {
    let machine = Machine {
        home: settings::home(environment),
        config_home: environment.get_directory(environment::CONFIG_HOME),
        app_data: environment.get_directory(environment::APP_DATA),
        directory: settings::directory()?,
    };
    let target = target(args, environment, &machine)?;
    let files = files(args, &machine)?;
    let (mut found, mut problems): (Vec<Found>, Vec<Problem>) = (Vec::new(), Vec::new());
    for file in &files {
        let text =
            read_regular_text(&file.path, MAX_BYTES).map_err(|error| unreadable(&file.path, &error))?;
        match read(file, &text, &machine.directory) {
            Ok(servers) => found.extend(servers),
            Err(told) => problems.extend(told),
        }
    }
    let before = match read_regular_text(&target, MAX_BYTES) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(unreadable(&target, &error)),
    };
    let broken = || {
        Failure::usage(format!("{} is not a valid configuration file", target.display()))
            .hint(format!("see `trunkline config check {}`", target.display()))
    };
    let tree = match &before {
        Some(text) if !text.trim().is_empty() => Some(jsonc::parse(text, 0).map_err(|_| broken())?),
        _ => None,
    };
    // A stranger's project must neither add servers nor take the names of the user's own.
    let is_wanted = |found: &Found| found.file.scope == Scope::User || args.from.is_some();
    let (mut own, of_project): (Vec<Found>, Vec<Found>) = found.into_iter().partition(is_wanted);
    let left_out = if args.project {
        own.extend(of_project);
        Vec::new()
    } else {
        of_project
    };
    let mut plan = decide(own, tree.as_ref());
    plan.leave_out(decide(left_out, tree.as_ref()));
    let secrets = if args.move_secrets { plan.secrets_to_files() } else { Vec::new() };
    let after = insert(before.as_deref(), &plan).map_err(|_| broken())?;
    let missing = missing(&plan, environment);
    Ok(Import { target, before, after, plan, secrets, problems, files, missing })
}

fn missing(plan: &Plan, environment: &Environment) -> BTreeMap<String, Vec<String>> {
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for planned in plan.servers.iter().filter(|planned| planned.outcome == Outcome::Added) {
        for variable in planned.variables().into_iter().filter(|name| environment.get(name).is_none()) {
            missing.entry(variable).or_default().push(planned.name.clone());
        }
    }
    missing
}

fn target(args: &Args, environment: &Environment, machine: &Machine) -> Result<PathBuf, Failure> {
    if let Some(to) = &args.to {
        return Ok(machine.directory.join(to));
    }
    let directory = settings::user_directory(environment).ok_or_else(|| {
        Failure::usage("there is no home directory to keep the configuration in")
            .hint("name a file with --to")
    })?;
    Ok(directory.join(FILE_NAME))
}

/// Maximum size of a client's file; some clients keep their history in it, too.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The files to read.
fn files(args: &Args, machine: &Machine) -> Result<Vec<ClientFile>, Failure> {
    let Some(from) = &args.from else {
        let clients = if args.clients.is_empty() { &Client::ALL[..] } else { &args.clients };
        return Ok(clients.iter().flat_map(|client| client.files(machine)).collect());
    };
    let path = machine.directory.join(from);
    let text = read_regular_text(&path, MAX_BYTES).map_err(|error| unreadable(&path, &error))?;
    let client = match args.clients.as_slice() {
        [] => Client::guess(&path, &text).ok_or_else(|| {
            Failure::usage(format!("cannot tell which client {} belongs to", path.display()))
                .hint("name the client before --from")
        })?,
        [client] => *client,
        _ => return Err(Failure::usage("--from is one file of one client; name only one")),
    };
    // A file in a project's tree is the project's; one below the home directory is the user's.
    let known = client.files(machine).into_iter().find(|known| known.path == path);
    let scope = known.map_or(Scope::User, |known| known.scope);
    Ok(vec![ClientFile { client, scope, path }])
}

fn beside(target: &Path, path: &str) -> PathBuf {
    target.parent().unwrap_or(Path::new(".")).join(path)
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("{} cannot be read: {error}", path.display()))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("{} cannot be written: {error}", path.display()))
}
