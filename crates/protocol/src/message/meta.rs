//! `_meta`: its reserved keys, and reading and writing it inside params and results.

use super::{ClientCapabilities, Implementation, ProgressToken};
use crate::{Object, Raw, view::view};

pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// 2025-11-25: the task a message belongs to.
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// 2025-11-25: the text for the model while a task runs.
pub const MODEL_IMMEDIATE_RESPONSE: &str = "io.modelcontextprotocol/model-immediate-response";
/// Ours, in a result with `isError` that we made: the code of the failure in the catalogue.
pub const CODE: &str = "trunkline/code";
/// Ours, in a result with `isError` that we made: further data about the failure.
pub const ERROR_DATA: &str = "trunkline/error";
/// Ours, in a progress notification: a part of the result.
pub const PARTIAL: &str = "trunkline/partial";
/// Ours, in a tool: its version, author, category, tags and similar facts.
pub const TOOL_METADATA: &str = "trunkline/metadata";
/// Ours: the items that were left out of a list because they could not be read.
pub const SET_ASIDE: &str = "trunkline/setAside";
pub const PROGRESS_TOKEN: &str = "progressToken";
pub const TRACEPARENT: &str = "traceparent";
pub const TRACESTATE: &str = "tracestate";
pub const BAGGAGE: &str = "baggage";

view! {
    /// The keys of a request's `_meta` that the protocol defines.
    pub struct RequestMeta {
    } optional {
        progress_token: ProgressToken = "progressToken",
        protocol_version: String = "io.modelcontextprotocol/protocolVersion",
        client_info: Implementation = "io.modelcontextprotocol/clientInfo",
        client_capabilities: ClientCapabilities = "io.modelcontextprotocol/clientCapabilities",
        /// A [`Level`](super::Level). Not checked here: the server refuses an unknown level.
        log_level: String = "io.modelcontextprotocol/logLevel",
    }
}

/// The payload is not an object, so it cannot have `_meta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`_meta` can only be added to an object")]
pub struct NoPlace;

/// The value of one `_meta` key in these params or this result.
pub fn get(payload: Option<&Raw>, key: &str) -> Option<Raw> {
    payload?.member("_meta")?.member(key)
}

/// Sets keys of `_meta`, which is added if it is missing. Everything else stays unchanged.
pub fn set<'a>(
    payload: Option<&Raw>,
    keys: impl IntoIterator<Item = (&'a str, Raw)>,
) -> Result<Raw, NoPlace> {
    edit(payload, |meta| {
        for (key, value) in keys {
            meta.set(key.to_owned(), value);
        }
    })
}

/// Removes keys of `_meta`, and `_meta` itself if it becomes empty.
pub fn remove<'a>(payload: Option<&Raw>, keys: impl IntoIterator<Item = &'a str>) -> Result<Raw, NoPlace> {
    edit(payload, |meta| {
        for key in keys {
            meta.remove(key);
        }
    })
}

fn edit(payload: Option<&Raw>, change: impl FnOnce(&mut Object)) -> Result<Raw, NoPlace> {
    let mut members = match payload {
        Some(payload) => payload.object().ok_or(NoPlace)?,
        None => Object::new(),
    };
    let mut meta = match members.get("_meta") {
        Some(meta) if !meta.is_null() => meta.object().ok_or(NoPlace)?,
        _ => Object::new(),
    };
    change(&mut meta);
    if meta.is_empty() {
        members.remove("_meta");
    } else {
        members.set("_meta", meta.to_raw());
    }
    Ok(members.to_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned()).unwrap()
    }

    #[test]
    fn a_key_is_set_beside_the_others() {
        let params = raw(r#"{"name":"x","_meta":{"ui":{"n":123456789012345678901234567890}},"z":1.0}"#);
        let written = set(Some(&params), [(PROGRESS_TOKEN, raw("7"))]).unwrap();
        let want =
            r#"{"name":"x","_meta":{"ui":{"n":123456789012345678901234567890},"progressToken":7},"z":1.0}"#;
        assert_eq!(written.as_str(), want);
        assert_eq!(get(Some(&written), PROGRESS_TOKEN).unwrap().as_str(), "7");
        assert_eq!(remove(Some(&written), [PROGRESS_TOKEN]).unwrap(), params);
    }

    #[test]
    fn meta_is_made_and_taken_away_where_needed() {
        let made = set(None, [(PROTOCOL_VERSION, Raw::string("2026-07-28"))]).unwrap();
        assert_eq!(made.as_str(), r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#);
        assert_eq!(remove(Some(&made), [PROTOCOL_VERSION]).unwrap().as_str(), "{}");
        assert_eq!(set(Some(&raw("[1]")), [("a", raw("1"))]), Err(NoPlace));
        assert_eq!(set(Some(&raw(r#"{"_meta":3}"#)), [("a", raw("1"))]), Err(NoPlace));
    }
}
