//! Resolves every reference in the tree, and makes paths absolute. Disabled servers are skipped.
//!
//! A reference of a server that cannot be resolved makes this server unusable and is a warning;
//! anywhere else it is an error. References of an unapproved file stay as they are.

use super::Surroundings;
use crate::{
    expand::{Piece, has_reference, misspelt, pieces, shown},
    jsonc::{Entry, Node, Value},
    keys::{check, schema},
    layered::Layered,
    problem::{Code, Problem, Severity},
    regular_file::read_regular_text,
    watch::Seen,
};
use serde_json::Value as Json;
use std::{collections::BTreeMap, path::PathBuf};

/// Maximum size of a secret's file.
const MAX_SECRET_BYTES: u64 = 64 * 1024;
/// Maximum total size of all resolved references.
const MAX_LOOKED_UP_BYTES: usize = 4 * 1024 * 1024;
/// After this many failed references, no more are resolved.
const MAX_FAILED: usize = 100;
/// Maximum number of reasons that are kept for one server.
const MAX_REASONS: usize = 10;

/// The tree with all references resolved.
pub(super) struct Found {
    pub(super) tree: Node,
    /// Problems found while resolving.
    pub(super) problems: Vec<Problem>,
    /// Files that references name.
    pub(super) files: Vec<Seen>,
    /// Servers with references that cannot be resolved, and the reasons.
    pub(super) unusable: Unusable,
    /// Keys with references of an unapproved file.
    pub(super) opaque: Vec<String>,
}

/// The reasons why servers cannot be used, by the servers' names.
pub(super) type Unusable = BTreeMap<String, Vec<String>>;

pub(super) fn look_up(layered: &Layered, around: &Surroundings<'_>) -> Found {
    let mut look = LookUp {
        layered,
        around,
        problems: Vec::new(),
        files: Vec::new(),
        room: MAX_LOOKED_UP_BYTES,
        failed: 0,
        server: None,
        unusable: Unusable::new(),
        opaque: Vec::new(),
    };
    let tree = look.node(&layered.tree, &schema(), "");
    let LookUp { problems, files, unusable, opaque, .. } = look;
    Found { tree, problems, files, unusable, opaque }
}

/// True if a server is disabled.
pub(crate) fn is_disabled(server: &Node) -> bool {
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
    /// Name of the server whose keys are being resolved.
    server: Option<String>,
    unusable: Unusable,
    opaque: Vec<String>,
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
        if key == "mcp.servers" {
            self.server = Some(entry.key.clone());
        }
        let node = self.node(&entry.node, schema, &path);
        if key == "mcp.servers" {
            self.server = None;
        }
        Entry { node, ..entry.clone() }
    }

    fn text(&mut self, node: &Node, text: &str, schema: &Json, key: &str) -> Value {
        if let Some((written, meant)) = misspelt(text) {
            let message = format!("`{written}` is not a reference");
            self.report(Code::BadValue, node, key, (message, format!("did you mean `{meant}`?")));
        }
        if Some(node.place.source) == self.around.unapproved && has_reference(text) {
            self.opaque.push(key.to_owned());
            return Value::Text(text.to_owned());
        }
        let before = self.failed;
        let mut whole = String::with_capacity(text.len());
        for piece in pieces(text) {
            if let Piece::Literal(text) = piece {
                whole.push_str(text);
            } else {
                let found = self.piece(node, &piece, key);
                whole.push_str(&self.fitting(node, found, key));
            }
        }
        if self.failed == before && has_reference(text) {
            let read = Node { value: Value::Text(whole.clone()), place: node.place };
            // Problems show the text as written, not its resolved value, which may be a secret.
            for mut problem in check::check(&read, schema, key, &self.layered.sources) {
                problem.message =
                    problem.message.replace(&format!("`{whole}`"), &format!("`{}`", shown(text)));
                self.push(problem);
            }
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
        if self.failed >= MAX_FAILED {
            return self.skip(node, key);
        }
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
            Piece::Keychain(name) => self.around.secrets.keychain(name).unwrap_or_else(|missing| {
                self.report(Code::UnavailableSecret, node, key, (missing.reason, missing.suggestion))
            }),
        }
    }

    /// Returns the resolved value, or reports a problem if the total size limit is exceeded.
    fn fitting(&mut self, node: &Node, found: String, key: &str) -> String {
        if let Some(room) = self.room.checked_sub(found.len()) {
            self.room = room;
            return found;
        }
        let message = format!("references stand for more than {MAX_LOOKED_UP_BYTES} bytes in all");
        self.report(Code::OutOfRange, node, key, (message, "refer to each file once".to_owned()));
        self.failed = self.failed.max(MAX_FAILED);
        String::new()
    }

    /// Does not resolve a reference, because too many failed. Its server is disabled; outside of
    /// servers, the first one of a text is reported.
    fn skip(&mut self, node: &Node, key: &str) -> String {
        self.failed += 1;
        let reason = format!("it is not resolved, because {MAX_FAILED} other references cannot be");
        if let Some(server) = &self.server {
            self.unusable.entry(server.clone()).or_insert_with(|| vec![reason]);
        } else if self.problems.last().is_none_or(|last| last.key != key) {
            self.problems.push(self.layered.sources.problem(Code::OutOfRange, node.place, key, reason));
        }
        String::new()
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
        self.push(self.layered.sources.problem(code, node.place, key, message).suggest(hint));
        String::new()
    }

    /// Adds a problem. An error of a server is a warning that disables this server.
    fn push(&mut self, mut problem: Problem) {
        if problem.is_error() {
            self.failed += 1;
            if let Some(server) = &self.server {
                problem.severity = Severity::Warning;
                let reasons = self.unusable.entry(server.clone()).or_default();
                if reasons.len() < MAX_REASONS {
                    reasons.push(problem.message.clone());
                }
                problem.message = format!("{}, so the server `{server}` is not used", problem.message);
            }
        }
        self.problems.push(problem);
    }
}
