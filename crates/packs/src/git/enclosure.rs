//! Checks that links and alternate object stores of a git directory stay inside the roots.

use std::{
    collections::VecDeque,
    fs,
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
};

use super::{
    boundary::{Roots, leads_outside},
    discovery::Layout,
};
use trunkline_toolbox::ToolError;

/// Maximum length of a chain of alternate object stores; the same as in git.
const ALTERNATES_DEPTH: usize = 5;

/// Maximum size of the list of alternate object stores.
const ALTERNATES_SIZE: u64 = 64 * 1024;

/// Maximum size of the list of reference tables.
const TABLES_SIZE: u64 = 1024 * 1024;

/// Maximum number of files and directories examined in one repository.
const ENTRIES: usize = 250_000;

/// Maximum length of a chain of links.
const LINKS: usize = 16;

/// Directories of a git directory whose files git reads. A link anywhere in them could expose a
/// file from outside as a reference, a log, the path of a worktree, or an object.
const READ: [&str; 8] =
    ["refs", "logs", "info", "worktrees", "reftable", "rebase-merge", "rebase-apply", "sequencer"];

/// Files of a work tree that most commands open, in any directory.
const OF_WORK_TREE: [&str; 3] = [".gitattributes", ".gitignore", ".gitmodules"];

/// Maximum number of entries of a work tree that are examined, from the top down. Beyond it, a pipe
/// ends in git's deadline.
const WORK_TREE_ENTRIES: usize = 50_000;

/// Refuses a repository with a link or an alternate object store that leads out of the roots.
pub(super) fn check(roots: &Roots, layout: &Layout) -> Result<(), ToolError> {
    let mut walk = Walk { roots, left: ENTRIES };
    walk.references(layout)?;
    layout.top.as_deref().map_or(Ok(()), work_tree)?;
    walk.store(&layout.common_dir.join("objects"), ALTERNATES_DEPTH)
}

/// Refuses a work tree in which a file that git opens is a pipe or a device.
fn work_tree(top: &Path) -> Result<(), ToolError> {
    let mut waiting = VecDeque::from([top.to_owned()]);
    let mut left = WORK_TREE_ENTRIES;
    while let Some(directory) = waiting.pop_front() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            left -= 1;
            if left == 0 {
                return Ok(());
            }
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if kind.is_dir() && name != ".git" {
                waiting.push_back(entry.path());
            } else if is_blocking(kind) && OF_WORK_TREE.iter().any(|known| name == *known) {
                let path = entry.path();
                let shown = path.strip_prefix(top).unwrap_or(&path).display();
                return Err(not_regular(&format!("`{shown}`")));
            }
        }
    }
    Ok(())
}

/// Same as [`check`], for a repository of which git reads only references.
pub(super) fn check_references(roots: &Roots, layout: &Layout) -> Result<(), ToolError> {
    Walk { roots, left: ENTRIES }.references(layout)
}

/// Depth to which a directory is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Its own entries.
    Here,
    /// Everything below it, through this many more links.
    Below(usize),
}

#[derive(Debug)]
struct Walk<'a> {
    roots: &'a Roots,
    left: usize,
}

impl Walk<'_> {
    /// Everything in the git directory and the common directory but the objects.
    fn references(&mut self, layout: &Layout) -> Result<(), ToolError> {
        let linked = (layout.common_dir != layout.git_dir).then_some(&layout.common_dir);
        for directory in [&layout.git_dir].into_iter().chain(linked) {
            self.directory(directory, Depth::Here)?;
            for name in READ {
                self.tree(&directory.join(name))?;
            }
            tables(&directory.join("reftable/tables.list"))?;
        }
        Ok(())
    }

    /// Everything below `directory`, which may be missing.
    fn tree(&mut self, directory: &Path) -> Result<(), ToolError> {
        if directory.symlink_metadata().is_err() {
            return Ok(());
        }
        let real = self.real(directory)?;
        if real.is_dir() { self.directory(&real, Depth::Below(LINKS)) } else { Ok(()) }
    }

    fn directory(&mut self, directory: &Path, depth: Depth) -> Result<(), ToolError> {
        let mut waiting = vec![(directory.to_owned(), depth)];
        while let Some((directory, depth)) = waiting.pop() {
            // Git runs as the same user, so it cannot read this directory either.
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            for entry in entries.flatten() {
                self.left = self.left.checked_sub(1).ok_or_else(too_many)?;
                let Ok(kind) = entry.file_type() else { continue };
                let links = match depth {
                    Depth::Here => None,
                    Depth::Below(links) => Some(links),
                };
                if kind.is_symlink() {
                    let real = self.real(&entry.path())?;
                    fs::metadata(&real).map_or(Ok(()), |target| opens_at_once(target.file_type()))?;
                    if let (Some(links), true) = (links, real.is_dir()) {
                        let links = links.checked_sub(1).ok_or_else(leads_outside)?;
                        waiting.push((real, Depth::Below(links)));
                    }
                } else if let (Some(_), true) = (links, kind.is_dir()) {
                    waiting.push((entry.path(), depth));
                } else {
                    opens_at_once(kind)?;
                }
            }
        }
        Ok(())
    }

    /// The resolved `path`. A dangling link is refused, because git could write through it.
    fn real(&self, path: &Path) -> Result<PathBuf, ToolError> {
        fs::canonicalize(path).ok().filter(|real| self.roots.contain(real)).ok_or_else(leads_outside)
    }

    fn store(&mut self, objects: &Path, depth: usize) -> Result<(), ToolError> {
        let objects = self.real(objects)?;
        self.directory(&objects, Depth::Below(LINKS))?;
        let list = objects.join("info/alternates");
        let Ok(metadata) = fs::metadata(&list) else { return Ok(()) };
        if depth == 0 || !metadata.is_file() || metadata.len() > ALTERNATES_SIZE {
            return Err(leads_outside());
        }
        let text = fs::read_to_string(&list).map_err(|_| leads_outside())?;
        // Split like in git, where a carriage return is part of the path.
        for line in text.split('\n').filter(|line| !line.is_empty() && !line.starts_with('#')) {
            // A quoted entry would need git's own unquoting, so it is refused.
            if line.starts_with('"') {
                return Err(leads_outside());
            }
            self.store(&objects.join(line), depth - 1)?;
        }
        Ok(())
    }
}

/// Refuses a list of reference tables that names a file in another directory.
fn tables(list: &Path) -> Result<(), ToolError> {
    match fs::metadata(list) {
        Ok(metadata) if metadata.len() > TABLES_SIZE => return Err(too_many()),
        Ok(_) => {}
        Err(_) => return Ok(()),
    }
    let names = fs::read(list).map_err(|_| leads_outside())?;
    if names.contains(&b'/') { Err(leads_outside()) } else { Ok(()) }
}

/// Refuses a pipe or a device, on which git would wait. A socket is harmless, because opening it
/// fails; git's file monitor has one.
fn opens_at_once(kind: fs::FileType) -> Result<(), ToolError> {
    if is_blocking(kind) { Err(not_regular("a file that git reads in this repository")) } else { Ok(()) }
}

fn is_blocking(kind: fs::FileType) -> bool {
    kind.is_fifo() || kind.is_char_device() || kind.is_block_device()
}

fn not_regular(file: &str) -> ToolError {
    ToolError::new(format!("{file} is not a regular file"))
        .hint("Ask a person to remove the pipe or device from it.")
}

fn too_many() -> ToolError {
    ToolError::new(format!("the repository has more than {ENTRIES} files of its own, too many to check"))
        .hint("Ask a person to run `git gc` and `git pack-refs --all` in it.")
}
