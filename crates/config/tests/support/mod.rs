//! A directory with configuration files, and the result of reading them.

#![expect(dead_code, reason = "each test file uses its own part")]

use std::{collections::BTreeMap, fs, path::PathBuf};
use tempfile::TempDir;
use trunkline_config::{
    Flag, Inputs, Loaded, NoKeychain, Preview, Problem, Rejected, Settings, approve, load, preview,
};

pub(crate) struct Place {
    pub(crate) folder: TempDir,
    variables: BTreeMap<String, String>,
    flags: Vec<Flag>,
    way: Way,
}

/// The use of the project's file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Named explicitly, so it needs no approval.
    Named,
    /// Found, and used if approved.
    Found,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("the test can write its files");
        fs::create_dir_all(folder.path().join("project/deep/er")).expect("the test can write its files");
        fs::create_dir_all(folder.path().join("user")).expect("the test can write its files");
        Self { folder, variables: BTreeMap::new(), flags: Vec::new(), way: Way::Named }
    }

    /// The project's file is found, but not approved.
    pub(crate) fn found(mut self) -> Self {
        self.way = Way::Found;
        self
    }

    /// The project's file is found, and its current content is approved.
    pub(crate) fn approved(self) -> Self {
        let place = self.found();
        place.approve();
        place
    }

    /// Approves the current content of the project's file.
    pub(crate) fn approve(&self) {
        let waiting = match self.load() {
            Ok(loaded) => loaded.waiting,
            Err(rejected) => rejected.waiting,
        };
        let waiting = waiting.expect("a file waits");
        approve(&self.path("state/approved.json"), &waiting).expect("the test can write its files");
    }

    /// With this project file.
    pub(crate) fn project(text: &str) -> Self {
        Self::new().file("project/trunkline.json", text)
    }

    pub(crate) fn user(self, text: &str) -> Self {
        self.file("user/trunkline.json", text)
    }

    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        fs::write(self.path(path), text).expect("the test can write its files");
        self.mode(path, 0o600)
    }

    pub(crate) fn mode(self, path: &str, mode: u32) -> Self {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode))
            .expect("the test can write its files");
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn flag(mut self, name: &str, key: &str, value: serde_json::Value) -> Self {
        self.flags.push(Flag { name: name.to_owned(), key: key.to_owned(), value });
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn load(&self) -> Result<Loaded, Box<Rejected>> {
        load(&self.inputs())
    }

    pub(crate) fn preview(&self) -> Preview {
        preview(&self.inputs())
    }

    fn inputs(&self) -> Inputs<'static> {
        Inputs {
            directory: self.path("project/deep/er"),
            file: Some(self.path("project/trunkline.json"))
                .filter(|file| self.way == Way::Named && file.exists()),
            approvals: Some(self.path("state/approved.json")),
            user_directory: Some(self.path("user")),
            home: Some(self.path("home")),
            variables: self.variables.clone(),
            flags: self.flags.clone(),
            secrets: &NoKeychain,
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        self.load()
            .map_err(|rejected| self.told(&rejected.problems))
            .expect("the settings are sound")
            .settings
    }

    /// The problems, one line each: position, code, key, message, suggestion.
    pub(crate) fn problems(&self) -> String {
        match self.load() {
            Ok(loaded) => self.told(&loaded.warnings),
            Err(rejected) => self.told(&rejected.problems),
        }
    }

    fn told(&self, problems: &[Problem]) -> String {
        let folder = self.folder.path().display().to_string();
        let line = |problem: &Problem| {
            let Problem { code, severity, file, line, column, length, key, message, suggestion } = problem;
            let hint = suggestion.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
            let severity = format!("{severity:?}").to_lowercase();
            format!("{file}:{line}:{column}+{length} {severity}[{}] {key}: {message}{hint}\n", code.name())
                .replace(&folder, "")
        };
        problems.iter().map(line).collect()
    }
}
