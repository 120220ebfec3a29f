//! The files that configured servers and hooks run: programs, and scripts for an interpreter.
//! A process that can change them controls the server, so our own tools must not.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{HookRun, Local, Reach, Secret, Settings};

/// Programs that run a file that an argument names. Versions such as `python3.12` match, too.
const INTERPRETERS: [&str; 24] = [
    "bash", "bun", "bunx", "dash", "deno", "dotnet", "fish", "java", "ksh", "lua", "node", "nodejs", "npx",
    "perl", "php", "pwsh", "python", "ruby", "sh", "ts-node", "tsx", "uv", "uvx", "zsh",
];

/// Programs that run another one, which an argument names.
const WRAPPERS: [&str; 4] = ["env", "nice", "nohup", "timeout"];

/// The files that the local servers and hooks run. Program files need not exist.
pub(crate) fn files(settings: &Settings, variables: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let local = settings.servers.values().filter_map(|server| match &server.reach {
        Reach::Local(local) => Some(local),
        Reach::Remote(_) | Reach::Builtin(_) | Reach::Unusable(_) => None,
    });
    let hooks = settings.hooks.values().flat_map(|hook| match &hook.run {
        HookRun::Command(words) => of_hook(words),
        HookRun::Endpoint { .. } => Vec::new(),
    });
    local.flat_map(|local| of(local, variables)).chain(hooks).collect()
}

/// The program of a hook, and its arguments that are files.
fn of_hook(words: &[String]) -> Vec<PathBuf> {
    let paths = words.iter().map(PathBuf::from).enumerate();
    paths.filter(|(at, path)| *at == 0 || path.is_file()).map(|(_, path)| path).collect()
}

fn of(local: &Local, variables: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let given = local.environment.get("PATH").map(Secret::expose);
    let path = given.or_else(|| variables.get("PATH").map(String::as_str)).unwrap_or_default();
    let name = local.program.expose();
    let mut files = program(name, &local.directory, path);
    if is_named(&INTERPRETERS, name) || is_named(&WRAPPERS, name) {
        let words = local.arguments.iter().map(Secret::expose);
        // Also `--require=./hook.js`.
        let parts = words.flat_map(|word| [Some(word), word.split_once('=').map(|(_, value)| value)]);
        let paths = parts.flatten().map(|word| local.directory.join(word));
        files.extend(paths.filter(|path| path.is_file()));
    }
    files
}

/// The program's file. A bare name is looked up in `PATH`: every place before the one where it is
/// found counts as well, because a file there would be run instead.
fn program(program: &str, directory: &Path, path: &str) -> Vec<PathBuf> {
    if program.contains('/') {
        return vec![directory.join(program)];
    }
    let mut files = Vec::new();
    for place in std::env::split_paths(path) {
        files.push(directory.join(place).join(program));
        if files.last().is_some_and(|file| file.is_file()) {
            break;
        }
    }
    files
}

fn is_named(names: &[&str], program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    let bare = name.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.');
    names.contains(&bare)
}
