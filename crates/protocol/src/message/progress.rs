//! Progress and cancellation.

use crate::{
    Number, Raw, RequestId,
    view::{Member, view},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt;

/// Correlates progress with the request that asked for it: a string or an integer, chosen by the
/// requester.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProgressToken(pub RequestId);

view! {
    /// `notifications/progress`.
    pub struct ProgressParams {
        progress_token: ProgressToken = "progressToken",
        progress: Number = "progress",
    } optional {
        total: Number = "total",
        message: String = "message",
        meta: Raw = "_meta",
    }

    /// `notifications/cancelled`. Before 2026-07-28 a task is cancelled by `tasks/cancel` instead.
    pub struct CancelledParams {
        request_id: RequestId = "requestId",
    } optional {
        reason: String = "reason",
        meta: Raw = "_meta",
    }
}

impl From<u64> for ProgressToken {
    fn from(value: u64) -> Self {
        Self(RequestId::number(value))
    }
}

impl fmt::Display for ProgressToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Member for ProgressToken {}

impl Serialize for ProgressToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ProgressToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RequestId::deserialize(deserializer).map(Self)
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(Raw::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
