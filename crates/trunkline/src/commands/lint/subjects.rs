//! The subjects of `lint`: servers by address, command or name, all configured servers, and files.

use super::{Args, accepted, programs};
use crate::{
    args::TargetWords,
    commands::Context,
    failure::Failure,
    wire::{self, named},
};
use std::path::Path;
use trunkline_client::{ConnectOptions, Target};
use trunkline_config::read_regular_text;
use trunkline_lint::{
    Subject,
    engine::{ConfigSubject, ServerSubject},
    lock_subject,
    wire::Dial,
};
use trunkline_lock::Lock;

/// Maximum size of a configuration file or lock file.
const MAX_FILE: u64 = 64 * 1024 * 1024;

pub(super) fn find(context: &Context, args: &Args) -> Result<Vec<Subject>, Failure> {
    let mut subjects = if args.all { all(context, args)? } else { given(context, args)? };
    if let Some(path) = &args.lock {
        let lock = accepted::read_lock(path)?;
        for subject in &mut subjects {
            if let Subject::Server(server) = subject {
                server.lock = lock_subject(&lock, &server.name, &path.display().to_string());
            }
        }
    }
    Ok(subjects)
}

/// The subjects named on the command line.
fn given(context: &Context, args: &Args) -> Result<Vec<Subject>, Failure> {
    let words: Vec<&[String]> = match (args.words.as_slice(), args.command.is_empty()) {
        (words, true) if words.len() > 1 => words.chunks(1).collect(),
        (words, _) => vec![words],
    };
    let mut subjects = Vec::new();
    for words in words {
        match words {
            [file] if args.command.is_empty() && Path::new(file).is_file() => {
                subjects.extend(in_file(context, args, file)?);
            }
            _ => subjects.push(server(context, args, TargetWords { words, command: &args.command })?),
        }
    }
    Ok(subjects)
}

/// The configuration files, followed by every configured server.
fn all(context: &Context, args: &Args) -> Result<Vec<Subject>, Failure> {
    let configured = named::all(&context.environment, args.config.as_deref())?;
    for (name, why) in &configured.left_out {
        context.screen.note(&format!("`{name}` is skipped: {why}"));
    }
    let mut subjects = Vec::new();
    for path in &configured.files {
        subjects.push(Subject::Config(configuration(context, &path.display().to_string())?));
    }
    for (name, named) in configured.servers {
        let target = named.target.clone();
        let options = named.complete(wire::options(&args.connection, context)?, &args.connection);
        subjects.push(dialled(name, &target, &options)?);
    }
    if subjects.iter().all(|subject| matches!(subject, Subject::Config(_))) && configured.left_out.is_empty()
    {
        let failure = Failure::usage("no server is configured");
        return Err(failure.hint("add one to `trunkline.json`, or see `trunkline config import`"));
    }
    Ok(subjects)
}

/// A configuration file, or the servers pinned by a lock file.
fn in_file(context: &Context, args: &Args, file: &str) -> Result<Vec<Subject>, Failure> {
    let config = configuration(context, file)?;
    if !Lock::is_one(&config.value) {
        // A lock file in another format would otherwise be judged as a configuration without
        // servers.
        if Path::new(file).extension().is_some_and(|extension| extension == "lock") {
            return Err(Failure::usage(format!("{file} is no lock file: it has no `lockfileVersion`"))
                .hint("`trunkline lock` writes one"));
        }
        return Ok(vec![Subject::Config(config)]);
    }
    let lock = accepted::read_lock(Path::new(file))?;
    let mut subjects = Vec::new();
    for name in lock.servers.keys() {
        let mut subject = pinned(context, args, name)?;
        if let Subject::Server(server) = &mut subject {
            server.lock = lock_subject(&lock, name, file);
        }
        subjects.push(subject);
    }
    Ok(subjects)
}

/// A server of a lock file: a configured name or an address. Somebody else may have written the
/// file, so references in it are not expanded, and a command in it is not run.
fn pinned(context: &Context, args: &Args, name: &str) -> Result<Subject, Failure> {
    let options = wire::options(&args.connection, context)?;
    if name.contains("://") {
        let target = Target::url(name).map_err(|bad| Failure::usage(bad.to_string()))?;
        let target = wire::target(target, &args.connection, &context.environment)?;
        return dialled(name.to_owned(), &target, &options);
    }
    let configured = named::find(name, &context.environment)?.ok_or_else(|| {
        Failure::usage(format!(
            "the lock file pins `{name}`, which is neither an address nor a configured server"
        ))
        .hint("give its command after `--`, and the file with --lock")
    })?;
    let target = configured.target.clone();
    dialled(name.to_owned(), &target, &configured.complete(options, &args.connection))
}

fn server(context: &Context, args: &Args, words: TargetWords<'_>) -> Result<Subject, Failure> {
    let split = words.split(&context.environment)?;
    if let Some(word) = split.rest.first() {
        return Err(Failure::usage(format!("unexpected argument `{word}`")));
    }
    let mut options = wire::options(&args.connection, context)?;
    let mut name = context.screen.hide(&split.target.to_string());
    if let Some(configured) = split.configured {
        options = configured.complete(options, &args.connection);
        name.clone_from(&words.words[0]);
    }
    let target = wire::target(split.target, &args.connection, &context.environment)?;
    dialled(name, &target, &options)
}

fn dialled(name: String, target: &Target, options: &ConnectOptions) -> Result<Subject, Failure> {
    let dial = Dial::new(target, options).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Subject::Server(ServerSubject { name, dial, lock: None }))
}

/// A `trunkline.json` or another client's configuration file; comments are allowed.
fn configuration(context: &Context, file: &str) -> Result<ConfigSubject, Failure> {
    let bad = |reason: String| Failure::usage(format!("{file} cannot be read: {reason}"));
    let text = read_regular_text(Path::new(file), MAX_FILE).map_err(|error| bad(error.to_string()))?;
    let config = ConfigSubject::read(file, text).map_err(|error| bad(error.to_string()))?;
    let path = context.environment.get_os("PATH");
    Ok(config.look(|program| programs::is_there(program, path)))
}
