//! Narrowing: removes from an approved project file what it is not allowed to set. It may set keys
//! that are not security-relevant, and make others stricter than the layers below; everything else
//! is refused and reported with its position. [`keys::project`] defines the permission of each
//! key.
//!
//! Rates are merged member by member from several layers, so they are compared once more when all
//! layers are known: [`widened_rates`].
//!
//! [`keys::project`]: crate::keys::project

use crate::{
    jsonc::{Entry, Node, Value},
    keys::{
        check::join,
        kind::parse_time,
        project::{self, FRESH, Fresh, Narrower, ProjectMay},
    },
    layered::over_defaults,
    listen::listen_address,
    problem::{Code, Problem},
    source::Sources,
};

/// The part of a project's file that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Everything that it may set.
    All,
    /// Only restrictions of the layers below. The rest is dropped.
    Restrictions,
}

/// The part of a project's tree that may be merged over `below`, and the refused values. `instead`
/// is the file where refused values belong.
pub(crate) fn narrowed(
    project: &Node,
    below: &Node,
    extent: Extent,
    sources: &Sources,
    instead: &str,
) -> (Node, Vec<Problem>) {
    let mut narrowing = Narrowing { below, extent, sources, instead, problems: Vec::new() };
    let value = narrowing.table(project.entries(), &Key::default());
    (Node { value, place: project.place }, narrowing.problems)
}

struct Narrowing<'a> {
    below: &'a Node,
    extent: Extent,
    sources: &'a Sources,
    instead: &'a str,
    problems: Vec<Problem>,
}

/// A key as written, and its pattern with `*` for user-chosen names.
#[derive(Clone, Default)]
struct Key {
    written: Vec<String>,
    pattern: String,
}

/// Default period of a rate, in milliseconds.
const MINUTE: f64 = 60_000.0;

impl Narrowing<'_> {
    fn table(&mut self, entries: &[Entry], key: &Key) -> Value {
        let kept = entries.iter().filter_map(|entry| {
            let node = self.entry(entry, key)?;
            Some(Entry { node, ..entry.clone() })
        });
        Value::Table(kept.collect())
    }

    fn entry(&mut self, entry: &Entry, above: &Key) -> Option<Node> {
        let key = above.join(&entry.key);
        if let Some((_, fresh)) = FRESH.iter().find(|(table, _)| *table == above.pattern)
            && self.of(&key).is_none()
        {
            let is_first = self.of(above).is_none_or(|table| table.entries().is_empty());
            if *fresh == Fresh::Free {
                return Some(entry.node.clone()).filter(|_| self.extent == Extent::All);
            }
            // The first roles are a restriction: without roles, everything is allowed.
            if is_first {
                return Some(entry.node.clone());
            }
            return self.refuse(
                entry,
                &key,
                "a project's file may not add to these, because your own file has some",
            );
        }
        match (project::may(&key.pattern), &entry.node.value) {
            (Some(ProjectMay::Set), _) => Some(entry.node.clone()).filter(|_| self.extent == Extent::All),
            (Some(ProjectMay::Narrow(narrower)), _) => self.narrow(entry, &key, narrower),
            (Some(ProjectMay::Never), _) => self.refuse(entry, &key, &never(&key)),
            (None, Value::Table(entries)) => {
                Some(Node { value: self.table(entries, &key), place: entry.node.place })
            }
            (None, _) => self.refuse(entry, &key, "a project's file may not set this"),
        }
    }

    fn narrow(&mut self, entry: &Entry, key: &Key, narrower: Narrower) -> Option<Node> {
        let node = &entry.node;
        let below = self.of(key);
        let (allowed, reason) = match narrower {
            Narrower::Added => return Some(added(below, node)),
            Narrower::Denying if denies_only(node) => return Some(before(below, node)),
            Narrower::Denying => (false, "may only add rules with `\"effect\": \"deny\"`"),
            Narrower::Loopback => (is_loopback(node), "may only name an address of this machine"),
            Narrower::Lower => {
                (is_lower(node, below), "may only lower this, written out as a number or time")
            }
            Narrower::Fewer => (is_fewer(node, below), "may only allow fewer calls"),
            Narrower::On => {
                let is_on = below.and_then(Node::bool) == Some(true);
                (node.bool().is_some_and(|on| on || !is_on), "may not switch this off")
            }
            Narrower::Off => {
                let is_off = below.and_then(Node::bool) == Some(false);
                (node.bool().is_some_and(|on| !on || !is_off), "may not switch this on")
            }
            Narrower::True => (node.bool() == Some(true), "may not switch this off"),
            Narrower::Ordered(order) => (is_stricter(node, below, order), "may only make this stricter"),
            Narrower::WithoutRoles => {
                (self.has_no_roles(), "may not set this, because your own file says who may use what")
            }
        };
        if allowed {
            Some(node.clone())
        } else {
            self.refuse(entry, key, &format!("a project's file {reason}"))
        }
    }

    /// The effective value of a key without the project; a server's missing options come from
    /// `defaults`.
    fn of(&self, key: &Key) -> Option<&Node> {
        let path: Vec<&str> = key.written.iter().map(String::as_str).collect();
        let default = || match path.as_slice() {
            ["mcp", "servers", _, option @ ..] if !option.is_empty() => {
                self.below.get("defaults")?.at(option)
            }
            _ => None,
        };
        self.below.at(&path).or_else(default)
    }

    fn has_no_roles(&self) -> bool {
        let roles = self.below.get("roles").map(Node::entries).unwrap_or_default();
        let default = self.below.get("defaultRole").and_then(Node::text);
        roles.is_empty() && default.is_none()
    }

    fn refuse(&mut self, entry: &Entry, key: &Key, reason: &str) -> Option<Node> {
        let problem =
            self.sources.problem(Code::ProjectMayNot, entry.key_place, &key.written.join("."), reason);
        self.problems.push(problem.suggest(self.instead));
        None
    }
}

