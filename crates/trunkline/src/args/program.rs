//! Recognizes a command that starts a server and was typed without `--` before it.

use super::Cli;
use crate::{
    environment::Environment,
    wire::named::{self, Lookup},
};
use clap::{Arg, Command, CommandFactory};
use std::{env, ffi::OsString, fs, os::unix::fs::PermissionsExt, path::Path};

/// Subcommands of which everything from the target on may be a command with its arguments.
const WHOLE: [&str; 5] = ["list", "doctor", "lint", "validate", "bridge"];

/// Words before the target of `list`.
const KINDS: [&str; 4] = ["tools", "resources", "templates", "prompts"];

/// Inserts the `--` that was left out before a command: `list npx -y server`. As with `sudo` or
/// `env`, everything after the program belongs to it.
pub(crate) fn with_separator(mut args: Vec<OsString>, environment: &Environment) -> Vec<OsString> {
    if let Some(at) = start_of_command(&args, environment) {
        args.insert(at, "--".into());
    }
    args
}

/// True if the word is neither an address nor the name of a configured server, and a program: a
/// path, or a name found on `PATH`.
fn is_program(word: &str, environment: &Environment) -> bool {
    if word.contains("://") {
        return false;
    }
    if word.contains('/') {
        return is_path(word);
    }
    is_on_path(word, environment) && matches!(named::look_up(word, environment), Lookup::Unknown(_))
}

/// True for the path of a program.
pub(super) fn is_path(word: &str) -> bool {
    word.contains('/') && (word.starts_with(['/', '.']) || Path::new(word).is_file())
}

/// True for the name of a program on `PATH`.
pub(super) fn is_on_path(word: &str, environment: &Environment) -> bool {
    let folders = environment.get_os("PATH").map(|path| env::split_paths(path).collect::<Vec<_>>());
    !word.contains('/')
        && folders.is_some_and(|folders| folders.iter().any(|folder| is_executable(&folder.join(word))))
}

fn start_of_command(args: &[OsString], environment: &Environment) -> Option<usize> {
    let words: Vec<&str> = args.iter().map(|arg| arg.to_str()).collect::<Option<_>>()?;
    let cli = Cli::command();
    let verb = next_positional(&[&cli], &words, 1)?;
    let command = cli.find_subcommand(words[verb]).filter(|_| WHOLE.contains(&words[verb]))?;
    let mut at = next_positional(&[&cli, command], &words, verb + 1)?;
    while words[verb] == "list" && KINDS.contains(&words[at]) {
        at = next_positional(&[&cli, command], &words, at + 1)?;
    }
    let is_file = command.get_name() == "lint" && is_data(Path::new(words[at]));
    (!is_file && is_program(words[at], environment)).then_some(at)
}

/// The next word that is neither an option nor its value; `None` if `--` comes first.
fn next_positional(commands: &[&Command], words: &[&str], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(word) = words.get(at).filter(|word| **word != "--") {
        if !word.starts_with('-') || *word == "-" {
            return Some(at);
        }
        at += 1 + usize::from(takes_next(commands, word));
    }
    None
}

/// True if the word is an option whose value is the next word.
fn takes_next(commands: &[&Command], word: &str) -> bool {
    let find = |is_it: &dyn Fn(&Arg) -> bool| {
        let mut arguments = commands.iter().flat_map(|command| command.get_arguments());
        arguments
            .find(|argument| is_it(argument))
            .is_some_and(|argument| argument.get_action().takes_values() && !argument.is_require_equals_set())
    };
    if let Some(long) = word.strip_prefix("--") {
        return find(&|argument| argument.get_long() == Some(long));
    }
    // The first short option with a value ends the group: `-vH` takes the next word, `-Hx` does
    // not.
    let mut letters = word.chars().skip(1);
    letters.by_ref().any(|letter| find(&|argument| argument.get_short() == Some(letter)))
        && letters.next().is_none()
}

/// True for a configuration or lock file, which `lint` reads instead of starting it.
fn is_data(path: &Path) -> bool {
    let named = path.extension().is_some_and(|kind| kind == "json" || kind == "jsonc" || kind == "lock");
    named || path.is_file() && !is_executable(path)
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn separated(line: &str) -> String {
        let environment = Environment::of([("PATH", "/usr/bin:/bin")]);
        let args = line.split(' ').map(OsString::from).collect();
        let words = with_separator(args, &environment);
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_program_gets_its_separator() {
        for (typed, want) in [
            ("trunkline list sh -y foo", "trunkline list -- sh -y foo"),
            ("trunkline --json list tools ./server.py", "trunkline --json list tools -- ./server.py"),
            ("trunkline lint -e A=b --rule x /bin/sh -c y", "trunkline lint -e A=b --rule x -- /bin/sh -c y"),
            ("trunkline validate -vHx sh", "trunkline validate -vHx -- sh"),
            ("trunkline --color never doctor sh", "trunkline --color never doctor -- sh"),
        ] {
            assert_eq!(separated(typed), want);
        }
    }

    #[test]
    fn everything_else_stays() {
        for typed in [
            "trunkline list http://h/mcp --json",
            "trunkline list tools",
            "trunkline list localhost:3000/mcp",
            "trunkline list no-such-program-at-all",
            "trunkline lint ./trunkline.json",
            "trunkline lint -H sh http://h",
            "trunkline list tools -- sh -c x",
            "trunkline call sh x",
            "trunkline doctor",
            "trunkline",
        ] {
            assert_eq!(separated(typed), typed);
        }
    }
}
