//! Test setup: a root, a directory next to it that must not be touched, and a client.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use trunkline_packs::filesystem::{self, Access, FilesystemOptions};
use trunkline_packs::sandbox::Durability;
use trunkline_toolbox::{Toolbox, ToolboxBuilder, Trial};

pub(crate) const SECRET: &str = "only outside";

pub(crate) struct Place {
    _temp: TempDir,
    pub(crate) base: PathBuf,
    pub(crate) root: PathBuf,
    pub(crate) outside: PathBuf,
    pub(crate) trial: Trial,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(adjust: impl FnOnce(&mut FilesystemOptions)) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let (root, outside) = (base.join("root"), base.join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret.txt"), SECRET).unwrap();
        let mut options = FilesystemOptions {
            roots: vec![root.clone()],
            access: Access::ReadWrite,
            durability: Durability::Cached,
            ..FilesystemOptions::default()
        };
        adjust(&mut options);
        let trial = trial(options);
        Self { _temp: temp, base, root, outside, trial }
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    pub(crate) async fn ok(&self, tool: &str, arguments: Value) -> Value {
        ok(&self.trial, tool, arguments).await
    }

    pub(crate) async fn err(&self, tool: &str, arguments: Value) -> String {
        err(&self.trial, tool, arguments).await
    }
}

pub(crate) fn trial(options: FilesystemOptions) -> Trial {
    let tools = filesystem::pack(options).unwrap();
    let toolbox = tools.into_iter().fold(Toolbox::new("files", "1"), ToolboxBuilder::tool).build().unwrap();
    toolbox.test()
}

pub(crate) async fn attempt(trial: &Trial, tool: &str, arguments: Value) -> Result<Value, String> {
    let result = trial.call(tool, arguments).await;
    let text = json!(result.content).to_string();
    if result.is_error == Some(true) {
        return Err(text);
    }
    Ok(result.structured_content.expect("every result is structured").decode().unwrap())
}

pub(crate) async fn ok(trial: &Trial, tool: &str, arguments: Value) -> Value {
    let shown = arguments.to_string();
    attempt(trial, tool, arguments).await.unwrap_or_else(|error| panic!("{tool} {shown}: {error}"))
}

pub(crate) async fn err(trial: &Trial, tool: &str, arguments: Value) -> String {
    let shown = arguments.to_string();
    match attempt(trial, tool, arguments).await {
        Ok(value) => panic!("{tool} {shown} was allowed: {value}"),
        Err(text) => text,
    }
}

/// Every file below a directory with its content, to detect changes.
pub(crate) fn snapshot(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.insert(entry.path(), Vec::new());
            found.extend(snapshot(&entry.path()));
        } else {
            found.insert(entry.path(), fs::read(entry.path()).unwrap_or_default());
        }
    }
    found
}
