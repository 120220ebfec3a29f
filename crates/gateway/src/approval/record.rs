//! The record of one question to an operator.

use crate::audit::masked;
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use trunkline_protocol::{Call, message::meta, time::iso_8601};
use trunkline_secrets::visible;

/// Most bytes of the arguments that are shown.
const MAX_SHOWN: usize = 4096;

/// A question to an operator, and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    pub id: String,
    pub state: ApprovalState,
    pub server: String,
    /// The public name of the tool or prompt, or `<server>_<uri>`. This and the caller are not
    /// escaped, because decisions are about exactly these.
    pub tool: String,
    pub caller: String,
    pub client: String,
    /// True if the client has a session, for which an operator can agree.
    #[serde(default)]
    pub session: bool,
    /// The arguments as JSON: secrets masked, control characters escaped, cut.
    pub arguments: String,
    pub rule: String,
    pub reason: Option<String>,
    pub asked_at: String,
    pub expires_at: String,
    /// The same, in milliseconds since 1970.
    pub expires_ms: u64,
    /// The process in which the call waits.
    pub process: String,
    pub decided_by: Option<String>,
    pub decided_at: Option<String>,
    /// `once`, `for this session`, or whom the agreement holds for and until when.
    pub scope: Option<String>,
    pub note: Option<String>,
}

/// The state of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalState {
    /// The call waits.
    Pending,
    Approved,
    Denied,
    /// Nobody decided in time.
    Expired,
    /// The caller does not wait any more.
    Withdrawn,
    /// The gateway ended while the call waited; the call was never made.
    Abandoned,
}

impl Approval {
    pub(super) fn new(call: &Call, asked: &crate::policy::Asked, timeout: Duration, process: &str) -> Self {
        let now = SystemTime::now();
        let until = now + timeout;
        let info = meta::get(call.params.as_ref(), meta::CLIENT_INFO);
        let client: String = info.and_then(|info| info.member_as("name")).unwrap_or_default();
        Self {
            id: format!("ap-{}", uuid::Uuid::new_v4().simple()),
            state: ApprovalState::Pending,
            server: asked.server.clone(),
            tool: asked.subject.clone(),
            caller: call.caller.id.clone(),
            client: visible::line(&client),
            session: call.session.is_some(),
            arguments: shown_arguments(call),
            rule: asked.rule.clone(),
            reason: asked.reason.clone(),
            asked_at: iso_8601(now),
            expires_at: iso_8601(until),
            expires_ms: millis(until),
            process: process.to_owned(),
            decided_by: None,
            decided_at: None,
            scope: None,
            note: None,
        }
    }

    /// True if the time for an answer is over.
    pub(super) fn is_late(&self) -> bool {
        millis(SystemTime::now()) >= self.expires_ms
    }
}

/// The arguments of a call for people: secrets masked, nothing that a terminal would obey.
pub(crate) fn shown_arguments(call: &Call) -> String {
    let arguments = call.params.as_ref().and_then(|params| params.member("arguments"));
    let Some(arguments) = arguments else { return "{}".to_owned() };
    let mut text = visible::json(&masked(&arguments).to_string()).into_owned();
    if text.len() > MAX_SHOWN {
        let end = (0..=MAX_SHOWN).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push_str("… (cut)");
    }
    text
}

pub(super) fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
