//! Writes a request for its server: id, `_meta` and headers, as the server's revision requires.

use super::{Ask, Progress};
use crate::{
    link::{OnDrop, Outbound},
    options::ConnectOptions,
};
use http::{HeaderName, HeaderValue};
use serde_json::json;
use trunkline_protocol::{
    Era, Object, Raw, Request, RequestId, Revision,
    message::{
        TASKS_EXTENSION,
        meta::{CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION},
    },
    method,
};
use trunkline_transport::{
    headers::{MCP_METHOD, MCP_NAME, MCP_PROTOCOL_VERSION, encode_value},
    http::Fields,
};

/// The method of nearly all requests.
const TOOLS_CALL: HeaderValue = HeaderValue::from_static(method::TOOLS_CALL);
/// Header fields of most requests, with those that the transport adds.
const USUAL_HEADERS: usize = 8;

/// Writes the requests to one server.
#[derive(Debug, Clone)]
pub(crate) struct Speech {
    pub(crate) revision: Revision,
    /// Members of `_meta` that a modern server gets with every request.
    introduction: Object,
    /// The same as text, for a request that adds nothing to it.
    written: Raw,
}

impl Speech {
    pub(crate) fn new(revision: Revision, options: &ConnectOptions) -> Self {
        let mut introduction = Object::new();
        if revision.era() == Era::Modern {
            introduction.set(PROTOCOL_VERSION, Raw::string(revision.as_str()));
            introduction.set(CLIENT_INFO, options.client.to_json().into());
            introduction.set(CLIENT_CAPABILITIES, capabilities(revision, options));
        }
        let written = introduction.to_raw();
        Self { revision, introduction, written }
    }

    pub(crate) fn era(&self) -> Era {
        self.revision.era()
    }

    /// The request as it is sent. Members of `_meta` that the caller wrote win over ours.
    pub(crate) fn write(&self, ask: &Ask, id: RequestId, level: Option<&str>) -> Outbound {
        let given = ask.params.get("_meta");
        let level = level.filter(|_| self.era() == Era::Modern);
        let headers = self.headers(ask, given);
        let meta = if level.is_none()
            && ask.progress == Progress::Unwanted
            && (ask.meta.is_some() || given.is_none())
        {
            // A caller's `_meta` was completed when it was first seen.
            (ask.meta.is_none() && !self.introduction.is_empty()).then(|| self.written.clone())
        } else {
            let meta = self.meta(given, level, (ask.progress == Progress::Wanted).then_some(&id));
            (!meta.is_empty()).then(|| meta.to_raw())
        };
        let params = match meta {
            None => (!ask.params.is_empty()).then(|| ask.params.to_raw()),
            Some(meta) => {
                let mut params = ask.params.clone();
                params.set("_meta", meta);
                Some(params.to_raw())
            }
        };
        let on_drop = if ask.method == method::INITIALIZE { OnDrop::Leave } else { OnDrop::Cancel };
        Outbound {
            request: Request::new(id, ask.method.clone(), params),
            headers,
            on_drop,
            standing: ask.standing.clone(),
        }
    }

    /// A caller's `_meta` with the required members added, and the version it names.
    pub(crate) fn introduce(&self, mut meta: Object) -> (Raw, HeaderValue) {
        self.complete(&mut meta);
        let version = meta.get(PROTOCOL_VERSION).and_then(Raw::text);
        let version = version.as_deref().map_or(self.version(), encode_value);
        (meta.to_raw(), version)
    }

    fn complete(&self, meta: &mut Object) {
        for (name, value) in self.introduction.iter() {
            if meta.get(name).is_none() {
                meta.set(name.to_owned(), value.clone());
            }
        }
    }

    fn version(&self) -> HeaderValue {
        HeaderValue::from_static(self.revision.as_str())
    }

    /// The given `_meta` with the required members, the log level and the progress token.
    fn meta(&self, given: Option<&Raw>, level: Option<&str>, token: Option<&RequestId>) -> Object {
        let mut meta = given.and_then(Raw::object).unwrap_or_default();
        self.complete(&mut meta);
        if let (Some(level), None) = (level, meta.get(LOG_LEVEL)) {
            meta.set(LOG_LEVEL, Raw::string(level));
        }
        if let (Some(token), None) = (token, meta.get("progressToken")) {
            meta.set("progressToken", token.raw().clone());
        }
        meta
    }

