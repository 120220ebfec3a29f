//! `Group`: one folder of peers, installed as a whole from a pinned list.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::pins::Pin;
use super::{crates, debian, npm, python};

const STAMP: &str = "installed";

#[derive(Debug)]
pub(super) struct Group {
    folder: String,
    pins: Vec<Pin>,
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Crates,
    /// With the programs to link to where there are no Debian packages.
    Debian(&'static [&'static str]),
    Npm,
    Python,
}

impl Group {
    pub(super) fn krate(pin: Pin) -> Self {
        Self { folder: pin.0.to_owned(), pins: vec![pin], source: Source::Crates }
    }

    pub(super) fn debian(folder: &str, pins: &[Pin], programs: &'static [&'static str]) -> Self {
        Self { folder: folder.to_owned(), pins: pins.to_vec(), source: Source::Debian(programs) }
    }

    pub(super) fn npm(folder: &str, pins: &[Pin]) -> Self {
        Self { folder: folder.to_owned(), pins: pins.to_vec(), source: Source::Npm }
    }

    pub(super) fn python(folder: &str, pins: &[Pin]) -> Self {
        Self { folder: folder.to_owned(), pins: pins.to_vec(), source: Source::Python }
    }

    pub(super) fn name(&self) -> &str {
        &self.folder
    }

    pub(super) fn is_current(&self, root: &Path) -> bool {
        fs::read_to_string(root.join(&self.folder).join(STAMP)).is_ok_and(|stamp| stamp == self.stamp(root))
    }

    /// Removes the folder and installs it again; the stamp file is written last.
    pub(super) fn install(&self, root: &Path) -> Result<()> {
        let folder = root.join(&self.folder);
        if folder.exists() {
            fs::remove_dir_all(&folder)
                .with_context(|| format!("{} could not be removed", folder.display()))?;
        }
        fs::create_dir_all(&folder)?;
        let log = root.join("log").join(format!("{}.txt", self.folder));
        match self.source {
            Source::Crates => crates::install(&folder, &self.pins, &log)?,
            Source::Debian(programs) => debian::install(&folder, &self.pins, programs, &log)?,
            Source::Npm => npm::install(&folder, &self.pins, &log)?,
            Source::Python => python::install(&folder, &self.pins, &log)?,
        }
        fs::write(folder.join(STAMP), self.stamp(root)).context("the stamp could not be written")
    }

    fn stamp(&self, root: &Path) -> String {
        let mut lines: Vec<String> =
            self.pins.iter().map(|(name, version)| format!("{name} {version}\n")).collect();
        if self.source == Source::Python {
            // A Python environment contains its own path, so a moved one must be installed again.
            lines.push(format!("at {}\n", root.join(&self.folder).display()));
        }
        lines.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PINS: [Pin; 1] = [("peer", "1.0.0")];

    fn stamped(group: &Group, root: &Path) {
        fs::create_dir_all(root.join(group.name())).unwrap();
        fs::write(root.join(group.name()).join(STAMP), group.stamp(root)).unwrap();
    }

    #[test]
    fn a_group_is_current_until_its_list_changes() {
        let root = tempfile::tempdir().unwrap();
        let group = Group::npm("npm", &PINS);
        assert!(!group.is_current(root.path()));
        stamped(&group, root.path());
        assert!(group.is_current(root.path()));
        assert!(!Group::npm("npm", &[("peer", "1.0.1")]).is_current(root.path()));
    }

    #[test]
    fn a_python_group_that_was_moved_is_not_current() {
        let root = tempfile::tempdir().unwrap();
        let group = Group::python("python", &PINS);
        stamped(&group, &root.path().join("here"));
        fs::rename(root.path().join("here"), root.path().join("there")).unwrap();
        assert!(!group.is_current(&root.path().join("there")));
    }
}
