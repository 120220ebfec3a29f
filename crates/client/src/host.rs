//! The host: the application behind this client, which answers the server's questions.

use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Map, Value, json};
use std::{borrow::Cow, future};
use trunkline_protocol::{Fault, FaultKind, Notification, Outcome, Raw, Revision, message::Root, method};

/// Answers a server's questions and receives its notifications. The questions of both eras reach
/// it in the same form.
pub trait Host: Send + Sync + 'static {
    /// The questions that this host can answer; declared to the server as capabilities.
    fn abilities(&self) -> Abilities;

    /// Answers `sampling/createMessage`, `elicitation/create` or `roots/list` with that method's
    /// result.
    fn answer(&self, asked: Asked) -> BoxFuture<'static, Outcome>;

    /// Receives a notification that belongs to no call: logs, list changes, updated resources.
    fn notice(&self, notification: &Notification);
}

/// A question of the server to the host.
#[derive(Debug, Clone)]
pub struct Asked {
    pub method: Cow<'static, str>,
    pub params: Option<Raw>,
}

/// The questions that a host can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Abilities {
    pub roots: Ability,
    pub sampling: Ability,
    pub sampling_tools: Ability,
    pub elicitation_form: Ability,
    pub elicitation_url: Ability,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ability {
    #[default]
    No,
    Yes,
}

/// A host that answers no questions.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    fn answer(&self, asked: Asked) -> BoxFuture<'static, Outcome> {
        future::ready(Err(Fault::new(
            FaultKind::NotAvailable,
            format!("this client does not answer `{}`", asked.method),
        )))
        .boxed()
    }

    fn notice(&self, _notification: &Notification) {}
}

/// The host of a relaying connection: it answers the server's questions while no call is open.
#[derive(Debug, Clone, Default)]
pub struct Unattended {
    /// The answer to `roots/list`.
    pub roots: Vec<Root>,
}

impl Host for Unattended {
    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    fn answer(&self, asked: Asked) -> BoxFuture<'static, Outcome> {
        let outcome = match asked.method.as_ref() {
            method::ROOTS_LIST => Ok(json!({"roots": self.roots}).into()),
            method::ELICIT => Ok(json!({"action": "decline"}).into()),
            other => Err(Fault::new(
                FaultKind::Declined,
                format!("`{other}` cannot be answered while no call is open"),
            )),
        };
        future::ready(outcome).boxed()
    }

    fn notice(&self, _notification: &Notification) {}
}

impl Abilities {
    /// The `capabilities` for a server of this revision; those that the revision does not have are
    /// left out.
    pub(crate) fn declare(self, revision: Revision) -> Value {
        let mut capabilities = Map::new();
        if self.roots == Ability::Yes {
            capabilities.insert("roots".to_owned(), json!({}));
        }
        if self.sampling == Ability::Yes {
            let tools = self.sampling_tools == Ability::Yes && revision.has_url_elicitation();
            capabilities.insert("sampling".to_owned(), if tools { json!({"tools": {}}) } else { json!({}) });
        }
        let url = self.elicitation_url == Ability::Yes && revision.has_url_elicitation();
        let form = self.elicitation_form == Ability::Yes && revision.has_elicitation();
        let elicitation = match (form, url) {
            (true, true) => Some(json!({"form": {}, "url": {}})),
            (false, true) => Some(json!({"url": {}})),
            (true, false) => Some(json!({})),
            (false, false) => None,
        };
        capabilities.extend(elicitation.map(|value| ("elicitation".to_owned(), value)));
        Value::Object(capabilities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_hears_only_of_what_its_revision_has() {
        let all = Abilities {
            roots: Ability::Yes,
            sampling: Ability::Yes,
            sampling_tools: Ability::Yes,
            elicitation_form: Ability::Yes,
            elicitation_url: Ability::Yes,
        };
        assert_eq!(all.declare(Revision::V2024_11_05), json!({"roots": {}, "sampling": {}}));
        assert_eq!(
            all.declare(Revision::V2025_06_18),
            json!({"roots": {}, "sampling": {}, "elicitation": {}})
        );
        let newest = json!({"roots": {}, "sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}});
        assert_eq!(all.declare(Revision::V2026_07_28), newest);
        assert_eq!(Abilities::default().declare(Revision::NEWEST), json!({}));
    }
}
