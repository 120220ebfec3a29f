//! Grants: agreements that hold for a while.

use super::record::{Approval, millis};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    time::{Duration, SystemTime},
};
use trunkline_store::{Condition, Store, StoreError};

const GRANTS: &str = "approval-grant/";

/// What an agreement holds for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This call only.
    Once,
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
    pub(super) by: String,
    until: u64,
}

impl Grant {
    /// `None` if the agreement is for one call.
    pub(super) fn new(approval: &Approval, scope: &Scope) -> Option<Self> {
        let (caller, lasting) = match scope {
            Scope::Once => return None,
            Scope::Caller(lasting) => (Some(approval.caller.clone()), *lasting),
            Scope::Tool(lasting) => (None, *lasting),
        };
        let by = approval.decided_by.clone().unwrap_or_default();
        Some(Self { caller, tool: approval.tool.clone(), by, until: millis(SystemTime::now() + lasting) })
    }

    pub(super) fn of_client(caller: &str, tool: &str, lasting: Duration) -> Self {
        Self {
            caller: Some(caller.to_owned()),
            tool: tool.to_owned(),
            by: "the person at the client".to_owned(),
            until: millis(SystemTime::now() + lasting),
        }
    }

    pub(super) async fn keep(&self, store: &dyn Store) -> Result<(), StoreError> {
        let left = self.until.saturating_sub(millis(SystemTime::now())).max(1);
        let bytes = serde_json::to_vec(self).unwrap_or_default();
        let key = key(self.caller.as_deref(), &self.tool);
        store.put(&key, bytes.into(), Condition::Always, Some(Duration::from_millis(left))).await.map(drop)
    }

    /// The agreement that covers a call of this caller.
    pub(super) async fn find(
        store: &dyn Store,
        caller: &str,
        tool: &str,
    ) -> Result<Option<Self>, StoreError> {
        for caller in [Some(caller), None] {
            let found = store.get(&key(caller, tool)).await?;
            let grant = found.and_then(|value| serde_json::from_slice::<Self>(&value.bytes).ok());
            let holds = |grant: &Self| {
                grant.until > millis(SystemTime::now())
                    && grant.tool == tool
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
fn key(caller: Option<&str>, tool: &str) -> String {
    let text = serde_json::json!([caller, tool]).to_string();
    format!("{GRANTS}{}", URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes())))
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let until = |lasting: &Duration| trunkline_protocol::time::iso_8601(SystemTime::now() + *lasting);
        match self {
            Self::Once => f.write_str("once"),
            Self::Caller(lasting) => write!(f, "for this caller and tool until {}", until(lasting)),
            Self::Tool(lasting) => write!(f, "for this tool until {}", until(lasting)),
        }
    }
}
