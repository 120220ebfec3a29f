//! The JSON that a hook gets.

use super::{HookEvent, Shows};
use crate::audit::masked;
use serde_json::{Value, json};
use std::sync::Arc;
use trunkline_protocol::{Call, Caller, Outcome, Raw};

/// Bytes of the JSON that a hook gets. A larger call counts as a failure of the hook, because a
/// hook that saw only a part of it could be deceived.
const MAX_PAYLOAD: usize = 1024 * 1024;

/// The facts about a call that hooks see.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub(super) tool: String,
    pub(super) view: Option<Arc<str>>,
    pub(super) caller: Arc<Caller>,
    arguments: Option<Raw>,
}

impl Subject {
    /// `None` for a call without a name, which the handler refuses.
    pub(super) fn of(call: &Call) -> Option<Self> {
        let params = call.params.as_ref()?;
        Some(Self {
            tool: params.text_of("name")?.into_owned(),
            view: call.view.clone(),
            caller: call.caller.clone(),
            arguments: params.member("arguments"),
        })
    }

    /// `outcome` is there after the call.
    pub(super) fn payload(
        &self,
        hook: &str,
        event: HookEvent,
        shows: Shows,
        outcome: Option<&Outcome>,
    ) -> Result<Vec<u8>, String> {
        let mut payload = json!({
            "event": event.name(),
            "hook": hook,
            "tool": self.tool,
            "view": self.view.as_deref(),
            "caller": {"id": self.caller.id, "roles": self.caller.roles},
        });
        let mut show = |name: &str, value: Option<&Raw>| {
            if let Some(shown) = value.and_then(|value| shown(value, shows)) {
                payload[name] = shown;
            }
        };
        show("arguments", self.arguments.as_ref());
        match outcome {
            None => {}
            Some(Ok(result)) => show("result", Some(result)),
            Some(Err(fault)) => {
                payload["error"] = json!({"code": fault.entry().code, "message": fault.message()});
            }
        }
        let text = payload.to_string();
        if text.len() > MAX_PAYLOAD {
            return Err(format!("the call has {} bytes, and a hook gets at most {MAX_PAYLOAD}", text.len()));
        }
        Ok(text.into_bytes())
    }
}

fn shown(value: &Raw, shows: Shows) -> Option<Value> {
    match shows {
        Shows::Masked => Some(masked(value)),
        Shows::Whole => value.decode().ok(),
        Shows::Nothing => None,
    }
}
