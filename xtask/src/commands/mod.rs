//! The commands, one file each. A new command needs a file with `run` and an entry in
//! [`COMMANDS`].

mod bench;
mod clients;
mod compare;
mod conformance;
mod flicker;
mod fuzz;
mod r#gen;
mod matrix;
mod peers;
mod strangers;
mod test;

use anyhow::{Result, bail};

use crate::arguments::Arguments;
use crate::workspace::Workspace;

struct Command {
    name: &'static str,
    usage: &'static str,
    summary: &'static str,
    run: fn(&Workspace, Arguments) -> Result<()>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        usage: "test",
        summary: "run everything that must pass: fmt, clippy, generated files, tests, conformance",
        run: test::run,
    },
    Command {
        name: "peers",
        usage: "peers",
        summary: "install the test peers (npm, PyPI) into target/peers",
        run: peers::run,
    },
    Command {
        name: "clients",
        usage: "clients",
        summary: "run the suites of clients/typescript (also in a browser) and clients/python",
        run: clients::run,
    },
    Command {
        name: "conformance",
        usage: "conformance client|server [--only NAME]... [--command COMMAND] [--timeout SECONDS]",
        summary: "run the official suites' scenarios for one side; --command replaces our client",
        run: conformance::run,
    },
    Command {
        name: "matrix",
        usage: "matrix [--cell NAME]... [--only SCENARIO]... [--fixture ERA-TRANSPORT=TARGET]... [--as-built] [--write]",
        summary: "run the official suites through `trunkline bridge`, for every pair of eras and every transport",
        run: matrix::run,
    },
    Command {
        name: "compare",
        usage: "compare [--only FAULT]... [--linter NAME]... [--as-built] [--write]",
        summary: "compare our linter with mcp-doctor, mcplint and the Inspector on crates/testkit/faults",
        run: compare::run,
    },
    Command {
        name: "strangers",
        usage: "strangers [--only PACKAGE]... [--as-built] [--write]",
        summary: "install published servers, and compare what they list directly, through the bridge and the gateway",
        run: strangers::run,
    },
    Command {
        name: "flicker",
        usage: "flicker [--servers N] [--runs N] [--only PACKAGE]... [--as-built]",
        summary: "lint published servers again and again, and report every outcome that changes",
        run: flicker::run,
    },
    Command {
        name: "via",
        usage: "via URL",
        summary: "run our conformance client through a bridge to URL; the suites call this for the matrix",
        run: matrix::via,
    },
    Command {
        name: "gen",
        usage: "gen [--check]",
        summary: "write the generated pages of docs/; --check only lists stale ones",
        run: r#gen::run,
    },
    Command {
        name: "fuzz",
        usage: "fuzz [--seconds N] [--only TARGET]...",
        summary: "run each fuzz target for a while (no panic, 512 MB, 1 s of CPU an input)",
        run: fuzz::run,
    },
    Command {
        name: "bench",
        usage: "bench client|serve|gateway|http1|rest|documents FOLDER|audit|timers [--seconds N] [--rounds N] [--concurrency N]... [--only NAME]... [--upstream PROGRAM] [--mode NAME]... [--peers FOLDER] [--harness FOLDER] [--before PROGRAM] [--program PROGRAM] [--scorer FILE]",
        summary: "measure the cost of a call with our client, server and gateway, compared with others",
        run: bench::run,
    },
];

pub(crate) fn dispatch(words: impl Iterator<Item = String>) -> Result<()> {
    let mut arguments = Arguments::new(words);
    let help = arguments.flag("--help") | arguments.flag("-h");
    let name = match arguments.word() {
        Some(name) if name != "help" && !help => name,
        _ => {
            print_help();
            return Ok(());
        }
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        bail!("there is no command {name}; see cargo xtask help");
    };
    (command.run)(&Workspace::find()?, arguments)
}

fn print_help() {
    println!("usage: cargo xtask COMMAND\n");
    for command in COMMANDS {
        println!("  {}\n      {}", command.usage, command.summary);
    }
}
