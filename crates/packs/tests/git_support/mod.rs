//! Real repositories in a temporary directory, and the pack called as a client calls it.

#![allow(dead_code, reason = "each test file uses its own part")]
#![expect(clippy::unwrap_used, reason = "a failure here is a failure of the test")]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use trunkline_packs::git::{Access, GitOptions, Identity, Network, compatibility_tools, pack};
use trunkline_toolbox::Toolbox;

/// A temporary directory with a `root` that is open to the tools; the rest is outside.
pub(crate) struct Lab {
    directory: tempfile::TempDir,
}

/// The answer of a tool.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) failed: bool,
    pub(crate) text: String,
    pub(crate) data: Value,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("root")).unwrap();
        Self { directory }
    }

    /// A lab with a repository `repo` that has one commit of `a.txt`.
    pub(crate) fn with_repository() -> Self {
        let lab = Self::new();
        lab.repository("repo");
        lab
    }

    pub(crate) fn repository(&self, name: &str) -> PathBuf {
        let path = self.root().join(name);
        fs::create_dir_all(&path).unwrap();
        self.git(&path, &["init", "--quiet", "--initial-branch=main", "--template="]);
        self.commit(&path, "a.txt", "one\ntwo\nthree\n", "first");
        path
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        fs::canonicalize(self.directory.path()).unwrap().join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path("root")
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.root().join("repo")
    }

    pub(crate) fn write(&self, path: impl AsRef<Path>, text: &str) {
        let path = self.repo().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn commit(&self, repository: &Path, file: &str, text: &str, message: &str) -> String {
        fs::write(repository.join(file), text).unwrap();
        self.git(repository, &["add", "--", file]);
        self.git(repository, &["commit", "--quiet", "-m", message]);
        self.git(repository, &["rev-parse", "HEAD"])
    }

    /// Runs plain git without user settings.
    #[expect(clippy::unused_self, reason = "reads better in the tests")]
    pub(crate) fn git(&self, directory: &Path, args: &[&str]) -> String {
        let (done, output) = Self::try_git(directory, args);
        assert!(done, "git {args:?}: {output}");
        output
    }

    pub(crate) fn try_git(directory: &Path, args: &[&str]) -> (bool, String) {
        let output = Command::new("git")
            .env_clear()
            .env("PATH", "/usr/bin:/bin:/usr/local/bin")
            .envs([
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("HOME", "/nonexistent"),
            ])
            .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.org")])
            .envs([("GIT_COMMITTER_NAME", "Ada"), ("GIT_COMMITTER_EMAIL", "ada@example.org")])
            .current_dir(directory)
            .args(args)
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).trim_end().to_owned())
    }

    /// Adds a setting to the repository's own config file.
    pub(crate) fn set(&self, key: &str, value: &str) {
        self.git(&self.repo(), &["config", "--local", key, value]);
    }

    /// A program that creates a marker file when it runs, and copies its input to its output.
    pub(crate) fn canary(&self) -> String {
        let path = self.path("canary");
        let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\nexec cat\n", self.mark().display());
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    pub(crate) fn mark(&self) -> PathBuf {
        self.path("mark")
    }

    pub(crate) fn assert_silent(&self, what: &str) {
        let told = fs::read_to_string(self.mark()).unwrap_or_default();
        assert_eq!(told, "", "the canary ran for {what}");
    }

    /// Default options for this root.
    pub(crate) fn options(&self) -> GitOptions {
        GitOptions::new([self.root()])
    }

    /// Options that allow changes.
    pub(crate) fn writing(&self) -> GitOptions {
        let identity = Identity::Person { name: "Grace".into(), email: "grace@example.org".into() };
        GitOptions { access: Access::ReadWrite, identity, ..self.options() }
    }

    /// Options that allow the network, and remotes on the local disk.
    pub(crate) fn networking(&self) -> GitOptions {
        GitOptions { network: Network::Allowed, protocols: vec!["file".into()], ..self.writing() }
    }

    /// Calls a tool on `repo`, as the options allow.
    pub(crate) async fn call(&self, options: GitOptions, tool: &str, args: Value) -> Answered {
        let mut args = args;
        if tool.starts_with("git_")
            && !["git_init", "git_clone"].contains(&tool)
            && args.get("repo_path").is_none()
        {
            args["repo_path"] = json!("repo");
        }
        let mut builder = Toolbox::new("git", "1");
        for tool in pack(options.clone()).unwrap().into_iter().chain(compatibility_tools(options).unwrap()) {
            builder = builder.tool(tool);
        }
        let result = builder.build().unwrap().test().call(tool, args).await;
        let data = result.structured_content.as_ref().map_or(Value::Null, |raw| raw.decode().unwrap());
        let content = serde_json::to_value(result.content.unwrap_or_default()).unwrap();
        let text = content[0]["text"].as_str().unwrap_or_default().to_owned();
        Answered { failed: result.is_error == Some(true), text, data }
    }

    pub(crate) async fn read(&self, tool: &str, args: Value) -> Answered {
        self.call(self.options(), tool, args).await
    }

    pub(crate) async fn change(&self, tool: &str, args: Value) -> Answered {
        self.call(self.writing(), tool, args).await
    }
}

impl Answered {
    /// The data of a successful call.
    pub(crate) fn ok(self) -> Value {
        assert!(!self.failed, "{}", self.text);
        self.data
    }

    /// The text of a failed call; asserts that it contains a hint.
    pub(crate) fn err(self) -> String {
        assert!(self.failed, "{} {}", self.text, self.data);
        assert!(self.text.contains('\n'), "no next step: {}", self.text);
        self.text
    }
}
