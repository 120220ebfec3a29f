//! Entry point: parses the command line, runs the command, returns the exit code.

mod args;
mod arguments;
mod commands;
mod concealed;
mod containment;
mod environment;
mod expand;
mod failure;
mod keychain;
mod listening;
mod logging;
mod output;
mod pages;
mod remembered;
mod render;
mod runtime;
mod session;
mod stop;
mod telemetry;
mod terminal;
mod unresolved;
mod vault;
mod wire;

use args::{Cli, OutputArgs};
use clap::Parser;
use commands::Context;
use environment::Environment;
use std::{process::ExitCode, sync::Arc};
use terminal::Screen;

/// Calls make many short-lived allocations, which this allocator handles faster than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = containment::as_supervisor() {
        return code;
    }
    #[cfg(feature = "documents")]
    if let Some(code) = containment::as_converter() {
        return code;
    }
    containment::start();
    let environment = Environment::capture();
    let typed = args::with_separator(std::env::args_os().collect(), &environment);
    let cli = match Cli::try_parse_from(typed) {
        Ok(cli) => cli,
        Err(usage) => return tell_usage(&usage, &environment),
    };
    let screen = Arc::new(Screen::new(cli.output, &environment));
    let context = Context { environment, screen: screen.clone(), output: cli.output };
    match logging::start(&context).and_then(|()| commands::run(&context, cli.command)) {
        Ok(code) => code.into(),
        Err(failure) => {
            if cli.output.json {
                screen.tell_json(failure.to_json());
            } else {
                screen.tell(&failure.to_text());
            }
            failure.exit_code().into()
        }
    }
}

/// Prints a help page to standard output, or a usage error to standard error.
fn tell_usage(usage: &clap::Error, environment: &Environment) -> ExitCode {
    let screen = Screen::new(OutputArgs::default(), environment);
    let text = usage.render().ansi().to_string();
    if usage.use_stderr() {
        screen.tell(&text);
    } else {
        // A reader that closed the pipe has had enough.
        screen.data(&text).unwrap_or_default();
    }
    u8::try_from(usage.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}
