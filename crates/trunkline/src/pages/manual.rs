//! Generates manual pages, one for the program and one for each command.

use clap::Command;
use clap_mangen::Man;

const TITLE: &str = "trunkline";
const SOURCE: &str = concat!("trunkline ", env!("CARGO_PKG_VERSION"));

/// Returns names without suffix, and pages in roff.
pub(crate) fn manual(mut program: Command) -> Vec<(String, String)> {
    program.build();
    let commands: Vec<Command> =
        program.get_subcommands().filter(|command| is_documented(command)).cloned().collect();
    let named = commands.into_iter().map(|command| {
        let name = format!("{}-{}", program.get_name(), command.get_name());
        (name.clone(), page(command, &name))
    });
    let mut pages: Vec<(String, String)> = named.collect();
    pages.insert(0, (program.get_name().to_owned(), page(program, TITLE)));
    pages
}

pub(super) fn is_documented(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

fn page(command: Command, title: &str) -> String {
    let mut roff = Vec::new();
    Man::new(command).title(title).source(SOURCE).date("").render(&mut roff).expect("a Vec takes any bytes");
    String::from_utf8_lossy(&roff).into_owned()
}