impl Key {
    fn join(&self, name: &str) -> Self {
        let part = if project::has_chosen_names(&self.pattern) { "*" } else { name };
        let written = self.written.iter().cloned().chain([name.to_owned()]).collect();
        Self { written, pattern: join(&self.pattern, part) }
    }
}

fn never(key: &Key) -> String {
    match key.written.as_slice() {
        [mcp, servers, name, ..] if mcp == "mcp" && servers == "servers" => {
            format!("a project's file may not set this, because your own file describes the server `{name}`")
        }
        _ => "a project's file may not set this".to_owned(),
    }
}

fn added(below: Option<&Node>, node: &Node) -> Node {
    let Value::List(items) = &node.value else { return node.clone() };
    let known = below.map(Node::items).unwrap_or_default();
    let fresh = items.iter().filter(|item| !known.iter().any(|known| known.value == item.value));
    Node { value: Value::List(known.iter().chain(fresh).cloned().collect()), place: node.place }
}

/// True if every rule denies. Such rules are read before the user's own, so they can only take
/// away: even a rule that asks could replace one that denies.
fn denies_only(rules: &Node) -> bool {
    rules.items().iter().all(|rule| rule.get("effect").and_then(Node::text) == Some("deny"))
}

fn before(below: Option<&Node>, node: &Node) -> Node {
    let known = below.map(Node::items).unwrap_or_default();
    Node { value: Value::List(node.items().iter().chain(known).cloned().collect()), place: node.place }
}

fn is_loopback(node: &Node) -> bool {
    let address = |text: &str| listen_address(text).is_some_and(|address| address.ip().is_loopback());
    // A number is a port of the loopback address.
    matches!(node.value, Value::Null | Value::Number(_)) || node.text().is_some_and(address)
}

