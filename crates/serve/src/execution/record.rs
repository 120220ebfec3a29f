//! The record of an execution, as it is kept in the store.

use super::queue::Priority;
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
};
use serde::{Deserialize, Serialize};
use std::{
    fmt::Write as _,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use trunkline_protocol::{Caller, Era, ErrorObject, Fault, Outcome, Raw, method};

/// Hexadecimal digits of an id: owner, time and random number.
const OWNER_DIGITS: usize = 16;
const ID_DIGITS: usize = 48;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) tool: String,
    /// Path of the view that it was started at; empty for the main endpoint.
    pub(crate) view: String,
    pub(crate) owner: Owner,
    pub(crate) state: State,
    pub(crate) priority: Priority,
    /// Milliseconds since 1970, like all times here.
    pub(crate) created: u64,
    pub(crate) updated: u64,
    pub(crate) deadline: u64,
    /// The process that runs it.
    pub(crate) instance: String,
    /// Ids of its calls in the audit trail.
    pub(crate) audit: Vec<String>,
    pub(crate) questions: Vec<OpenQuestion>,
    /// The handler's id of the task that it is.
    #[serde(default)]
    pub(crate) task: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Queued,
    Running,
    /// The tool asked something.
    Waiting,
    Done,
    Failed,
    Cancelled,
    /// The process that ran it died.
    Unknown,
}

/// A question that nobody has answered yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OpenQuestion {
    pub(crate) id: String,
    /// Parameters of `elicitation/create`.
    pub(crate) params: Option<Raw>,
}

/// The caller that an execution belongs to. The local user differs from a caller whose id is
/// `local`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Owner {
    Local,
    Caller(String),
}

/// The result or the error, and the time that it took.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) result: Option<Raw>,
    pub(crate) error: Option<StoredError>,
    pub(crate) finished: u64,
    pub(crate) millis: u64,
}

/// A JSON-RPC error.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StoredError {
    code: i64,
    message: String,
    data: Option<Raw>,
}

impl State {
    pub(crate) const ALL: [(&'static str, Self); 7] = [
        ("queued", Self::Queued),
        ("running", Self::Running),
        ("waiting", Self::Waiting),
        ("done", Self::Done),
        ("failed", Self::Failed),
        ("cancelled", Self::Cancelled),
        ("unknown", Self::Unknown),
    ];

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, state)| *state == self).map_or("unknown", |(name, _)| name)
    }

    pub(crate) fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled | Self::Unknown)
    }

    /// The state of an execution that ended by itself.
    pub(crate) fn after(outcome: &Outcome) -> Self {
        match outcome {
            Ok(result) if result.member_as::<bool>("isError") != Some(true) => Self::Done,
            _ => Self::Failed,
        }
    }
}

impl Owner {
    pub(crate) fn of(caller: &Caller) -> Self {
        if Caller::is_local(caller) { Self::Local } else { Self::Caller(caller.id.clone()) }
    }

    /// Part of keys in the store.
    pub(crate) fn digits(&self) -> String {
        let text = match self {
            Self::Local => "local".to_owned(),
            Self::Caller(id) => format!("caller {id}"),
        };
        let mut digits = hexadecimal(digest(&SHA256, text.as_bytes()).as_ref());
        digits.truncate(OWNER_DIGITS);
        digits
    }
}

impl Record {
    /// Ids of one owner are in the order of time.
    pub(crate) fn new_id(owner: &Owner) -> String {
        let mut random = [0; 10];
        SystemRandom::new().fill(&mut random).expect("the system's random source works");
        format!("{}{:012x}{}", owner.digits(), now() & 0xffff_ffff_ffff, hexadecimal(&random))
    }

    /// Time for which the store keeps the record as it is.
    pub(crate) fn lifetime(&self, retention: Duration) -> Duration {
        if self.state.is_final() {
            return retention;
        }
        self.time_left() + retention
    }

    /// Time until it must have ended.
    pub(super) fn time_left(&self) -> Duration {
        Duration::from_millis(self.deadline.saturating_sub(now()))
    }
}

/// The key of a record; `None` if the text is no id.
pub(crate) fn record_key(id: &str) -> Option<String> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let valid = id.len() == ID_DIGITS && id.bytes().all(is_digit);
    valid.then(|| format!("execution/{}/{id}", &id[..OWNER_DIGITS]))
}

impl End {
    pub(crate) fn new(outcome: &Outcome, took: Duration) -> Self {
        let error = outcome.as_ref().err().map(|fault| fault.to_error(Era::Modern));
        Self {
            result: outcome.as_ref().ok().cloned(),
            error: error.map(|error| StoredError {
                code: error.code,
                message: error.message,
                data: error.data,
            }),
            finished: now(),
            millis: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        match (&self.result, &self.error) {
            (Some(result), _) => Ok(result.clone()),
            (None, Some(stored)) => {
                let mut error = ErrorObject::new(stored.code, stored.message.clone());
                error.data.clone_from(&stored.data);
                Err(Fault::from_peer(error, Era::Modern, method::TOOLS_CALL))
            }
            (None, None) => Ok(Raw::empty_object()),
        }
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _infallible = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::FaultKind;

    #[test]
    fn ids_have_keys_and_other_texts_have_none() {
        let id = Record::new_id(&Owner::Caller("ada".to_owned()));
        assert!(record_key(&id).unwrap().ends_with(&id));
        for wrong in ["", "x", "../../a", &id[1..], &id.to_uppercase()] {
            assert_eq!(record_key(wrong), None, "{wrong}");
        }
        assert_ne!(Owner::Local.digits(), Owner::Caller("local".to_owned()).digits());
    }

    #[test]
    fn a_stored_outcome_is_the_same_one() {
        let fault = Fault::new(FaultKind::Timeout, "late").with_data(serde_json::json!({"x": 1}).into());
        let stored = serde_json::to_vec(&End::new(&Err(fault), Duration::from_secs(1))).unwrap();
        let read: End = serde_json::from_slice(&stored).unwrap();
        let fault = read.outcome().unwrap_err();
        assert_eq!((fault.kind(), fault.message()), (FaultKind::Timeout, "late"));
        let result = Raw::parse(r#"{"content":[],"n":1.50}"#).unwrap();
        let stored = serde_json::to_vec(&End::new(&Ok(result.clone()), Duration::ZERO)).unwrap();
        assert_eq!(
            serde_json::from_slice::<End>(&stored).unwrap().outcome().unwrap().as_str(),
            result.as_str()
        );
    }
}
