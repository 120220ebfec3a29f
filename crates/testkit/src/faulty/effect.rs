//! Tools with real vulnerabilities, so that no test can pass merely by recognizing a payload.

use super::model;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::Command,
};

/// Maximum bytes read from a file.
const LARGEST: u64 = 64 * 1024;

/// A vulnerable use of a string of the request; each variant holds the JSON pointer to it.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Effect {
    /// Reads a file below the temporary folder without checking for path traversal; also `file:`
    /// URIs.
    Read(String),
    /// Returns it decoded as Latin-1.
    Mojibake(String),
    /// Passes it unquoted to `echo` in a shell.
    Shell(String),
    /// Evaluates a template expression `{{a*b}}`.
    Template(String),
    /// Concatenates it into an SQL statement, which an unbalanced quote breaks.
    Sql(String),
}

impl Effect {
    /// Returns the result, or the error object.
    pub(super) fn result(&self, message: &Value) -> Result<Value, Value> {
        let given =
            |pointer: &str| message.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let text = match self {
            Self::Read(pointer) => read(&given(pointer)),
            Self::Mojibake(pointer) => Ok(given(pointer).bytes().map(char::from).collect()),
            Self::Shell(pointer) => shell(&given(pointer)),
            Self::Template(pointer) => Ok(template(&given(pointer))),
            Self::Sql(pointer) => sql(&given(pointer)),
        };
        let method = message["method"].as_str().unwrap_or_default();
        let resource = method == "resources/read";
        let mut result = match text {
            Ok(text) if resource => {
                Ok(json!({"contents": [{"uri": message["params"]["uri"], "text": text}]}))
            }
            Ok(text) => Ok(json!({"content": [{"type": "text", "text": text}]})),
            Err(_) if resource && model::is_modern(message) => {
                Err(model::error(-32602, "Resource not found"))
            }
            Err(_) if resource => Err(model::error(-32002, "Resource not found")),
            Err(why) => Ok(json!({"content": [{"type": "text", "text": why}], "isError": true})),
        }?;
        if model::is_modern(message) {
            model::add_modern_members(&mut result, method);
        }
        Ok(result)
    }
}

fn read(path: &str) -> Result<String, String> {
    let path = path.strip_prefix("file://").map_or_else(|| std::env::temp_dir().join(path), PathBuf::from);
    let text = std::fs::File::open(&path).and_then(|file| {
        let mut text = String::new();
        file.take(LARGEST).read_to_string(&mut text)?;
        Ok(text)
    });
    text.map_err(|error| format!("the file cannot be read: {}", error.kind()))
}

fn shell(word: &str) -> Result<String, String> {
    let output =
        Command::new("sh").args(["-c", &format!("echo {word}")]).current_dir(Path::new("/")).output();
    let output = output.map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn template(text: &str) -> String {
    let Some((before, rest)) = text.split_once("{{") else { return text.to_owned() };
    let Some((inner, after)) = rest.split_once("}}") else { return text.to_owned() };
    let product = inner.split_once('*').and_then(|(a, b)| {
        let (a, b): (i64, i64) = (a.trim().parse().ok()?, b.trim().parse().ok()?);
        a.checked_mul(b)
    });
    product.map_or_else(|| text.to_owned(), |product| format!("{before}{product}{after}"))
}

fn sql(name: &str) -> Result<String, String> {
    if name.matches('\'').count() % 2 == 1 {
        return Err(format!(
            "sqlite3.OperationalError: unrecognized token: \"'\" in SELECT * FROM notes WHERE name = '{name}'"
        ));
    }
    Ok("no notes".to_owned())
}
