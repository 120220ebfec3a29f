//! Converts variables in the strings of other clients to our syntax.

use super::client::{Client, ClientFile};
use crate::expand::is_variable_name;
use serde_json::Value;
use std::path::Path;

/// A client's syntax for variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Syntax {
    /// No variables.
    None,
    /// `${NAME}` and `${NAME:-default}`, which mean the same here.
    Braces,
    /// `$NAME` and `${NAME}`.
    Shell,
    /// `${env:NAME}`, `${workspaceFolder}`, `${input:id}` and so on.
    Editor,
    /// `{env:NAME}` and `{file:path}`, which mean the same here.
    OpenCode,
}

/// Converts every string below `value`, and returns notes about what could not be converted.
pub(super) fn convert(value: &mut Value, file: &ClientFile) -> Vec<String> {
    let mut words = Words { syntax: syntax(file.client), file, notes: Vec::new() };
    words.value(value);
    words.notes.sort();
    words.notes.dedup();
    words.notes
}

fn syntax(client: Client) -> Syntax {
    match client {
        Client::ClaudeDesktop | Client::Codex | Client::Zed => Syntax::None,
        Client::ClaudeCode | Client::Copilot => Syntax::Braces,
        Client::Gemini => Syntax::Shell,
        Client::Cline | Client::Cursor | Client::VsCode | Client::Windsurf => Syntax::Editor,
        Client::OpenCode => Syntax::OpenCode,
    }
}

impl Client {
    /// A reference to an environment variable, as this client writes it; `None` if it replaces no
    /// variables.
    pub fn reference(self, variable: &str) -> Option<String> {
        match syntax(self) {
            Syntax::None => None,
            Syntax::Braces | Syntax::Shell => Some(format!("${{{variable}}}")),
            Syntax::Editor => Some(format!("${{env:{variable}}}")),
            Syntax::OpenCode => Some(format!("{{env:{variable}}}")),
        }
    }
}

struct Words<'a> {
    syntax: Syntax,
    file: &'a ClientFile,
    notes: Vec<String>,
}

impl Words<'_> {
    fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.value(member)),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        // After the last closing brace, nothing can be closed, so do not search there again.
        let open = text.rfind('}').map_or(usize::MAX, |last| text.len() - last);
        while let Some(at) = rest.find(['$', '{']) {
            out.push_str(&rest[..at]);
            let tail = &rest[at..];
            if let Some((inner, after)) = closed_by_brace(tail, "${", open) {
                out.push_str(&self.braces(inner));
                rest = after;
            } else if let Some((path, after)) = closed_by_brace(tail, "{file:", open) {
                out.push_str(&self.file_reference(path));
                rest = after;
            } else if let Some((name, after)) = self.bare(tail) {
                out.push_str(&variable(name));
                rest = after;
            } else {
                let first = tail.chars().next().expect("one was found");
                out.push(first);
                rest = &tail[first.len_utf8()..];
            }
        }
        out.push_str(rest);
        out
    }

    fn braces(&mut self, inner: &str) -> String {
        let name = inner.split_once(":-").map_or(inner, |(name, _)| name);
        match self.syntax {
            Syntax::Braces if is_variable_name(name) => format!("${{{inner}}}"),
            Syntax::Shell if is_variable_name(inner) => variable(inner),
            Syntax::Editor => self.editor(inner),
            _ => literal(inner),
        }
    }

    fn editor(&mut self, inner: &str) -> String {
        if let Some(name) = inner.strip_prefix("env:").filter(|name| is_variable_name(name)) {
            return variable(name);
        }
        if let Some(id) = inner.strip_prefix("input:") {
            let name = upper_snake(id);
            self.notes.push(format!("set `{name}`: the editor asks for it as `{id}`"));
            return variable(&name);
        }
        match inner {
            "userHome" => variable("HOME"),
            "pathSeparator" | "/" => "/".to_owned(),
            "workspaceFolder" | "workspaceFolderBasename" => self.workspace(inner),
            // The editor itself would send this text as it is, which is never what was meant.
            _ if is_variable_name(inner) && inner.to_uppercase() == inner => {
                self.notes.push(format!("`${{{inner}}}` is read as the environment variable `{inner}`"));
                variable(inner)
            }
            _ => {
                self.notes.push(format!("`${{{inner}}}` is not supported here"));
                literal(inner)
            }
        }
    }

    /// The directory of the file's project; a user's file has none.
    fn workspace(&mut self, inner: &str) -> String {
        let Some(project) = self.file.project() else {
            self.notes.push(format!(
                "`${{{inner}}}` is the project that is open; write the directory that is meant"
            ));
            return literal(inner);
        };
        let name = if inner == "workspaceFolder" { Some(project.as_os_str()) } else { project.file_name() };
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Resolves a path against the client's file, because ours is in another directory.
    fn file_reference(&mut self, path: &str) -> String {
        let stays = self.syntax != Syntax::OpenCode || path.starts_with(['/', '~']);
        let directory = self.file.path.parent().unwrap_or(Path::new(""));
        let path = if stays { path.to_owned() } else { plain_path(&directory.join(path)) };
        format!("{{file:{path}}}")
    }

    /// Splits off `$NAME`, if the client's syntax has it.
    fn bare<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        if self.syntax != Syntax::Shell {
            return None;
        }
        let inner = text.strip_prefix('$')?;
        let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
        is_variable_name(&inner[..end]).then(|| inner.split_at(end))
    }
}

