//! `Fault`: one mistake of a server's author, read from `crates/testkit/faults`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fault {
    pub(super) name: String,
    /// The mistake, in one sentence.
    pub(super) mistake: String,
    /// True if only a call of a tool shows the fault.
    #[serde(default)]
    pub(super) active: bool,
    /// Our rules, at least one of which must find the fault.
    pub(super) named_by: Vec<String>,
    /// Words, in lower case; a complaint of another linter must contain one of them.
    pub(super) words: Vec<String>,
    /// The script of `faulty-server`.
    pub(super) server: Value,
}

/// Transport of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    Stdio,
    Http,
    /// HTTP on all interfaces.
    HttpEverywhere,
}

pub(super) fn read_all(folder: &Path) -> Result<Vec<Fault>> {
    let entries = fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file)?;
        let faults: Vec<Fault> =
            serde_json::from_str(&text).with_context(|| format!("{}", file.display()))?;
        all.extend(faults);
    }
    Ok(all)
}

impl Fault {
    pub(super) fn over(&self) -> Over {
        match self.server["over"].as_str() {
            Some("http") => Over::Http,
            Some("http-everywhere") => Over::HttpEverywhere,
            _ => Over::Stdio,
        }
    }

    /// Returns the correct server with the same eras and transport.
    pub(super) fn without_fault(&self) -> Self {
        let eras: Vec<&str> =
            self.server["eras"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let spoken = if eras.is_empty() { "both eras".to_owned() } else { eras.join(" and ") };
        let over = if self.over() == Over::Stdio { "stdio" } else { "http" };
        let how = if self.active { ", tools called" } else { "" };
        Self {
            name: format!("clean: {spoken} over {over}{how}"),
            mistake: "None.".to_owned(),
            active: self.active,
            named_by: Vec::new(),
            words: Vec::new(),
            server: json!({"over": over, "eras": eras}),
        }
    }

    pub(super) fn is_clean(&self) -> bool {
        self.server["faults"].as_array().is_none_or(Vec::is_empty)
    }

    /// True if the fault involves methods with this prefix.
    pub(super) fn is_about(&self, methods: &str) -> bool {
        let faults = self.server["faults"].as_array().into_iter().flatten();
        faults.filter_map(|fault| fault["when"]["method"].as_str()).any(|method| method.starts_with(methods))
    }

    /// The tool for a linter that calls one tool by name.
    pub(super) fn tool(&self) -> &str {
        let faults = self.server["faults"].as_array().into_iter().flatten();
        let subject = faults
            .filter(|fault| fault["when"]["method"] == "tools/call")
            .find_map(|fault| fault["when"]["subject"].as_str());
        subject.or_else(|| self.server["offer"]["tools"][0]["name"].as_str()).unwrap_or("echo")
    }

    /// The names of that tool's string parameters.
    pub(super) fn parameters(&self) -> Vec<&str> {
        match self.server["offer"]["tools"][0]["inputSchema"]["properties"].as_object() {
            Some(properties) => properties.keys().map(String::as_str).collect(),
            None if self.tool() == "add" => vec!["a", "b"],
            None => vec!["text"],
        }
    }
}
