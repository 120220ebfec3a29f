//! Plan: decides for each found server whether and how it is imported, before anything is written.

use super::{
    client::{Client, ClientFile, Scope},
    draft::Draft,
    name::legal_name,
    secrets::{SecretFound, Taken, set_aside},
    words,
};
use crate::{
    expand::{Piece, pieces},
    jsonc::Node,
    secret::Secret,
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fmt,
};
use trunkline_protocol::MAX_SERVER_NAME;

/// A server as another client has it.
#[derive(Clone)]
pub struct Found {
    pub file: ClientFile,
    /// The client's name of the server.
    pub theirs: String,
    pub(super) draft: Draft,
}

/// The decisions about all servers found.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    pub servers: Vec<Planned>,
}

/// The decision about one server.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    pub client: Client,
    pub scope: Scope,
    pub file: std::path::PathBuf,
    /// The client's name of the server.
    pub theirs: String,
    /// Its name in our file.
    pub name: String,
    pub outcome: Outcome,
    /// The server as written to our file.
    pub entry: Map<String, Value>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Literal secrets of the client's file.
    pub secrets: Vec<SecretFound>,
}

/// The outcome for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Added,
    /// Our file already has the same server, or another client has.
    Same,
    /// Our file has a different server of this name, which is kept.
    Kept,
    /// It cannot be imported.
    Refused,
    /// It is of a project's file, which may be a stranger's, and was not asked for.
    OfProject,
}

/// The order in which keys are written.
const ORDER: &[&str] = &[
    "type",
    "enabled",
    "command",
    "environment",
    "inherit",
    "cwd",
    "url",
    "transport",
    "headers",
    "oauth",
    "timeout",
    "allow",
    "deny",
];

/// Decides about all servers found; `existing` is our current file.
pub fn plan(found: Vec<Found>, existing: Option<&Node>) -> Plan {
    let servers =
        existing.and_then(|tree| tree.at(&["mcp", "servers"])).map(Node::entries).unwrap_or_default();
    let mut planning = Planning {
        existing: servers.iter().map(|entry| (entry.key.as_str(), &entry.node)).collect(),
        taken: Taken::default(),
        added: HashMap::new(),
        numbers: HashMap::new(),
        plan: Plan::default(),
    };
    for found in found {
        planning.one(found);
    }
    planning.plan
}

/// Omits the client's values, which may hold secrets.
impl fmt::Debug for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found")
            .field("file", &self.file)
            .field("theirs", &self.theirs)
            .finish_non_exhaustive()
    }
}

impl Planned {
    /// The environment variables that it needs.
    pub fn variables(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.entry.values().for_each(|value| needed(value, &mut found));
        found
    }
}

fn needed(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => found.extend(pieces(text).into_iter().filter_map(|piece| match piece {
            Piece::Variable { name, default: None } => Some(name.to_owned()),
            _ => None,
        })),
        Value::Array(items) => items.iter().for_each(|item| needed(item, found)),
        Value::Object(members) => members.values().for_each(|member| needed(member, found)),
        _ => {}
    }
}

impl Plan {
    /// Appends servers of project files that are shown and not imported.
    pub fn leave_out(&mut self, others: Self) {
        for mut planned in others.servers {
            if planned.outcome == Outcome::Added {
                planned.outcome = Outcome::OfProject;
                planned.secrets.clear();
                planned.notes = vec![PROJECT_NOTE.to_owned()];
            }
            self.servers.push(planned);
        }
    }

    /// True if at least one server would be added.
    pub fn adds(&self) -> bool {
        self.servers.iter().any(|planned| planned.outcome == Outcome::Added)
    }

    /// Changes references from variables to files next to ours, and returns the files to write.
    pub fn secrets_to_files(&mut self) -> Vec<SecretFile> {
        let mut files: Vec<SecretFile> = Vec::new();
        let mut made = HashSet::new();
        for planned in &mut self.servers {
            let secrets = std::mem::take(&mut planned.secrets);
            let kept: HashSet<&str> = secrets.iter().map(|secret| secret.variable.as_str()).collect();
            planned.entry.values_mut().for_each(|value| refer_to_files(value, &kept));
            let told = |note: &str| {
                note.strip_prefix("set `")?.split_once("` to").map(|(name, _)| kept.contains(name))
            };
            planned.notes.retain(|note| told(note) != Some(true));
            for secret in secrets {
                let path = format!("{SECRETS}/{}", secret.variable);
                planned.notes.push(format!("the secret in `{}` is kept in {path}", secret.key));
                if made.insert(path.clone()) {
                    files.push(SecretFile { path, value: secret.value });
                }
            }
        }
        files
    }
}

/// Said of a server that is left out because a project's file has it.
const PROJECT_NOTE: &str =
    "it comes with the project, which may be a stranger's; `--project` imports it, too";

/// The directory of secrets, next to our file.
const SECRETS: &str = "secrets";

/// A file that holds one secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFile {
    /// Relative to the directory of our file.
    pub path: String,
    pub value: Secret,
}

