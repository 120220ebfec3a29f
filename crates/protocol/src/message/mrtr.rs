//! Interim results of a request: more input is needed, or a task was started.

use crate::{
    Object, Raw,
    view::{Member, view},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The value of `resultType`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultType {
    /// Also if `resultType` is absent.
    Complete,
    InputRequired,
    Task,
    /// Makes the response invalid, unless a declared extension defines it.
    Unknown(String),
}

view! {
    /// The server needs answers before it can continue. At least one of the two members is
    /// present.
    pub struct InputRequired tagged "resultType" = "input_required" {
    } optional {
        input_requests: InputRequests = "inputRequests",
        /// The client must return it unchanged if and only if it is present.
        request_state: String = "requestState",
        meta: Raw = "_meta",
    }

    /// A server's question, embedded in a result.
    pub struct InputRequest {
        method: String = "method",
    } optional {
        params: Raw = "params",
    }
}

/// Questions by their keys, in the server's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputRequests(pub Vec<(String, InputRequest)>);

/// Answers by the keys of their questions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputResponses(pub Object);

impl ResultType {
    pub fn of(result: &Raw) -> Self {
        let Some(raw) = result.member("resultType") else { return Self::Complete };
        match raw.text().as_deref() {
            Some("complete") => Self::Complete,
            Some("input_required") => Self::InputRequired,
            Some("task") => Self::Task,
            Some(other) => Self::Unknown(other.to_owned()),
            None => Self::Unknown(raw.to_string()),
        }
    }
}

impl InputRequests {
    pub fn get(&self, key: &str) -> Option<&InputRequest> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, request)| request)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &InputRequest)> {
        self.0.iter().map(|(key, request)| (key.as_str(), request))
    }
}

impl Member for InputRequests {}
impl Member for InputResponses {}

impl<'de> Deserialize<'de> for InputRequests {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let InputResponses(members) = InputResponses::deserialize(deserializer)?;
        let read = members.iter().map(|(key, raw)| match raw.decode() {
            Ok(request) => Ok((key.to_owned(), request)),
            Err(error) => Err(D::Error::custom(format_args!("`{key}`: {error}"))),
        });
        read.collect::<Result<_, _>>().map(Self)
    }
}

impl Serialize for InputRequests {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for InputResponses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Raw::deserialize(deserializer)?.object();
        members.map(Self).ok_or_else(|| D::Error::custom("expected an object of unique keys"))
    }
}

impl Serialize for InputResponses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter())
    }
}
