//! `doctor.md`: the steps and the catalogue of causes.

use std::fmt::Write as _;
use trunkline_doctor::{Area, CAUSES, Entry};

const INTRODUCTION: &str = "\
# Doctor

`trunkline doctor <URL>` and `trunkline doctor -- <COMMAND>...` find out why a server does not connect. The examination goes step by step from the
program or the address to the first call, shows each step with its time, and stops at the first broken one: with the evidence (frames, last words,
status and headers, without secrets), the cause, and lines to copy that mend it. Steps behind it are *not verified*, which is never the same as passed.
Then the obvious alternatives are tried (another path, era, scheme, name, environment), and the report says which one works.

Without a target, the set-up of this machine is checked: the configuration, the files of other MCP clients, the keychain, the default port.

Every step is limited in time (`--timeout`, 10 s unless told otherwise) and in bytes. Nothing that a server says is run, and no other host than the one
you name is asked, except for the sign-in metadata that it names. A tool is called only if it says that it only reads and needs no arguments;
`--no-call` forbids that, too.

Exit status: 0 fine, 1 a problem behind a working connection, 2 usage, 3 no connection. `--json` prints the whole diagnosis: `target`, `reached`,
`steps` (`id`, `outcome`, `detail`, `millis`), `problem` (`cause`, `title`, `summary`, `explanation`, `evidence`, `fix`), `warnings`, `alternatives`.

`--fix` mends what can be mended safely (permissions of files). It shows the change first, asks, and follows no links.

This page is generated from the catalogue in `crates/doctor/src/cause.rs`.
";

pub(crate) fn doctor() -> String {
    let mut page = INTRODUCTION.to_owned();
    for area in Area::ALL {
        write!(page, "\n## {}\n", area.title()).expect("a String takes any text");
        for (_, entry) in CAUSES.iter().filter(|(_, entry)| entry.area == area) {
            page.push_str(&section(entry));
        }
    }
    page
}

fn section(entry: &Entry) -> String {
    let Entry { id, title, explanation, fix, .. } = entry;
    format!("\n### {id}\n\n**{title}.** {explanation}\n\n- What to do: {fix}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_its_section() {
        let page = doctor();
        for (_, entry) in CAUSES {
            assert!(page.contains(&format!("\n### {}\n", entry.id)), "{}", entry.id);
        }
    }
}
