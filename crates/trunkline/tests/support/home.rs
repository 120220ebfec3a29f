//! A home directory and a project in it, where the binary is run.

use crate::support::{Run, trunkline};
use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};
use tempfile::TempDir;

/// A home directory and a project in it.
pub(crate) struct Home(pub(crate) TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self(tempfile::tempdir().expect("a temporary folder"));
        home.write("project/.keep", "");
        home
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("the test can write its files");
        fs::write(&path, text).expect("the test can write its files");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("the test can write its files");
    }

    /// Runs the binary in the project; the path of the home directory is shown as `~`.
    pub(crate) fn run(&self, args: &[&str], variables: &[(&str, &str)]) -> Run {
        self.run_in("project", args, variables)
    }

    pub(crate) fn run_in(&self, directory: &str, args: &[&str], variables: &[(&str, &str)]) -> Run {
        let home = self.0.path().to_string_lossy().into_owned();
        let mut command = trunkline(variables);
        command.args(args).env("HOME", &home).current_dir(self.path(directory));
        let mut run = Run::of(&mut command, "");
        for text in [&mut run.stdout, &mut run.stderr] {
            *text = text.replace(&home, "~");
        }
        run
    }
}
