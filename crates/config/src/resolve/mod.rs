//! Turns layers into settings: resolves references, makes paths absolute, and checks keys that
//! depend on each other.

mod caller_headers;
mod hooks;
mod issuers;
mod parts;
mod references;
mod server;
mod shown;
mod warnings;

use crate::{
    expand::{has_reference, shown as as_written},
    jsonc::{Node, Value},
    keys,
    layered::Layered,
    listen::listen_address,
    problem::{Code, Problem},
    secret::{MASK, Secret, Secrets},
    settings::{Origins, Settings},
    watch::Seen,
};
pub(crate) use references::is_disabled;
use references::{Found, Unusable};
use serde::de::DeserializeOwned;
pub(crate) use server::shown_argument;
pub use shown::Shown;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::PathBuf,
};
use trunkline_protocol::ServerName;

/// The sources from which references are resolved.
pub(crate) struct Surroundings<'a> {
    pub(crate) variables: &'a BTreeMap<String, String>,
    pub(crate) secrets: &'a dyn Secrets,
    pub(crate) home: Option<PathBuf>,
    /// The source of a file whose references are not resolved.
    pub(crate) unapproved: Option<u16>,
}

/// A value as written, and the same value with its references resolved.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) written: &'a Node,
    pub(crate) read: &'a Node,
}

/// The settings, if there are no errors, and all problems including warnings.
pub(crate) struct Resolved {
    pub(crate) settings: Option<Settings>,
    pub(crate) origins: Origins,
    pub(crate) problems: Vec<Problem>,
    /// Files of referenced secrets.
    pub(crate) secret_files: Vec<Seen>,
    pub(crate) shown: Vec<Shown>,
    /// All values with references.
    pub(crate) references: Vec<Secret>,
}

/// `known` are the problems of the single layers; problems that follow from them are not reported.
pub(crate) fn resolve(layered: &Layered, around: &Surroundings<'_>, known: Vec<Problem>) -> Resolved {
    let Found { tree, problems, files, unusable, opaque } = references::look_up(layered, around);
    let mut resolver = Resolver { layered, problems, unusable };
    resolver.problems.extend(warnings::inline_secrets(layered));
    let whole = Pair { written: &layered.tree, read: &tree };
    let settings = resolver.settings(whole);
    let origins = resolver.origins();
    let (shown, references) = (shown::all(layered, &tree), shown::resolved(whole, ""));
    let wrong: BTreeSet<&str> =
        known.iter().filter(|problem| problem.is_error()).map(|problem| problem.key.as_str()).collect();
    // A value with an unresolved reference cannot be judged.
    let opaque: BTreeSet<&str> = opaque.iter().map(String::as_str).collect();
    let unknown = |problem: &Problem| match problem.code {
        Code::WrongKind | Code::UnknownReference => has_below(&opaque, &problem.key),
        _ => opaque.contains(problem.key.as_str()),
    };
    let follows = |problem: &Problem| {
        matches!(problem.code, Code::Missing | Code::WrongKind) && has_below(&wrong, &problem.key)
            || unknown(problem)
    };
    resolver.problems.retain(|problem| !follows(problem));
    let problems = [known, resolver.problems].concat();
    let settings = settings.filter(|_| !problems.iter().any(Problem::is_error));
    Resolved { settings, origins, problems, secret_files: files, shown, references }
}

/// The address of `listen`: a text or a port.
fn listen_at(node: &Node) -> Option<SocketAddr> {
    match &node.value {
        Value::Text(text) => listen_address(text),
        Value::Number(port) => listen_address(&port.to_string()),
        _ => None,
    }
}

/// True if `keys` contains this key or one below it.
fn has_below(keys: &BTreeSet<&str>, above: &str) -> bool {
    let begins =
        |start: String| keys.range(start.as_str()..).next().is_some_and(|key| key.starts_with(&start));
    keys.contains(above) || begins(format!("{above}.")) || begins(format!("{above}["))
}

/// True if `key` equals `above` or is below it.
fn is_below(key: &str, above: &str) -> bool {
    key.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

pub(crate) struct Resolver<'a> {
    layered: &'a Layered,
    problems: Vec<Problem>,
    unusable: Unusable,
}