/// The text between `opening` and the next closing brace, and the rest. Texts shorter than `open`
/// contain no closing brace.
fn closed_by_brace<'a>(text: &'a str, opening: &str, open: usize) -> Option<(&'a str, &'a str)> {
    text.strip_prefix(opening).filter(|inner| inner.len() >= open)?.split_once('}')
}

/// A path without `.` components.
pub(super) fn plain_path(path: &Path) -> String {
    path.components().collect::<std::path::PathBuf>().to_string_lossy().into_owned()
}

pub(super) fn variable(name: &str) -> String {
    format!("{{env:{name}}}")
}

/// Escapes braces that are literal text for the client.
fn literal(inner: &str) -> String {
    let name = inner.split_once(":-").map_or(inner, |(name, _)| name);
    let guard = if is_variable_name(name) { "$" } else { "" };
    format!("{guard}${{{inner}}}")
}

/// Turns any text into the name of a variable.
pub(super) fn upper_snake(text: &str) -> String {
    let plain: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    let plain = plain.trim_matches('_');
    if plain.starts_with(|c: char| c.is_ascii_digit()) || plain.is_empty() {
        format!("V_{plain}")
    } else {
        plain.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::Scope;

    fn converted(client: Client, scope: Scope, text: &str) -> (String, Vec<String>) {
        let file = ClientFile { client, scope, path: "/home/me/p/.vscode/mcp.json".into() };
        let mut value = Value::from(text);
        let notes = convert(&mut value, &file);
        (value.as_str().unwrap().to_owned(), notes)
    }

    #[test]
    fn each_client_has_its_own_way_to_write_variables() {
        for (client, theirs, ours) in [
            (Client::ClaudeCode, "${A}/${B:-x}/$C", "${A}/${B:-x}/$C"),
            (Client::ClaudeDesktop, "${A}$B", "$${A}$B"),
            (Client::Codex, "${A:-x} {env:B}", "$${A:-x} {env:B}"),
            (Client::Gemini, "$A-${B}-$9", "{env:A}-{env:B}-$9"),
            (Client::Cursor, "${env:A}:${userHome}${/}x", "{env:A}:{env:HOME}/x"),
            (Client::VsCode, "${workspaceFolder}/x:${workspaceFolderBasename}", "/home/me/p/x:p"),
            (Client::Windsurf, "${env:A}${B}", "{env:A}{env:B}"),
            (
                Client::OpenCode,
                "{env:A} {file:k} {file:~/k} ${B}",
                "{env:A} {file:/home/me/p/.vscode/k} {file:~/k} $${B}",
            ),
            (Client::Zed, "é$ {x} ${", "é$ {x} ${"),
        ] {
            assert_eq!(converted(client, Scope::Project, theirs).0, ours, "{client}");
        }
    }

    #[test]
    fn what_an_editor_asks_for_becomes_a_variable_to_set() {
        let (text, notes) =
            converted(Client::VsCode, Scope::User, "Bearer ${input:api-token} ${workspaceFolder}");
        assert_eq!(text, "Bearer {env:API_TOKEN} ${workspaceFolder}".replace("${w", "$${w"));
        assert_eq!(
            notes,
            [
                "`${workspaceFolder}` is the project that is open; write the directory that is meant",
                "set `API_TOKEN`: the editor asks for it as `api-token`"
            ]
        );
    }
}
