//! Generates `doctor.md`: the steps and the catalogue of causes.

use std::fmt::Write as _;
use trunkline_doctor::{Area, CAUSES, Entry};

const INTRODUCTION: &str = "\
# Doctor

`trunkline doctor <NAME>` (a server of the configuration), `trunkline doctor <URL>` and
`trunkline doctor -- <COMMAND>...` find out why a server does not connect. The doctor checks each step from the program or the address to the first call, shows it with
its time, and stops at the first step that fails: with the evidence (frames, last output, status and
headers, without secrets), the cause, and lines to copy that fix it. Later steps are reported as
*not verified*, never as passed. Then it tries the obvious alternatives (another path, era, scheme,
name, environment) and reports which one works.

Without a target, it checks the setup of this machine: the configuration, the files of other MCP
clients, the keychain, the default port and the configured servers.

Every step has a time limit (`--timeout`, 10 s by default) and a size limit. Nothing that a server
sends is executed, and no host other than the given one is contacted, except for the sign-in metadata
that it names. A tool is called only if it is marked read-only and needs no arguments; `--no-call`
forbids that as well.

Exit status: 0 no problem, 1 a problem after connecting or in the setup, 2 usage error, 3 no
connection. `--json` prints the whole diagnosis: `target`, `reached`, `steps` (`id`, `outcome`,
`detail`, `millis`), `problem` (`cause`, `title`, `summary`, `explanation`, `evidence`, `fix`),
`warnings`, `alternatives`.

`--fix` repairs what can be repaired safely (file permissions). It shows each change, asks first, and
follows no symbolic links.

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
