//! Runs the doctor: the real binary, its diagnosis and its exit code.

use serde_json::Value;
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// Result of a run of the doctor.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) code: i32,
    pub(crate) said: Value,
}

/// A folder with scripts, used as home and working directory.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).expect("the folder is there")
    }

    /// Writes a file with a mode, and creates its parent directories.
    pub(crate) fn file(&self, name: &str, contents: impl AsRef<[u8]>, mode: u32) -> String {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the folders can be made");
        // Write under another name and rename: a child forked meanwhile would hold the program
        // open for writing, so that it could not be executed (ETXTBSY).
        let beside = path.with_extension("new");
        fs::write(&beside, contents).expect("the file can be written");
        fs::set_permissions(&beside, fs::Permissions::from_mode(mode)).expect("the mode can be set");
        fs::rename(&beside, &path).expect("the file can be named");
        path.to_string_lossy().into_owned()
    }

    /// Writes a script for the shell.
    pub(crate) fn script(&self, name: &str, body: &str) -> String {
        self.file(name, format!("#!/bin/sh\n{body}\n"), 0o755)
    }

    /// Runs the doctor with only the given environment variables.
    pub(crate) fn visit(&self, args: &[&str], variables: &[(&str, &str)]) -> Visit {
        let output = self.command(args, variables).output().expect("the binary runs");
        let code = output.status.code().unwrap_or(-1);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{error}: {text}\n{}", String::from_utf8_lossy(&output.stderr)));
        Visit { code, said }
    }

    /// Approves the configuration file in the folder.
    pub(crate) fn approve(&self) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        command.env_clear().env("HOME", self.path()).current_dir(self.path());
        let output = command.args(["config", "approve", "--yes"]).output().expect("the binary runs");
        assert!(output.status.success(), "{output:?}");
    }

    pub(crate) fn command(&self, args: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.path());
        command.envs(variables.iter().copied()).current_dir(self.path());
        command.args(["--json", "doctor"]).args(args);
        command
    }
}

/// Examines a command in a separate folder.
pub(crate) fn about_script(body: &str) -> Visit {
    let folder = Folder::new();
    let script = folder.script("server", body);
    folder.visit(&["--timeout", "3s", "--", &script], &[])
}

/// Examines an address.
pub(crate) fn about(address: &str) -> Visit {
    Folder::new().visit(&["--timeout", "3s", address], &[])
}

impl Visit {
    /// The cause of the first broken step.
    pub(crate) fn cause(&self) -> &str {
        self.said["problem"]["cause"].as_str().unwrap_or("none")
    }

    pub(crate) fn fix(&self) -> String {
        joined(&self.said["problem"]["fix"])
    }

    pub(crate) fn evidence(&self) -> String {
        self.said["problem"]["evidence"].to_string()
    }

    /// The causes of warnings.
    pub(crate) fn warnings(&self) -> Vec<&str> {
        let all = self.said["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().filter_map(|warning| warning["cause"].as_str()).collect()
    }

    /// The alternatives that work.
    pub(crate) fn works(&self) -> Vec<&str> {
        let all = self.said["alternatives"].as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter()
            .filter(|tried| tried["works"] == "yes")
            .filter_map(|tried| tried["what"].as_str())
            .collect()
    }

    /// The first step that is not passed.
    pub(crate) fn broken_step(&self) -> &str {
        let steps = self.said["steps"].as_array().map(Vec::as_slice).unwrap_or_default();
        let broken = steps.iter().find(|step| step["outcome"] == "failed");
        broken.and_then(|step| step["id"].as_str()).unwrap_or("none")
    }

    /// Asserts the result of a broken setup: cause, exit code and a line of the fix; later steps
    /// are never reported as passed.
    #[track_caller]
    pub(crate) fn names(&self, cause: &str, code: i32, fix: &str) {
        assert_eq!((self.cause(), self.code), (cause, code), "{:#}", self.said);
        assert!(self.fix().contains(fix), "no `{fix}` in {:#}", self.said);
        let steps = self.said["steps"].as_array().expect("there are steps");
        let broken = steps.iter().position(|step| step["outcome"] == "failed");
        let later = broken.map(|at| &steps[at + 1..]).expect("one step is broken");
        assert!(later.iter().all(|step| step["outcome"] == "not_verified"), "{:#}", self.said);
    }
}

fn joined(lines: &Value) -> String {
    let lines = lines.as_array().map(Vec::as_slice).unwrap_or_default();
    lines.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

/// True if the owner may execute a file.
pub(crate) fn may_run(path: &str) -> bool {
    fs::metadata(Path::new(path)).is_ok_and(|metadata| metadata.permissions().mode() & 0o100 != 0)
}
