//! Git directories of any name: bare repositories, and those that a `.git` file names. Their files
//! are not changed, like those of `.git`.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::dir::Dir;
use super::name::Name;
use super::root::names;
use super::spot::Spot;

/// Maximum size of a `.git` file.
const POINTER_SIZE: u64 = 8 * 1024;

impl Dir {
    /// True if git would treat this as a git directory.
    pub(crate) fn is_git_directory(&self) -> bool {
        let has = |name: &str| Name::new(name.as_bytes()).is_some_and(|name| self.stat(&name).is_ok());
        has("HEAD") && (has("commondir") || has("objects") && has("refs"))
    }

    /// The directory that a `.git` file in this one names, as an absolute path.
    fn named_git_directory(&self) -> Option<PathBuf> {
        let file = self.open_file(&Name::new(b".git")?).ok()?;
        let text = start_of(file)?;
        let target = text.strip_prefix("gitdir: ")?.trim_end_matches(['\n', '\r']);
        let mut path = self.root().path().join(self.path().to_os_string());
        for part in Path::new(target).components() {
            match part {
                Component::ParentDir => {
                    path.pop();
                }
                part => path.push(part),
            }
        }
        Some(path)
    }
}

/// True if a path is a git directory or inside one.
pub(super) fn holds(spot: &Spot) -> bool {
    let own = spot.open_dir().ok();
    // A directory that cannot be opened any more has been moved; then the operation fails, too.
    let above = spot.parent().above().unwrap_or_default();
    let absolute = spot.parent().root().absolute(&spot.real_path());
    let is_named = |dir: &Dir| {
        let named = dir.named_git_directory().and_then(|path| names(&path));
        named.is_some_and(|named| absolute.below(&named).is_some())
    };
    own.iter().any(Dir::is_git_directory)
        || above.iter().chain([spot.parent()]).any(|dir| dir.is_git_directory() || is_named(dir))
}

fn start_of(file: File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(POINTER_SIZE).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}
