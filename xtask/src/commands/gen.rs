//! `cargo xtask gen`: writes or checks the files that are generated.
//!
//! `trunkline __gen DIR` writes `DIR/docs/*.md`, which are checked in and compared here. It also
//! writes completions and man pages, which are not checked in. The Python client without asyncio
//! is made of the one with it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::workspace::Workspace;
use crate::{process, python_client};

/// The treatment of files that differ from the generated ones.
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
    let root = workspace.root();
    let mut files = files(&folder, "docs")?;
    if files.is_empty() {
        bail!("`trunkline __gen` wrote no page");
    }
    files.insert(python_client::SYNC.into(), python_client::synchronous(root)?.into_bytes());
    let differing = differing(&files, root);
    match stale {
        _ if differing.is_empty() => println!("{} generated files are up to date", files.len()),
        Stale::Report => {
            let names: Vec<String> = differing.iter().map(|file| file.display().to_string()).collect();
            bail!("out of date: {}; run cargo xtask gen", names.join(", "));
        }
        Stale::Write => {
            for file in differing {
                write(&root.join(file), &files[file])?;
                println!("wrote {}", file.display());
            }
        }
    }
    Ok(())
}

/// All files under `part` of `folder` with their content, by their path in `folder`.
fn files(folder: &Path, part: &str) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.join(part)];
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

fn differing<'a>(files: &'a BTreeMap<PathBuf, Vec<u8>>, root: &Path) -> Vec<&'a PathBuf> {
    let differs =
        |(file, content): &(&PathBuf, &Vec<u8>)| fs::read(root.join(file)).ok().as_ref() != Some(*content);
    files.iter().filter(differs).map(|(file, _)| file).collect()
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
        let (made, root) = (folder.path().join("made"), folder.path().join("root"));
        for (page, generated, kept) in [
            ("docs/same.md", "1", Some("1")),
            ("docs/changed.md", "2", Some("old")),
            ("docs/sub/missing.md", "3", None),
        ] {
            write(&made.join(page), generated.as_bytes()).unwrap();
            if let Some(kept) = kept {
                write(&root.join(page), kept.as_bytes()).unwrap();
            }
        }
        write(&made.join("man/other.1"), b"not checked in").unwrap();
        write(&root.join("docs/by-hand.md"), b"not generated").unwrap();
        let files = files(&made, "docs").unwrap();
        assert_eq!(
            differing(&files, &root),
            [Path::new("docs/changed.md"), Path::new("docs/sub/missing.md")]
        );
    }
}
