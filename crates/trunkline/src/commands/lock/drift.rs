//! Drift: how the definitions of a server differ from the locked ones.

use serde::Serialize;
use trunkline_lint::suspicions;
use trunkline_lock::{Change, Kind, Pinned, Severity, compare, compare_text};

/// One definition that differs.
#[derive(Debug, Serialize)]
pub(super) struct Drift {
    pub(super) server: String,
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) state: State,
    pub(super) changes: Vec<Change>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Changed,
    New,
    Gone,
}

impl State {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::New => "is new",
            Self::Gone => "is gone",
        }
    }
}

impl Drift {
    pub(super) fn title(&self) -> String {
        format!("{}: {} {}", self.server, self.kind, self.name).trim_end().to_owned()
    }
}

/// The differences between the locked and the current definitions.
pub(super) fn between(server: &str, locked: Option<&Pinned>, now: &Pinned) -> Vec<Drift> {
    let none = Pinned::default();
    let locked = locked.unwrap_or(&none);
    let mut drifts = Vec::new();
    let mut add = |kind: Kind, name: &str, state: State, changes: Vec<Change>| {
        let (server, name) = (server.to_owned(), name.to_owned());
        drifts.push(Drift { server, kind: kind.word(), name, state, changes });
    };
    for kind in Kind::LISTED {
        let (old, new) = (locked.list(kind), now.list(kind));
        for (name, definition) in new {
            match old.get(name) {
                None => add(kind, name, State::New, suspicious(&definition.to_string())),
                Some(accepted) => {
                    let changes = compare(accepted, definition, &suspicions);
                    if !changes.is_empty() {
                        add(kind, name, State::Changed, changes);
                    }
                }
            }
        }
        for name in old.keys().filter(|name| !new.contains_key(*name)) {
            add(kind, name, State::Gone, Vec::new());
        }
    }
    let (old, new) = (locked.instructions.as_deref(), now.instructions.as_deref());
    match (old, new) {
        (None, Some(text)) => add(Kind::Instructions, "", State::New, suspicious(text)),
        (Some(_), None) => add(Kind::Instructions, "", State::Gone, Vec::new()),
        (Some(old), Some(new)) if old != new => {
            add(Kind::Instructions, "", State::Changed, compare_text(old, new, &suspicions));
        }
        _ => {}
    }
    drifts
}

pub(super) fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Wording => "wording",
        Severity::Removed => "removed",
        Severity::NewOptional => "new optional",
        Severity::Schema => "schema",
        Severity::NewRequired => "new required",
        Severity::Widened => "widened",
        Severity::Weakened => "weakened",
        Severity::Suspicious => "SUSPICIOUS",
    }
}

fn suspicious(text: &str) -> Vec<Change> {
    let change = |what| Change { severity: Severity::Suspicious, what };
    suspicions(text).into_iter().map(change).collect()
}
