//! `__gen`: writes the files that are generated from the program itself.

use super::Ending;
use crate::{args::Cli, failure::Failure, pages};
use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Write reference pages, completions and manual pages
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<Ending, Failure> {
    let failed =
        |error: io::Error| Failure::usage(format!("{} cannot be written: {error}", args.folder.display()));
    write_all(&args.folder).map(|()| Ending::Fine).map_err(failed)
}

fn write_all(folder: &Path) -> io::Result<()> {
    let [docs, completions, man] = ["docs", "completions", "man"].map(|name| folder.join(name));
    for folder in [&docs, &completions, &man] {
        fs::create_dir_all(folder)?;
    }
    fs::write(docs.join("cli.md"), pages::command_line(Cli::command()))?;
    fs::write(docs.join("doctor.md"), pages::doctor())?;
    fs::write(docs.join("errors.md"), pages::errors())?;
    fs::write(docs.join("configuration.md"), trunkline_config::reference_page())?;
    fs::write(docs.join("trunkline.schema.json"), trunkline_config::schema_json())?;
    let schema = serde_json::to_string_pretty(&trunkline_lint::report::schema())?;
    fs::write(docs.join("lint-report.schema.json"), schema + "\n")?;
    let rules = docs.join("rules");
    fs::create_dir_all(&rules)?;
    fs::write(rules.join("README.md"), trunkline_lint::report::index())?;
    for rule in trunkline_lint::rules::all() {
        fs::write(rules.join(format!("{}.md", rule.name)), trunkline_lint::report::page(rule))?;
    }
    for shell in Shell::value_variants() {
        clap_complete::generate_to(*shell, &mut Cli::command(), "trunkline", &completions)?;
    }
    for (name, page) in pages::manual(Cli::command()) {
        fs::write(man.join(format!("{name}.1")), page)?;
    }
    Ok(())
}
