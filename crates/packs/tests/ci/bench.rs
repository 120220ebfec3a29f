//! Test bench: a temporary directory with a project, and the ci pack opened on it.

use std::{fs, path::Path, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use trunkline_packs::ci::{self, Access, CiOptions};
use trunkline_protocol::{Caller, message::ContentBlock};
use trunkline_toolbox::{Toolbox, Trial};

pub(crate) struct Bench {
    pub(crate) root: TempDir,
    pub(crate) toolbox: Toolbox,
    pub(crate) trial: Trial,
}

/// The answer of a call.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) data: Value,
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// A directory with these files.
pub(crate) fn directory(files: &[(&str, &str)]) -> TempDir {
    let root = TempDir::new().expect("a temporary directory");
    for (name, text) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("its directory");
        fs::write(path, text).expect("a file");
    }
    root
}

/// Options with `Access::Run` and the test's own environment.
pub(crate) fn running(root: &Path) -> CiOptions {
    CiOptions { access: Access::Run, environment: std::env::vars_os().collect(), ..CiOptions::new([root]) }
}

pub(crate) fn trial(options: CiOptions) -> Trial {
    toolbox(options).test()
}

fn toolbox(options: CiOptions) -> Toolbox {
    let mut toolbox = Toolbox::new("ci", "1.0");
    for tool in ci::pack(options).expect("a pack") {
        toolbox = toolbox.tool(tool);
    }
    toolbox.build().expect("a toolbox")
}

impl Bench {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, |_| {})
    }

    /// A bench with changed options.
    pub(crate) fn with(files: &[(&str, &str)], change: impl FnOnce(&mut CiOptions)) -> Self {
        let root = directory(files);
        let mut options = running(root.path());
        change(&mut options);
        let toolbox = toolbox(options);
        let trial = toolbox.test();
        Self { root, toolbox, trial }
    }

    /// A bench on which the script `main.py` can be run.
    pub(crate) fn script(script: &str, change: impl FnOnce(&mut CiOptions)) -> Self {
        Self::with(&[("main.py", script)], |options| {
            options.commands = vec!["python3 main.py".parse().expect("a rule")];
            change(options);
        })
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Said {
        call(&self.trial, tool, arguments).await
    }

    pub(crate) async fn run_script(&self) -> Said {
        self.call("run_command", json!({"command": "python3 main.py"})).await
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.path().join(name)).unwrap_or_default()
    }

    /// Waits until a file is not empty.
    pub(crate) async fn appears(&self, name: &str) -> String {
        for _ in 0..1000 {
            let text = self.read(name);
            if !text.is_empty() {
                return text;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("{name} did not appear");
    }
}

pub(crate) async fn call(trial: &Trial, tool: &str, arguments: Value) -> Said {
    let result = trial.call(tool, arguments).await;
    let text = result.content.iter().flatten().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        _ => None,
    });
    Said {
        text: text.collect::<Vec<_>>().join("\n"),
        data: result.structured_content.map(|data| data.decode().expect("JSON")).unwrap_or_default(),
        is_error: result.is_error == Some(true),
    }
}

pub(crate) fn caller(id: &str, scopes: &[&str]) -> Caller {
    Caller { scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(), ..Caller::named(id) }
}

/// Waits until a process has exited; a zombie counts as exited.
pub(crate) async fn goes(pid: &str) {
    for _ in 0..500 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
        if stat.is_empty() || state == Some(Some('Z')) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("process {pid} is still there");
}
