//! Translates a server's introduction and errors for a caller of the other era.

use crate::server::ServerInfo;
use serde_json::json;
use trunkline_protocol::{
    Era, ErrorObject, Object, Raw, Revision,
    message::{
        declare_tasks,
        meta::{CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROGRESS_TOKEN, PROTOCOL_VERSION, SERVER_INFO},
    },
    method,
};

/// The keys of `_meta` that belong to one hop and mean nothing to a legacy server.
const PROTOCOL_KEYS: [&str; 5] =
    [PROTOCOL_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES, LOG_LEVEL, PROGRESS_TOKEN];

/// The answer to `server/discover` that a legacy server would have given.
pub(crate) fn introduction(server: &ServerInfo) -> Raw {
    if server.era() == Era::Modern {
        return server.introduction.clone();
    }
    let original = server.introduction.object().unwrap_or_default();
    let mut result = Object::new();
    result.set("supportedVersions", json!([Revision::NEWEST.as_str()]).into());
    result.set("capabilities", capabilities(server));
    for (name, value) in original.iter() {
        if !["protocolVersion", "capabilities", "serverInfo", "_meta"].contains(&name) {
            result.set(name.to_owned(), value.clone());
        }
    }
    let mut meta = original.get("_meta").and_then(Raw::object).unwrap_or_default();
    if let Some(identity) = original.get("serverInfo") {
        meta.set(SERVER_INFO, identity.clone());
    }
    if !meta.is_empty() {
        result.set("_meta", meta.to_raw());
    }
    result.to_raw()
}

/// The server's capabilities, with the tasks extension if it runs tasks of the core protocol.
fn capabilities(server: &ServerInfo) -> Raw {
    let mut original = server.capabilities.object().unwrap_or_default();
    if server.has_capability("tasks.requests.tools.call") {
        declare_tasks(&mut original);
    }
    original.to_raw()
}

/// `_meta` without the members of the modern protocol; `None` if nothing is left.
pub(crate) fn stripped(mut meta: Object) -> Option<Raw> {
    for key in PROTOCOL_KEYS {
        meta.remove(key);
    }
    (!meta.is_empty()).then(|| meta.to_raw())
}

/// Translates an error of a server for a caller of the other era.
pub(crate) fn lift_error(mut error: ErrorObject, server: Era, caller: Era, asked: &str) -> ErrorObject {
    match (server, caller, error.code) {
        (Era::Legacy, Era::Modern, -32002) if asked == method::RESOURCES_READ => error.code = -32602,
        // Legacy servers have no code for this, but may name the capability that they need.
        (Era::Legacy, Era::Modern, _) if names_capabilities(&error) => error.code = -32021,
        // The modern era uses or reserves these codes for other meanings. The three of the second
        // pattern are between the server and us; a legacy client cannot act on them.
        (Era::Legacy, Era::Modern, code @ -32099..=-32020)
        | (Era::Modern, Era::Legacy, code @ -32022..=-32020) => return renumbered(error, code),
        (Era::Modern, Era::Legacy, -32602) if asked == method::RESOURCES_READ && names_uri(&error) => {
            error.code = -32002;
        }
        _ => {}
    }
    error
}

fn names_uri(error: &ErrorObject) -> bool {
    error.data.as_ref().is_some_and(|data| data.member("uri").is_some())
}

fn names_capabilities(error: &ErrorObject) -> bool {
    let needed = error.data.as_ref().and_then(|data| data.member("requiredCapabilities"));
    needed.is_some_and(|needed| needed.is_object())
}

fn renumbered(mut error: ErrorObject, code: i64) -> ErrorObject {
    let mut data = Object::new();
    data.set("originalCode", json!(code).into());
    if let Some(original) = error.data.take() {
        data.set("originalData", original);
    }
    error.code = -32603;
    error.data = Some(data.to_raw());
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Carrier;

    #[test]
    fn a_legacy_server_is_introduced_the_modern_way() {
        let original = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}},"extensions":{"x":{}}},"serverInfo":{"name":"s","version":"1","icons":[]},"instructions":"hi","vendor":1}"#;
        let info = ServerInfo::read(Raw::parse(original).unwrap(), Revision::V2025_11_25, Carrier::Stdio);
        let want = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}},"extensions":{"x":{},"io.modelcontextprotocol/tasks":{}}},"instructions":"hi","vendor":1,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1","icons":[]}}}"#;
        assert_eq!(introduction(&info).as_str(), want);
    }

    #[test]
    fn errors_change_their_numbers_between_the_eras_only() {
        let code = |code, server, caller, asked| {
            let mut error = ErrorObject::new(code, "x");
            error.data = Some(json!({"uri": "a:b"}).into());
            lift_error(error, server, caller, asked)
        };
        let (legacy, modern) = (Era::Legacy, Era::Modern);
        assert_eq!(code(-32002, legacy, modern, method::RESOURCES_READ).code, -32602);
        assert_eq!(code(-32002, legacy, legacy, method::RESOURCES_READ).code, -32002);
        assert_eq!(code(-32602, modern, legacy, method::RESOURCES_READ).code, -32002);
        assert_eq!(code(-32602, modern, legacy, method::TOOLS_CALL).code, -32602);
        let odd = code(-32050, legacy, modern, method::TOOLS_CALL);
        assert_eq!(odd.code, -32603);
        assert_eq!(odd.data.unwrap().as_str(), r#"{"originalCode":-32050,"originalData":{"uri":"a:b"}}"#);
        let mut missing = ErrorObject::new(-32600, "x");
        missing.data = Some(json!({"requiredCapabilities": {"sampling": {}}}).into());
        assert_eq!(lift_error(missing, legacy, modern, method::TOOLS_CALL).code, -32021);
        assert_eq!(code(-32021, modern, legacy, method::TOOLS_CALL).code, -32603);
        assert_eq!(code(-32021, modern, modern, method::TOOLS_CALL).code, -32021);
    }

    #[test]
    fn only_what_belongs_to_the_hop_is_stripped() {
        let text = r#"{"progressToken":1,"traceparent":"00","io.modelcontextprotocol/logLevel":"info"}"#;
        let meta = |text: &str| Raw::parse(text.to_owned()).unwrap().object().unwrap();
        assert_eq!(stripped(meta(text)).unwrap().as_str(), r#"{"traceparent":"00"}"#);
        assert_eq!(stripped(meta(r#"{"progressToken":1}"#)), None);
    }
}
