//! What `.gitignore` files leave out, read through the sandbox like every other file.

use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::window;
use crate::sandbox::{Dir, Name, RelPath};

const FILE: &[u8] = b".gitignore";
const MAX_BYTES: u64 = 256 << 10;

/// Whether ignored files are passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ignored {
    PassOver,
    Include,
}

/// The rules on the way from the root down to one directory.
#[derive(Debug, Default)]
pub(super) struct Ignores(Vec<Gitignore>);

impl Ignores {
    /// The rules of the directories above a walk.
    pub(super) fn above(dir: &Dir) -> Self {
        let mut ignores = Self::default();
        for above in dir.above().unwrap_or_default() {
            ignores.enter(&above);
        }
        ignores
    }

    /// Adds the rules of one more directory; [`leave`](Self::leave) takes them off again.
    pub(super) fn enter(&mut self, dir: &Dir) {
        self.0.push(rules(dir).unwrap_or_else(Gitignore::empty));
    }

    pub(super) fn leave(&mut self) {
        self.0.pop();
    }

    /// The innermost rule decides. The contents of `.git` are nobody's files.
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
        // A line that is no pattern is passed over, as git does.
        builder.add_line(None, line).ok();
    }
    builder.build().ok()
}

/// The matcher wants paths with a common beginning; it never looks at a disk.
fn virtual_path(path: &RelPath) -> PathBuf {
    Path::new("/").join(path.to_os_string())
}
