//! Builds well-formed messages of each era.

use bytes::Bytes;
use serde_json::Value;
use trunkline_client::{ClientInfo, raw};
use trunkline_protocol::{Era, Revision};

/// The client name that the linter sends.
const CLIENT_NAME: &str = "trunkline-lint";

fn client_info() -> ClientInfo {
    ClientInfo { name: CLIENT_NAME.to_owned(), ..ClientInfo::default() }
}

fn newest(era: Era) -> Revision {
    match era {
        Era::Modern => Revision::NEWEST,
        Era::Legacy => Revision::NEWEST_LEGACY,
    }
}

/// The `_meta` members that every modern request has.
pub(crate) fn modern_meta(version: &str) -> Value {
    raw::modern_meta(&client_info(), version)
}

/// The parameters of `initialize`.
pub(crate) fn initialize_params(version: &str) -> Value {
    raw::initialize_params(&client_info(), version)
}

/// A request of this era.
pub(crate) fn request(era: Era, id: &Value, method: &str, params: Value) -> Value {
    raw::request(&client_info(), newest(era), id, method, params)
}

/// A notification of this era.
pub(crate) fn notification(era: Era, method: &str, params: Value) -> Value {
    raw::notification(&client_info(), newest(era), method, params)
}

/// A serialized message.
pub(crate) fn bytes(message: &Value) -> Bytes {
    Bytes::from(message.to_string())
}
