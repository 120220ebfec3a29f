//! `Workspace`: the paths of the repository and its build output, from `cargo metadata`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// A build in CI is not repeated, so data for incremental builds would only take time and 5 GB.
const INCREMENTAL: &str = "CARGO_INCREMENTAL";

#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

/// The part of `cargo metadata` that tasks use.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) workspace_root: PathBuf,
    pub(crate) target_directory: PathBuf,
    #[cfg(test)]
    pub(crate) packages: Vec<Package>,
}

#[cfg(test)]
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) dependencies: Vec<Dependency>,
}

#[cfg(test)]
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Absent for a normal dependency, otherwise `dev` or `build`.
    pub(crate) kind: Option<String>,
}

/// Reads the metadata of the workspace that xtask was built from.
pub(crate) fn metadata() -> Result<Metadata> {
    let mut command = Command::new(cargo_program());
    command.args(["metadata", "--format-version", "1", "--no-deps"]);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().context("cargo metadata could not be started")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("the output of cargo metadata is not the expected JSON")
}

impl Workspace {
    pub(crate) fn find() -> Result<Self> {
        let metadata = metadata()?;
        Ok(Self { root: metadata.workspace_root, target: metadata.target_directory })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    pub(crate) fn peers(&self) -> PathBuf {
        self.target.join("peers")
    }

    /// The `trunkline` binary of the last debug build.
    pub(crate) fn binary(&self) -> PathBuf {
        self.target.join("debug").join(format!("trunkline{}", env::consts::EXE_SUFFIX))
    }

    /// A built example of the last debug build.
    pub(crate) fn example(&self, name: &str) -> PathBuf {
        self.target.join("debug/examples").join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }

    /// A cargo command in the workspace's root, with the same cargo that runs this task.
    ///
    /// `cargo run` sets variables about xtask's own package. Build scripts that read them (ring's)
    /// would run again, and everything that depends on them be compiled anew, each time a task
    /// follows a plain `cargo build`.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_program());
        command.args(arguments).current_dir(&self.root);
        for (name, _) in env::vars_os() {
            if name.to_str().is_some_and(describes_package) {
                command.env_remove(name);
            }
        }
        if env::var_os("CI").is_some() && env::var_os(INCREMENTAL).is_none() {
            command.env(INCREMENTAL, "0");
        }
        command
    }
}

/// True if `cargo run` sets this variable to describe the package that it runs.
fn describes_package(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
}

fn cargo_program() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_is_not_told_of_our_own_package() {
        let command = Workspace::find().expect("cargo metadata works").cargo(&["build"]);
        let kept: Vec<_> = env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .filter(|name| describes_package(name))
            .filter(|name| !command.get_envs().any(|(key, value)| key == name.as_str() && value.is_none()))
            .collect();
        assert!(env::var_os("CARGO_MANIFEST_DIR").is_some(), "cargo test sets it");
        assert_eq!(kept, Vec::<String>::new());
    }
}