    /// The headers of a modern request repeat its body. The caller may have set another version in
    /// `_meta`.
    fn headers(&self, ask: &Ask, meta: Option<&Raw>) -> Fields {
        if self.era() == Era::Legacy {
            return Fields::default();
        }
        let mut headers = Fields::with_capacity(USUAL_HEADERS + ask.mirrored.len());
        let known = ask.meta.as_ref().and_then(|meta| meta.version.clone());
        let version = known.unwrap_or_else(|| {
            let version = meta.and_then(|meta| meta.member(PROTOCOL_VERSION));
            version.as_ref().and_then(Raw::text).as_deref().map_or(self.version(), encode_value)
        });
        headers.add(MCP_PROTOCOL_VERSION, version);
        headers.add(MCP_METHOD, written(&ask.method));
        let named = method::named_by(&ask.method).and_then(|member| ask.params.get(member)?.text());
        if let Some(name) = named {
            headers.add(MCP_NAME, encode_value(&name));
        }
        for (name, value) in &ask.mirrored {
            if let Ok(name) = HeaderName::try_from(name) {
                headers.set(name, encode_value(value));
            }
        }
        headers
    }
}

fn written(name: &str) -> HeaderValue {
    if name == method::TOOLS_CALL { TOOLS_CALL } else { encode_value(name) }
}

/// The client capabilities for a server of this revision.
pub(crate) fn capabilities(revision: Revision, options: &ConnectOptions) -> Raw {
    if let Some(behalf) = &options.behalf {
        return super::declarable(&behalf.capabilities, revision);
    }
    let mut capabilities = options.host.abilities().declare(revision);
    match revision.era() {
        Era::Modern => capabilities["extensions"] = json!({TASKS_EXTENSION: {}}),
        Era::Legacy if capabilities.get("roots").is_some() => {
            capabilities["roots"] = json!({"listChanged": true});
        }
        Era::Legacy => {}
    }
    capabilities.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask() -> Ask {
        let mut params = Object::new();
        params.set("name", Raw::string("grüße"));
        params.set("_meta", json!({"vendor/x": 123, PROTOCOL_VERSION: "2026-07-28"}).into());
        let mut ask = Ask::new(method::TOOLS_CALL, params);
        ask.mirrored.push(("Mcp-Param-Region".to_owned(), " eu ".to_owned()));
        ask.progress = Progress::Wanted;
        ask
    }

    #[test]
    fn a_modern_request_says_in_its_headers_what_its_body_says() {
        let speech = Speech::new(Revision::NEWEST, &ConnectOptions::default());
        let outbound = speech.write(&ask(), RequestId::number(5), Some("debug"));
        let header = |name: &'static str| {
            outbound.headers.get(&HeaderName::from_static(name)).unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(header("mcp-protocol-version"), "2026-07-28");
        assert_eq!(header("mcp-method"), "tools/call");
        assert!(header("mcp-name").starts_with("=?base64?"));
        assert!(header("mcp-param-region").starts_with("=?base64?"));
        let meta = outbound.request.params.unwrap().member("_meta").unwrap();
        assert_eq!(meta.member("vendor/x").unwrap().as_str(), "123");
        assert_eq!(meta.member("progressToken").unwrap().as_str(), "5");
        assert_eq!(meta.member(LOG_LEVEL).unwrap().as_str(), "\"debug\"");
        assert!(meta.member(CLIENT_CAPABILITIES).is_some() && meta.member(CLIENT_INFO).is_some());
    }

    #[test]
    fn a_legacy_request_carries_nothing_of_it() {
        let speech = Speech::new(Revision::V2025_11_25, &ConnectOptions::default());
        let mut plain = Ask::new(method::TOOLS_LIST, Object::new());
        let outbound = speech.write(&plain, RequestId::number(5), Some("debug"));
        assert!(outbound.headers.is_empty() && outbound.request.params.is_none());
        plain.progress = Progress::Wanted;
        let outbound = speech.write(&plain, RequestId::number(6), None);
        assert_eq!(outbound.request.params.unwrap().as_str(), r#"{"_meta":{"progressToken":6}}"#);
    }
}
