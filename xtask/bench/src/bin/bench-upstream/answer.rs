//! The server's responses.

use bytes::Bytes;
use serde_json::{Value, json};
use trunkline_protocol::{Envelope, Era, ErrorObject, Raw, Request, Response, Revision, method};

/// The eras that the server supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    Legacy,
    Modern,
}

impl Server {
    /// Returns the response to a message; `None` for a notification or a response.
    pub(crate) fn answer(self, message: &Bytes) -> Option<Bytes> {
        let response = match Envelope::parse(message) {
            Ok(Envelope::Request(request)) => {
                let outcome = self.outcome(&request);
                Response::new(request.id, outcome)
            }
            Ok(Envelope::Notification(_) | Envelope::Response(_)) => return None,
            Err(malformed) => {
                let error = ErrorObject::new(malformed.rpc_code(), malformed.to_string());
                Response { id: malformed.id, outcome: Err(error), rest: trunkline_protocol::Object::new() }
            }
        };
        Some(Envelope::from(response).to_line())
    }

    fn outcome(self, request: &Request) -> Result<Raw, ErrorObject> {
        let params = request.params.clone().unwrap_or_else(Raw::empty_object);
        let identity = json!({"name": "bench-upstream", "version": env!("CARGO_PKG_VERSION")});
        let modern = Revision::NEWEST.as_str();
        match (request.method.as_ref(), self) {
            (method::TOOLS_CALL, _) => self.call(&params),
            (method::TOOLS_LIST, _) => Ok(self.result(json!({"tools": [echo()]}))),
            (method::PING, _) => Ok(Raw::empty_object()),
            (method::INITIALIZE, _) => {
                let asked = params.member_as::<String>("protocolVersion").unwrap_or_default();
                let asked = asked.parse::<Revision>().ok().filter(|asked| asked.era() == Era::Legacy);
                let agreed = asked.unwrap_or(Revision::V2025_11_25).as_str();
                Ok(json!({"protocolVersion": agreed, "capabilities": {"tools": {}}, "serverInfo": identity})
                    .into())
            }
            (method::DISCOVER, Self::Modern) => Ok(self.result(json!({
                "supportedVersions": [modern],
                "capabilities": {"tools": {}},
                "_meta": {"io.modelcontextprotocol/serverInfo": identity},
            }))),
            _ => Err(ErrorObject::new(-32601, "there is no such method")),
        }
    }

    fn call(self, params: &Raw) -> Result<Raw, ErrorObject> {
        let text = params.member("arguments").and_then(|arguments| arguments.member("text"));
        let name = params.member("name");
        match (name.as_ref().map(Raw::as_str), text) {
            (Some("\"echo\""), Some(text)) => {
                let kind = if self == Self::Modern { r#""resultType":"complete","# } else { "" };
                let result = format!(r#"{{{kind}"content":[{{"type":"text","text":{text}}}]}}"#);
                Raw::parse(result).map_err(|malformed| ErrorObject::new(-32603, malformed.to_string()))
            }
            _ => Err(ErrorObject::new(-32602, "only echo {text} can be called")),
        }
    }

    fn result(self, mut members: Value) -> Raw {
        if self == Self::Modern {
            members["resultType"] = "complete".into();
            members["ttlMs"] = 60_000.into();
            members["cacheScope"] = "public".into();
        }
        members.into()
    }
}

fn echo() -> Value {
    json!({
        "name": "echo",
        "description": "Returns its text.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "annotations": {"readOnlyHint": true},
    })
}