impl Resolver<'_> {
    fn settings(&mut self, whole: Pair<'_>) -> Option<Settings> {
        let defaults = self.typed(whole.get("defaults")?, "defaults");
        let (servers, disabled) = self.servers(whole);
        let (views, roles) = (self.views(whole), self.roles(whole));
        let default_role = self.default_role(whole);
        let policy = self.policy(whole);
        let hooks = self.hooks(whole);
        let (tls, auth) = (self.tls(whole), self.auth(whole));
        let telemetry = self.telemetry(whole);
        let store = self.store(whole);
        let insecure_http = self.typed(whole.get("insecureHttp")?, "insecureHttp");
        let public_url = self.public_url(whole);
        let handshake = self.typed(whole.get("handshake")?, "handshake");
        let errors = self.typed(whole.get("errors")?, "errors");
        let disclosure = self.typed(whole.get("disclosure")?, "disclosure");
        let tool_budget = self.typed(whole.get("toolBudget")?, "toolBudget");
        let lock = self.typed(whole.get("lock")?, "lock");
        let lock_file = self.typed(whole.get("lockFile")?, "lockFile");
        let limits = self.typed(whole.get("limits")?, "limits");
        let audit = self.typed(whole.get("audit")?, "audit");
        let access_log = self.typed(whole.get("accessLog")?, "accessLog");
        let documents = self.typed(whole.get("documents")?, "documents");
        // All unreadable values were reported, by the schema check or here.
        Some(Settings {
            listen: whole.get("listen").and_then(|listen| listen_at(listen.read)),
            tls,
            insecure_http: insecure_http?,
            public_url,
            servers,
            disabled,
            defaults: defaults?,
            disclosure: disclosure?,
            tool_budget: tool_budget?,
            lock: lock?,
            lock_file: lock_file?,
            views,
            roles,
            default_role,
            policy: policy?,
            auth: auth?,
            handshake: handshake?,
            errors: errors?,
            hooks,
            limits: limits?,
            audit: audit?,
            access_log: access_log?,
            telemetry: telemetry?,
            store: store?,
            documents: documents?,
        })
    }

    fn origins(&self) -> Origins {
        let servers = self.layered.tree.at(&["mcp", "servers"]).map(Node::entries).unwrap_or_default();
        let origin = |entry: &crate::jsonc::Entry| {
            let name = entry.key.parse::<ServerName>().ok()?;
            Some((name, self.layered.sources.origin(entry.key_place)))
        };
        servers.iter().filter_map(origin).collect()
    }

    /// Deserializes a part of the tree. The tree was checked, so this fails only if a problem is
    /// known.
    fn typed<T: DeserializeOwned>(&mut self, part: Pair<'_>, key: &str) -> Option<T> {
        match serde_json::from_value(part.read.to_json()) {
            Ok(value) => Some(value),
            Err(error) => {
                if !self.problems.iter().any(|problem| problem.is_error() && is_below(&problem.key, key)) {
                    self.report(Code::WrongKind, part.written, key, error.to_string());
                }
                None
            }
        }
    }

    fn report(&mut self, code: Code, at: &Node, key: &str, message: impl Into<String>) -> &mut Problem {
        self.problems.push(self.layered.sources.problem(code, at.place, key, message));
        self.problems.last_mut().expect("one was pushed")
    }

    fn nearest(given: &str, known: &[String]) -> Option<String> {
        keys::nearest(given, known.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"))
    }
}

impl<'a> Pair<'a> {
    pub(crate) fn get(self, key: &str) -> Option<Self> {
        Some(Self { written: self.written.get(key)?, read: self.read.get(key)? })
    }

    pub(crate) fn at(self, path: &[&str]) -> Option<Self> {
        path.iter().try_fold(self, |pair, key| pair.get(key))
    }

    /// The members of an object with their names.
    pub(crate) fn entries(self) -> impl Iterator<Item = (&'a str, Self)> {
        let both = self.written.entries().iter().zip(self.read.entries());
        both.map(|(written, read)| (written.key.as_str(), Self { written: &written.node, read: &read.node }))
    }

    /// A secret: a reference is shown as written, a literal value never.
    pub(crate) fn secret(self) -> Secret {
        let text = self.written.text().unwrap_or_default();
        let hidden = if has_reference(text) { as_written(text) } else { MASK.to_owned() };
        Secret::new(self.read.text().unwrap_or_default(), hidden)
    }

    /// The items of a list.
    pub(crate) fn items(self) -> impl Iterator<Item = Self> {
        self.written.items().iter().zip(self.read.items()).map(|(written, read)| Self { written, read })
    }
}
