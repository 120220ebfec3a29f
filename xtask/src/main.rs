//! Development tasks, run as `cargo xtask <command>`; `cargo xtask help` lists them.
//!
//! Every command is one file in `commands/`. The modules next to it are shared by commands: the
//! workspace's paths, processes, the test peers and the conformance suites.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a developer's tool: it prints, and cargo talks to it through the environment"
)]

mod arguments;
#[cfg(test)]
mod attack_ids;
mod commands;
mod compare;
mod conformance;
#[cfg(test)]
mod file_length;
#[cfg(test)]
mod layering;
mod libraries;
mod matrix;
#[cfg(test)]
mod named_files;
#[cfg(test)]
mod one_writer;
mod peers;
mod process;
#[cfg(test)]
mod prose_width;
mod python_client;
mod strangers;
mod summary;
#[cfg(test)]
mod wall_clock;
mod workspace;

use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::dispatch(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
