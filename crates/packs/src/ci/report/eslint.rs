//! Output of `ESLint`, in JSON or in its default text style.

use serde::Deserialize;

use super::types::{Diagnostic, Severity};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileResult {
    file_path: String,
    messages: Vec<Message>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    rule_id: Option<String>,
    severity: u8,
    #[serde(rename = "message")]
    text: String,
    line: Option<u64>,
    column: Option<u64>,
}

pub(super) fn read(text: &str) -> Vec<Diagnostic> {
    let json = text.lines().find(|line| line.starts_with("[{") && line.contains("\"filePath\""));
    if let Some(files) = json.and_then(|json| serde_json::from_str::<Vec<FileResult>>(json).ok()) {
        return files.into_iter().flat_map(of_file).collect();
    }
    stylish(text)
}

fn of_file(file: FileResult) -> impl Iterator<Item = Diagnostic> {
    file.messages.into_iter().map(move |message| Diagnostic {
        severity: if message.severity == 2 { Severity::Error } else { Severity::Warning },
        message: message.text,
        code: message.rule_id,
        file: Some(file.file_path.clone()),
        line: message.line,
        column: message.column,
    })
}

/// A line with a file's path, then lines `  3:5  error  message  rule`.
fn stylish(text: &str) -> Vec<Diagnostic> {
    let mut file = None;
    let mut found = Vec::new();
    for line in text.lines() {
        if !line.starts_with(' ') {
            file = (line.starts_with('/') || line.contains(":\\")).then(|| line.trim().to_owned());
        } else if let Some(file) = &file {
            found.extend(message(line.trim(), file));
        }
    }
    found
}

fn message(line: &str, file: &str) -> Option<Diagnostic> {
    let (place, rest) = line.split_once(char::is_whitespace)?;
    let (line, column) = place.split_once(':')?;
    let (severity, rest) = rest.trim_start().split_once(char::is_whitespace)?;
    let severity = match severity {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    let (message, code) = match rest.trim().rsplit_once("  ") {
        Some((message, rule)) if !rule.contains(' ') => (message.trim(), Some(rule.to_owned())),
        _ => (rest.trim(), None),
    };
    Some(Diagnostic {
        severity,
        message: message.to_owned(),
        code,
        file: Some(file.to_owned()),
        line: Some(line.parse().ok()?),
        column: column.parse().ok(),
    })
}
