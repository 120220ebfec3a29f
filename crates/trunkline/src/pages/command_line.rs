//! Generates `cli.md`: all commands, options and environment variables.

use super::manual::is_documented;
use crate::environment::VARIABLES;
use clap::{Arg, ArgAction, Command};
use std::fmt::Write as _;

const INTRODUCTION: &str = "\
# Command line

Generated from the program itself (`cargo xtask gen`). `trunkline help`, `trunkline man` and the
scripts of `trunkline completions` contain the same text.
";

pub(crate) fn command_line(mut program: Command) -> String {
    program.build();
    let commands: Vec<&Command> =
        program.get_subcommands().filter(|command| is_documented(command)).collect();
    let mut page = format!("{INTRODUCTION}\n{}\n\n| Command | |\n|---|---|\n", about(&program));
    for command in &commands {
        let name = command.get_name();
        let short = command.get_about().map(|about| in_cell(&about.to_string())).unwrap_or_default();
        line(&mut page, &format!("| [`{name}`](#{name}) | {short} |"));
    }
    if let Some(after) = program.get_after_long_help() {
        line(&mut page, &format!("\n```text\n{after}\n```"));
    }
    line(&mut page, "\n## Options of every command");
    options(&mut page, program.get_arguments());
    line(&mut page, "\n## Options of every command that connects");
    options(
        &mut page,
        commands.iter().take(1).flat_map(|list| list.get_arguments()).filter(|arg| is_shared(arg)),
    );
    for command in commands {
        describe(&mut page, command, command.get_name());
        for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
            describe(&mut page, below, &format!("{} {}", command.get_name(), below.get_name()));
        }
    }
    line(&mut page, "\n## Environment\n\n| Variable | |\n|---|---|");
    for variable in VARIABLES {
        line(&mut page, &format!("| `{}` | {} |", variable.name, variable.meaning));
    }
    page
}

fn describe(page: &mut String, command: &Command, name: &str) {
    let usage = command.clone().render_usage().to_string();
    let usage: Vec<&str> = usage.trim_start_matches("Usage:").lines().map(str::trim).collect();
    let (about, usage) = (about(command), usage.join("\n"));
    line(page, &format!("\n## {name}\n\n{about}\n\n```text\n{usage}\n```"));
    let own = command.get_arguments().filter(|arg| !arg.is_global_set() && !is_shared(arg));
    let (positional, named): (Vec<&Arg>, Vec<&Arg>) = own.partition(|arg| arg.is_positional());
    options(page, positional.into_iter());
    options(page, named.into_iter());
}

/// Headings of the options shared by all commands that connect.
const SHARED: [&str; 2] = ["Connection", "Answers to the server's questions"];

fn is_shared(arg: &Arg) -> bool {
    arg.get_help_heading().is_some_and(|heading| SHARED.contains(&heading))
}

/// Writes one table per heading.
fn options<'a>(page: &mut String, args: impl Iterator<Item = &'a Arg>) {
    let mut heading = "";
    for arg in args.filter(|arg| !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version")) {
        let usual = if arg.is_positional() { "Arguments" } else { "Options" };
        let own = arg.get_help_heading().unwrap_or(usual);
        if heading != own {
            heading = own;
            line(page, &format!("\n| {own} | |\n|---|---|"));
        }
        line(page, &format!("| {} | {} |", spelled(arg), help(arg)));
    }
}

fn spelled(arg: &Arg) -> String {
    let values: Vec<String> =
        arg.get_value_names().unwrap_or_default().iter().map(|name| format!("<{name}>")).collect();
    if arg.is_positional() {
        let dashes = if arg.is_last_set() { "-- " } else { "" };
        return format!("`{dashes}{}`", values.join(" "));
    }
    let mut names: Vec<String> = arg.get_short().map(|short| format!("-{short}")).into_iter().collect();
    names.extend(arg.get_long().map(|long| format!("--{long}")));
    let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let values = if takes { format!(" {}", values.join(" ")) } else { String::new() };
    format!("`{}{values}`", names.join(", "))
}

fn help(arg: &Arg) -> String {
    let mut text = arg.get_help().map(|help| in_cell(&help.to_string())).unwrap_or_default();
    let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let choices: Vec<String> = arg
        .get_possible_values()
        .iter()
        .filter(|_| takes)
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !choices.is_empty() {
        write!(text, " ({})", choices.join(", ")).expect("a String takes any text");
    }
    let defaults: Vec<String> = arg
        .get_default_values()
        .iter()
        .filter(|_| takes)
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    if !defaults.is_empty() {
        write!(text, " [default: {}]", defaults.join(", ")).expect("a String takes any text");
    }
    text
}

fn about(command: &Command) -> String {
    command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default()
}

/// Escapes `|`, which ends a table cell even between backticks.
fn in_cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn line(page: &mut String, text: &str) {
    page.push_str(text);
    page.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_option_and_variable_is_there() {
        let page = command_line(Cli::command());
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            assert!(page.contains(&format!("\n## {}\n", command.get_name())), "{}", command.get_name());
            for long in command.get_arguments().filter_map(Arg::get_long) {
                assert!(page.contains(&format!("--{long}")), "--{long}");
            }
        }
        for variable in VARIABLES {
            assert!(page.contains(&format!("| `{}` |", variable.name)), "{}", variable.name);
        }
        assert!(!page.contains("__gen"), "hidden commands stay hidden");
    }
}
