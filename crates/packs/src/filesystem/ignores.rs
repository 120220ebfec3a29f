//! Rules of `.gitignore` files, which are read through the sandbox like every other file.

use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::window;
use crate::sandbox::{Dir, Name, RelPath};

const FILE: &[u8] = b".gitignore";
const MAX_BYTES: u64 = 256 << 10;

/// Determines whether ignored files are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ignored {
    PassOver,
    Include,
}

/// The rules that apply to one directory: its own and those of its parents up to the root.
#[derive(Debug, Default)]
pub(super) struct Ignores(Vec<Gitignore>);

impl Ignores {
    /// The rules of the directories above the start of a walk.
    pub(super) fn above(dir: &Dir) -> Self {
        let mut ignores = Self::default();
        for above in dir.above().unwrap_or_default() {
            ignores.enter(&above);
        }
        ignores
    }

    /// Adds the rules of a directory; [`leave`](Self::leave) removes them.
    pub(super) fn enter(&mut self, dir: &Dir) {
        self.0.push(rules(dir).unwrap_or_else(Gitignore::empty));
    }

    pub(super) fn leave(&mut self) {
        self.0.pop();
    }

    /// True if an entry is ignored. The innermost matching rule decides; `.git` is always ignored.
    pub(super) fn hide(&self, dir: &Dir, name: &Name, is_directory: bool) -> bool {
        if name.as_bytes() == b".git" {
            return true;
        }
        let path = virtual_path(&dir.path().join(name));
        let decided =
            self.0.iter().rev().map(|rules| rules.matched(&path, is_directory)).find(|rule| !rule.is_none());
        matches!(decided, Some(Match::Ignore(_)))
    }
}

fn rules(dir: &Dir) -> Option<Gitignore> {
    let file = dir.open_file(&Name::new(FILE)?).ok()?;
    let bytes = window::read_all(&file, MAX_BYTES).ok()??;
    let mut builder = GitignoreBuilder::new(virtual_path(dir.path()));
    for line in String::from_utf8_lossy(&bytes).lines() {
        // Invalid patterns are skipped, as git does.
        builder.add_line(None, line).ok();
    }
    builder.build().ok()
}

/// A path for the matcher, which needs a common prefix; it never accesses the disk.
fn virtual_path(path: &RelPath) -> PathBuf {
    Path::new("/").join(path.to_os_string())
}
