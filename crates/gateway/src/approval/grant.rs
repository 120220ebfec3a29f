//! Grants: agreements that hold for a while.

use super::record::millis;
use crate::policy::Consent;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    time::{Duration, SystemTime},
};
use trunkline_store::{Condition, Store, StoreError};

const GRANTS: &str = "approval-grant/";

/// The calls that an agreement holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This call only.
    Once,
    /// All calls of this tool in the session of this client.
    Session,
    /// All calls of this tool by this caller.
    Caller(Duration),
    /// All calls of this tool by any caller.
    Tool(Duration),
}

/// An agreement that holds for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Grant {
    /// `None` for all callers.
    caller: Option<String>,
    tool: String,
    /// `Client` if the person at the client agreed, who cannot agree in place of an operator.
    from: Consent,
    pub(super) by: String,
    until: u64,
}

impl Grant {
    /// `None` if the agreement is for one call or one session, which the store does not keep.
    pub(super) fn new(from: Consent, by: &str, caller: &str, tool: &str, scope: Scope) -> Option<Self> {
        let (caller, lasting) = match scope {
            Scope::Once | Scope::Session => return None,
            Scope::Caller(lasting) => (Some(caller.to_owned()), lasting),
            Scope::Tool(lasting) => (None, lasting),
        };
        let until = millis(SystemTime::now() + lasting);
        Some(Self { caller, tool: tool.to_owned(), from, by: by.to_owned(), until })
    }

    pub(super) async fn keep(&self, store: &dyn Store) -> Result<(), StoreError> {
        let left = self.until.saturating_sub(millis(SystemTime::now())).max(1);
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        let key = key(self.from, self.caller.as_deref(), &self.tool);
        store.put(&key, bytes.into(), Condition::Always, Some(Duration::from_millis(left))).await.map(drop)
    }

    /// The agreement that covers a call of this caller. If a rule wants the consent of an operator,
    /// only that of an operator counts.
    pub(super) async fn find(
        store: &dyn Store,
        caller: &str,
        tool: &str,
        wanted: Consent,
    ) -> Result<Option<Self>, StoreError> {
        let of_client = (wanted == Consent::Client).then_some((Consent::Client, Some(caller)));
        let of_operator = [(Consent::Operator, Some(caller)), (Consent::Operator, None)];
        for (from, caller) in of_client.into_iter().chain(of_operator) {
            let found = store.get(&key(from, caller, tool)).await?;
            let grant = found.and_then(|value| serde_json::from_slice::<Self>(&value.bytes).ok());
            let holds = |grant: &Self| {
                grant.until > millis(SystemTime::now())
                    && grant.tool == tool
                    && grant.from == from
                    && grant.caller.as_deref() == caller
            };
            if let Some(grant) = grant.filter(holds) {
                return Ok(Some(grant));
            }
        }
        Ok(None)
    }
}

/// Names may be long and contain anything, so the key is their digest.
fn key(from: Consent, caller: Option<&str>, tool: &str) -> String {
    let text = serde_json::json!([from, caller, tool]).to_string();
    format!("{GRANTS}{}", URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes())))
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let until = |lasting: &Duration| trunkline_protocol::time::iso_8601(SystemTime::now() + *lasting);
        match self {
            Self::Once => f.write_str("once"),
            Self::Session => f.write_str("for this session"),
            Self::Caller(lasting) => write!(f, "for this caller and tool until {}", until(lasting)),
            Self::Tool(lasting) => write!(f, "for this tool until {}", until(lasting)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_store::Embedded;

    #[tokio::test]
    async fn the_agreement_of_a_client_is_none_of_an_operator() {
        let store = Embedded::in_memory().unwrap();
        let hour = Scope::Caller(Duration::from_hours(1));
        let grant = |from| Grant::new(from, "ada", "ada", "wipe", hour).unwrap();
        grant(Consent::Client).keep(&store).await.unwrap();
        let found = async |wanted| Grant::find(&store, "ada", "wipe", wanted).await.unwrap().is_some();
        assert!(found(Consent::Client).await);
        assert!(!found(Consent::Operator).await);
        grant(Consent::Operator).keep(&store).await.unwrap();
        assert!(found(Consent::Client).await && found(Consent::Operator).await);
        assert!(Grant::find(&store, "bob", "wipe", Consent::Client).await.unwrap().is_none());
    }
}
