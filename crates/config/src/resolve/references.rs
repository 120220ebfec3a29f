//! Resolves every reference in the tree, and makes paths absolute. Disabled servers are skipped.

use super::Surroundings;
use crate::{
    expand::{Piece, has_reference, pieces, shown},
    jsonc::{Entry, Node, Value},
    keys::{check, schema},
    layered::Layered,
    problem::{Code, Problem, Severity},
    regular_file::read_regular_text,
    watch::Seen,
};
use serde_json::Value as Json;
use std::path::PathBuf;

/// Maximum size of a secret's file.
const MAX_SECRET_BYTES: u64 = 64 * 1024;
/// Maximum total size of all resolved references.
const MAX_LOOKED_UP_BYTES: usize = 4 * 1024 * 1024;
/// After this many failed references, no more are resolved.
const MAX_FAILED: usize = 100;

/// The tree with all references resolved.
pub(super) struct Found {
    pub(super) tree: Node,
    /// Problems found while resolving.
    pub(super) problems: Vec<Problem>,
    /// Files that references name.
    pub(super) files: Vec<Seen>,
}

pub(super) fn look_up(layered: &Layered, around: &Surroundings<'_>) -> Found {
    let mut look = LookUp {
        layered,
        around,
        problems: Vec::new(),
        files: Vec::new(),
        room: MAX_LOOKED_UP_BYTES,
        failed: 0,
    };
    let tree = look.node(&layered.tree, &schema(), "");
    Found { tree, problems: look.problems, files: look.files }
}

/// True if a server is disabled.
pub(super) fn is_disabled(server: &Node) -> bool {
    server.get("enabled").and_then(Node::bool) == Some(false)
}

struct LookUp<'a> {
    layered: &'a Layered,
    around: &'a Surroundings<'a>,
    problems: Vec<Problem>,
    files: Vec<Seen>,
    /// Remaining bytes of `MAX_LOOKED_UP_BYTES`.
    room: usize,
    failed: usize,
}