fn is_lower(node: &Node, below: Option<&Node>) -> bool {
    matches!((amount(Some(node)), amount(below)), (Some(given), Some(most)) if given <= most)
}

/// The merged rate is compared, because rates are merged member by member.
fn is_fewer(node: &Node, below: Option<&Node>) -> bool {
    let Some(below) = below.filter(|below| below.value != Value::Null) else { return true };
    is_no_wider(&Rate::of(Some(&over_defaults(below, node))), &Rate::of(Some(below)))
}

/// A rate limit as it is written.
#[derive(Debug, PartialEq)]
enum Rate {
    Unlimited,
    Limited {
        calls: f64,
        per: f64,
    },
    /// It contains a reference, or is not a rate.
    Unknown,
}

impl Rate {
    fn of(node: Option<&Node>) -> Self {
        let Some(node) = node.filter(|node| node.value != Value::Null) else { return Self::Unlimited };
        let per = node.get("per").map_or(Some(MINUTE), |per| amount(Some(per)));
        match (amount(node.get("calls")), per) {
            (Some(calls), Some(per)) => Self::Limited { calls, per },
            _ => Self::Unknown,
        }
    }
}

/// True if `given` allows no more calls than `most`, neither at once nor in the long run.
fn is_no_wider(given: &Rate, most: &Rate) -> bool {
    match (given, most) {
        (_, Rate::Unlimited) => true,
        (Rate::Limited { calls, per }, Rate::Limited { calls: most, per: least }) => {
            calls <= most && calls * least <= most * per
        }
        _ => false,
    }
}

/// The rates that are wider with the project's layer than without it, all layers considered.
/// `project` is that layer.
pub(crate) fn widened_rates(
    project: &Node,
    (with, without): (&Node, &Node),
    sources: &Sources,
    instead: &str,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut compare = |rates: [Option<&Node>; 2], paths: &[Vec<&str>]| {
        let entry = |path: &Vec<&str>| {
            let (last, above) = path.split_last()?;
            project.at(above)?.entry(last)
        };
        let set = paths.iter().find_map(|path| entry(path).map(|entry| (path.join("."), entry)));
        if let Some((key, entry)) = set
            && rates[0].map(|rate| &rate.value) != rates[1].map(|rate| &rate.value)
            && !is_no_wider(&Rate::of(rates[0]), &Rate::of(rates[1]))
        {
            let reason = "a project's file may only allow fewer calls";
            let problem = sources.problem(Code::ProjectMayNot, entry.key_place, &key, reason);
            problems.push(problem.suggest(instead));
        }
    };
    for name in ["perCaller", "perTool"] {
        let path = ["limits", name];
        compare([with.at(&path), without.at(&path)], &[path.to_vec()]);
    }
    for server in without.at(&["mcp", "servers"]).map(Node::entries).unwrap_or_default() {
        let path = ["mcp", "servers", server.key.as_str()];
        let of = |tree: &Node| {
            let (defaults, server) = (tree.get("defaults")?, tree.at(&path)?);
            over_defaults(defaults, server).get("rate").cloned()
        };
        let paths = [[&path[..], &["rate"]].concat(), vec!["defaults", "rate"]];
        compare([of(with).as_ref(), of(without).as_ref()], &paths);
    }
    problems
}

fn is_stricter(node: &Node, below: Option<&Node>, order: &[&str]) -> bool {
    let rank = |node: &Node| order.iter().position(|known| node.text() == Some(known));
    matches!((rank(node), below.and_then(rank)), (Some(given), Some(least)) if given >= least)
}

/// A number, or a duration in milliseconds; `None` if it is not a literal.
fn amount(node: Option<&Node>) -> Option<f64> {
    match &node?.value {
        Value::Number(number) => number.as_f64(),
        #[expect(clippy::cast_precision_loss, reason = "times are bounded far below 2^52 ms")]
        Value::Text(text) => parse_time(text).map(|time| time.as_millis() as f64),
        _ => None,
    }
}