/// Replaces references to the variables of these names by references to files.
fn refer_to_files(value: &mut Value, names: &HashSet<&str>) {
    match value {
        Value::String(text) => *text = referring_to_files(text, names),
        Value::Array(items) => items.iter_mut().for_each(|item| refer_to_files(item, names)),
        Value::Object(members) => members.values_mut().for_each(|member| refer_to_files(member, names)),
        _ => {}
    }
}

fn referring_to_files(text: &str, names: &HashSet<&str>) -> String {
    const VARIABLE: &str = "{env:";
    let mut parts = text.split(VARIABLE);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}').filter(|(name, _)| names.contains(name)) {
            Some((name, rest)) => out.extend(["{file:", SECRETS, "/", name, "}", rest]),
            None => out.extend([VARIABLE, part]),
        }
    }
    out
}

struct Planning<'a> {
    /// The servers of our file.
    existing: HashMap<&'a str, &'a Node>,
    taken: Taken,
    /// Indices of the added servers in the plan, by their names in lower case.
    added: HashMap<String, usize>,
    /// The last number appended to each name.
    numbers: HashMap<String, usize>,
    plan: Plan,
}

impl Planning<'_> {
    fn one(&mut self, found: Found) {
        let Found { file, theirs, draft } = found;
        let Draft { ours, keys, mut notes, refused, .. } = draft;
        let mut value = Value::Object(ours);
        notes.extend(words::convert(&mut value, &file));
        let Value::Object(mut ours) = value else { unreachable!("it was one above") };
        if let (Some(project), true) = (file.project(), ours.contains_key("command")) {
            let cwd = ours.get("cwd").and_then(Value::as_str).unwrap_or_default();
            ours.insert("cwd".to_owned(), words::plain_path(&project.join(cwd)).into());
        }
        let legal = legal_name(&theirs);
        let mut secrets = set_aside(&mut ours, &legal, &mut self.taken);
        for secret in &mut secrets {
            secret.key = keys.theirs(&secret.key);
        }
        let entry = ordered(ours);
        let (name, outcome, note) = if let Some(reason) = refused {
            notes.clear();
            (legal, Outcome::Refused, Some(reason))
        } else {
            if legal != theirs {
                notes.push(format!("`{theirs}` is called `{legal}` here"));
            }
            self.name(legal, file.client, &entry)
        };
        notes.extend(note);
        let secrets = if outcome == Outcome::Added { secrets } else { Vec::new() };
        notes.extend(secrets.iter().map(SecretFound::advice));
        let ClientFile { client, scope, path } = file;
        if outcome == Outcome::Added {
            self.added.entry(name.to_ascii_lowercase()).or_insert(self.plan.servers.len());
        }
        self.plan.servers.push(Planned {
            client,
            scope,
            file: path,
            theirs,
            name,
            outcome,
            entry,
            notes,
            secrets,
        });
    }

    /// The name of the server, its outcome, and notes about both.
    fn name(
        &mut self,
        legal: String,
        client: Client,
        entry: &Map<String, Value>,
    ) -> (String, Outcome, Option<String>) {
        if let Some(ours) = self.existing.get(legal.as_str()) {
            let same = |ours: &Node| ours.to_json().as_object() == Some(entry);
            let beside = suffixed(&legal, client.name());
            if self.existing.get(beside.as_str()).is_some_and(|ours| same(ours)) {
                return (beside, Outcome::Same, None);
            }
            if same(ours) {
                return (legal, Outcome::Same, None);
            }
            let note = format!("your file has another `{legal}`, which stays as it is");
            return (legal, Outcome::Kept, Some(note));
        }
        let Some(twin) = self.added(&legal) else { return (legal, Outcome::Added, None) };
        if twin.entry == *entry {
            return (legal, Outcome::Same, Some(format!("the same as in {}", twin.client)));
        }
        let twin = twin.client;
        let beside = suffixed(&legal, client.name());
        let name = if self.is_free(&beside) { beside } else { self.numbered(&legal) };
        let note = format!("{twin} has another `{legal}`, so this one is called `{name}`");
        (name, Outcome::Added, Some(note))
    }

    fn is_free(&self, name: &str) -> bool {
        self.added(name).is_none() && !self.existing.contains_key(name)
    }

    /// The name with the next unused number.
    fn numbered(&mut self, legal: &str) -> String {
        let last = self.numbers.get(legal).copied().unwrap_or(1);
        let name = |number: usize| suffixed(legal, &number.to_string());
        let number = (last + 1..=usize::MAX)
            .find(|number| self.is_free(&name(*number)))
            .expect("there is always a next number");
        self.numbers.insert(legal.to_owned(), number);
        name(number)
    }

    fn added(&self, name: &str) -> Option<&Planned> {
        self.added.get(&name.to_ascii_lowercase()).map(|at| &self.plan.servers[*at])
    }
}

fn suffixed(name: &str, suffix: &str) -> String {
    let room = MAX_SERVER_NAME - suffix.len() - 1;
    format!("{}-{suffix}", name[..name.len().min(room)].trim_end_matches('-'))
}

fn ordered(mut entry: Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for key in ORDER {
        if let Some(value) = entry.shift_remove(*key) {
            out.insert((*key).to_owned(), value);
        }
    }
    out.extend(entry);
    out
}