impl LookUp<'_> {
    fn node(&mut self, node: &Node, schema: &Json, key: &str) -> Node {
        let value = match &node.value {
            Value::Text(text) => self.text(node, text, schema, key),
            Value::List(items) => {
                let schema = schema.get("items").unwrap_or(&Json::Null);
                let item =
                    |(index, item): (usize, &Node)| self.node(item, schema, &format!("{key}[{index}]"));
                Value::List(items.iter().enumerate().map(item).collect())
            }
            Value::Table(entries) => {
                Value::Table(entries.iter().map(|entry| self.entry(entry, schema, key)).collect())
            }
            other => other.clone(),
        };
        Node { value, place: node.place }
    }

    fn entry(&mut self, entry: &Entry, schema: &Json, key: &str) -> Entry {
        let path = check::join(key, &entry.key);
        if key == "mcp.servers" && is_disabled(&entry.node) {
            return entry.clone();
        }
        let property = schema.get("properties").and_then(|properties| properties.get(&entry.key));
        let schema = property.or_else(|| schema.get("additionalProperties")).unwrap_or(&Json::Null);
        Entry { node: self.node(&entry.node, schema, &path), ..entry.clone() }
    }

    fn text(&mut self, node: &Node, text: &str, schema: &Json, key: &str) -> Value {
        let before = self.problems.len();
        let mut whole = String::with_capacity(text.len());
        for piece in pieces(text) {
            if let Piece::Literal(text) = piece {
                whole.push_str(text);
            } else if self.failed < MAX_FAILED {
                let found = self.piece(node, &piece, key);
                whole.push_str(&self.fitting(node, found, key));
            }
        }
        let is_whole = !self.problems[before..].iter().any(Problem::is_error);
        if is_whole && has_reference(text) {
            let read = Node { value: Value::Text(whole.clone()), place: node.place };
            // Problems show the text as written, not its resolved value, which may be a secret.
            let told =
                check::check(&read, schema, key, &self.layered.sources).into_iter().map(|mut problem| {
                    problem.message =
                        problem.message.replace(&format!("`{whole}`"), &format!("`{}`", shown(text)));
                    problem
                });
            self.problems.extend(told);
        }
        let is_path = match schema.get("x-kind").and_then(Json::as_str) {
            Some("path") => true,
            Some("path-or-url") => !whole.contains("://"),
            _ => false,
        };
        if is_path {
            whole = self.absolute(node, &whole).to_string_lossy().into_owned();
        }
        Value::Text(whole)
    }

    fn piece(&mut self, node: &Node, piece: &Piece<'_>, key: &str) -> String {
        match piece {
            Piece::Literal(text) => (*text).to_owned(),
            Piece::Variable { name, default } => {
                // As in a shell, the default also applies if the variable is empty.
                let set = self.around.variables.get(*name).map(String::as_str);
                let value = match default {
                    Some(default) => Some(set.filter(|value| !value.is_empty()).unwrap_or(default)),
                    None => set,
                };
                value.map_or_else(
                    || {
                        let message = format!("the environment variable `{name}` is not set");
                        let hint = format!("set it, or write `${{{name}:-…}}` with what to use without it");
                        self.report(Code::UnsetVariable, node, key, (message, hint))
                    },
                    str::to_owned,
                )
            }
            Piece::File(path) => self.file(node, path, key),
            Piece::Keychain { service, account } => {
                self.around.secrets.keychain(service, account).unwrap_or_else(|missing| {
                    self.report(Code::UnavailableSecret, node, key, (missing.reason, missing.suggestion))
                })
            }
        }
    }

    /// Returns the resolved value, or reports a problem if the total size limit is exceeded.
    fn fitting(&mut self, node: &Node, found: String, key: &str) -> String {
        if let Some(room) = self.room.checked_sub(found.len()) {
            self.room = room;
            return found;
        }
        let message = format!("references stand for more than {MAX_LOOKED_UP_BYTES} bytes in all");
        self.failed = MAX_FAILED;
        self.report(Code::OutOfRange, node, key, (message, "refer to each file once".to_owned()))
    }

    /// Reads a secret's file, without the line break that editors add at the end.
    fn file(&mut self, node: &Node, path: &str, key: &str) -> String {
        let path = self.absolute(node, path);
        self.files.push(Seen::now(&path));
        match read_regular_text(&path, MAX_SECRET_BYTES) {
            Ok(text) => {
                if crate::files::others_can_read(&path) {
                    let message = format!("others can read {}", path.display());
                    let hint = format!("chmod 600 {}", path.display());
                    self.report(Code::OpenFile, node, key, (message, hint));
                }
                text.strip_suffix('\n')
                    .map_or(&*text, |text| text.strip_suffix('\r').unwrap_or(text))
                    .to_owned()
            }
            Err(reason) => {
                let message = format!("{} cannot be read: {reason}", path.display());
                {
                    let hint = "put the secret there, in a file only you can read".to_owned();
                    self.report(Code::UnavailableSecret, node, key, (message, hint))
                }
            }
        }
    }

    /// Resolves a path against the directory of the file that names it; `~/` is the home
    /// directory.
    fn absolute(&self, node: &Node, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.around.home) {
            (Some(below), Some(home)) => home.join(below),
            _ if path == "~" => self.around.home.clone().unwrap_or_else(|| PathBuf::from("~")),
            _ => self.layered.sources.directory(node.place).join(path),
        }
    }

    fn report(&mut self, code: Code, node: &Node, key: &str, (message, hint): (String, String)) -> String {
        // Report each warning only once per text.
        let told = |known: &Problem| known.key == key && known.message == message;
        if code.severity() == Severity::Warning && self.problems.iter().rev().take(MAX_FAILED).any(told) {
            return String::new();
        }
        self.failed += usize::from(code.severity() == Severity::Error);
        self.problems.push(self.layered.sources.problem(code, node.place, key, message).suggest(hint));
        String::new()
    }
}
