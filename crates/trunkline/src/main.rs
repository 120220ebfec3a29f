//! Entry point: parses the command line, runs the command, returns the exit code.

mod args;
mod arguments;
mod commands;
mod environment;
mod expand;
mod failure;
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
mod wire;

use args::Cli;
use clap::Parser;
use commands::Context;
use environment::Environment;
use std::{process::ExitCode, sync::Arc};
use terminal::Screen;

/// Calls make many short-lived allocations, which this allocator handles faster than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let environment = Environment::capture();
    let screen = Arc::new(Screen::new(cli.output, &environment));
    let context = Context { environment, screen: screen.clone(), output: cli.output };
    match logging::start(&context).and_then(|()| commands::run(&context, cli.command)) {
        Ok(code) => code.into(),
        Err(failure) => {
            let text = if cli.output.json { format!("{}\n", failure.to_json()) } else { failure.to_text() };
            screen.tell(&text);
            failure.exit_code().into()
        }
    }
}
