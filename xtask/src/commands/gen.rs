//! `cargo xtask gen`: writes or checks the pages of `docs/` that the binary generates.
//!
//! `trunkline __gen DIR` writes `DIR/docs/*.md`, which are checked in and compared here. It also
//! writes completions and man pages, which are not checked in.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::process;
use crate::workspace::Workspace;

/// What to do with pages that differ from the generated ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stale {
    Report,
    Write,
}

pub(super) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let stale = if arguments.flag("--check") { Stale::Report } else { Stale::Write };
    arguments.finish()?;
    process::run(&mut workspace.cargo(&["build", "--package", "trunkline", "--bin", "trunkline"]))?;
    generate(workspace, stale)
}

/// Returns an error if a checked-in page differs from the output of the already built binary.
pub(super) fn check(workspace: &Workspace) -> Result<()> {
    generate(workspace, Stale::Report)
}

fn generate(workspace: &Workspace, stale: Stale) -> Result<()> {
    let folder = workspace.target().join("gen");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    process::run(Command::new(workspace.binary()).arg("__gen").arg(&folder))?;
    let pages = pages(&folder.join("docs"))?;
    if pages.is_empty() {
        bail!("`trunkline __gen` wrote no page");
    }
    let docs = workspace.root().join("docs");
    let differing = differing(&pages, &docs);
    match stale {
        _ if differing.is_empty() => println!("{} generated pages are up to date", pages.len()),
        Stale::Report => {
            let names: Vec<String> =
                differing.iter().map(|page| format!("docs/{}", page.display())).collect();
            bail!("out of date: {}; run cargo xtask gen", names.join(", "));
        }
        Stale::Write => {
            for page in differing {
                write(&docs.join(page), &pages[page])?;
                println!("wrote docs/{}", page.display());
            }
        }
    }
    Ok(())
}

/// All files under `folder` with their content, by their path in it.
fn pages(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = fs::read_dir(&next).with_context(|| format!("{} is not there", next.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(folder)?.to_owned(), fs::read(&path)?);
            }
        }
    }
    Ok(found)
}

fn differing<'a>(pages: &'a BTreeMap<PathBuf, Vec<u8>>, docs: &Path) -> Vec<&'a PathBuf> {
    let differs =
        |(page, content): &(&PathBuf, &Vec<u8>)| fs::read(docs.join(page)).ok().as_ref() != Some(*content);
    pages.iter().filter(differs).map(|(page, _)| page).collect()
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content).with_context(|| format!("{} cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_and_changed_pages_differ_and_others_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let (made, docs) = (folder.path().join("made"), folder.path().join("docs"));
        for (page, generated, kept) in
            [("same.md", "1", Some("1")), ("changed.md", "2", Some("old")), ("sub/missing.md", "3", None)]
        {
            write(&made.join(page), generated.as_bytes()).unwrap();
            if let Some(kept) = kept {
                write(&docs.join(page), kept.as_bytes()).unwrap();
            }
        }
        write(&docs.join("by-hand.md"), b"not generated").unwrap();
        let pages = pages(&made).unwrap();
        assert_eq!(differing(&pages, &docs), [Path::new("changed.md"), Path::new("sub/missing.md")]);
    }
}
