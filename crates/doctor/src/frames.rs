//! The first requests of each era, and how their answers are classified.

use serde_json::{Value, json};
use trunkline_client::{
    ClientInfo, RevisionChoice,
    raw::{self, is_response},
};
use trunkline_protocol::{Era, Revision, message::meta::SERVER_INFO, method};

/// A successful answer to `initialize` or `server/discover`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Introduction {
    pub(super) era: Era,
    /// The result of the request.
    pub(super) result: Value,
    /// The protocol revisions it named.
    pub(super) revisions: Vec<String>,
}

/// The classified answer to the first request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reading {
    Introduced(Introduction),
    /// A JSON-RPC error; holds the error object.
    Refused(Value),
    /// Neither a usable result nor an error.
    Odd,
}

/// The eras to try, in order.
pub(super) fn eras(speak: RevisionChoice) -> &'static [Era] {
    match speak {
        RevisionChoice::Newest => &[Era::Modern, Era::Legacy],
        RevisionChoice::Era(Era::Modern) => &[Era::Modern],
        RevisionChoice::Era(Era::Legacy) => &[Era::Legacy],
        RevisionChoice::Exactly(revision) => eras(RevisionChoice::Era(revision.era())),
    }
}

/// The first request in an era.
pub(super) fn first(era: Era, speak: RevisionChoice, id: u64) -> Value {
    let revision = revision(era, speak);
    match era {
        Era::Modern => request(id, method::DISCOVER, json!({}), revision),
        Era::Legacy => {
            let params = raw::initialize_params(&ClientInfo::default(), revision.as_str());
            request(id, method::INITIALIZE, params, revision)
        }
    }
}

/// A request in the form of this revision.
pub(super) fn request(id: u64, method: &str, params: Value, revision: Revision) -> Value {
    raw::request(&ClientInfo::default(), revision, &id.into(), method, params)
}

pub(super) fn initialized() -> Value {
    raw::notification(&ClientInfo::default(), Revision::NEWEST_LEGACY, method::INITIALIZED, Value::Null)
}

pub(super) fn revision(era: Era, speak: RevisionChoice) -> Revision {
    match (speak, era) {
        (RevisionChoice::Exactly(revision), _) if revision.era() == era => revision,
        (_, Era::Modern) => Revision::NEWEST,
        (_, Era::Legacy) => Revision::NEWEST_LEGACY,
    }
}

/// True if a message is the answer to the request with this id.
pub(super) fn answers(message: &Value, id: u64) -> bool {
    message.get("id") == Some(&Value::from(id)) && is_response(message)
}

/// True if a JSON text is a JSON-RPC message of any kind.
pub(super) fn is_message(message: &Value) -> bool {
    match message {
        Value::Array(batch) => !batch.is_empty() && batch.iter().all(is_message),
        _ => message.get("jsonrpc").is_some() && (message.get("method").is_some() || is_response(message)),
    }
}

/// Reads the answer to the first request of an era.
pub(super) fn read(message: &Value, era: Era) -> Reading {
    if let Some(error) = message.get("error").filter(|error| error.is_object()) {
        return refusal(error, era);
    }
    let Some(result) = message.get("result").filter(|result| result.is_object()) else { return Reading::Odd };
    let revisions = match era {
        Era::Modern => texts(result.get("supportedVersions")),
        Era::Legacy => {
            result.get("protocolVersion").and_then(Value::as_str).map(str::to_owned).into_iter().collect()
        }
    };
    if revisions.is_empty() {
        // Some servers answer any method with any result; that is no introduction.
        return Reading::Odd;
    }
    Reading::Introduced(Introduction { era, result: result.clone(), revisions })
}

/// An unsupported-version error (-32022) that lists revisions identifies a modern server, so it
/// counts as an introduction.
fn refusal(error: &Value, era: Era) -> Reading {
    let code = error.get("code").and_then(Value::as_i64);
    let supported = texts(error.get("data").and_then(|data| data.get("supported")));
    if era == Era::Modern && code == Some(-32022) && !supported.is_empty() {
        return Reading::Introduced(Introduction { era, result: error.clone(), revisions: supported });
    }
    Reading::Refused(error.clone())
}

fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

impl Introduction {
    /// The newest revision that both sides support. It may belong to the legacy era even if the
    /// server answered in the modern one.
    pub(super) fn shared(&self) -> Option<Revision> {
        self.revisions.iter().filter_map(|text| text.parse().ok()).max()
    }

    /// The server's name and version.
    pub(super) fn name(&self) -> String {
        let modern = || self.result.get("_meta")?.get(SERVER_INFO);
        let info = self.result.get("serverInfo").or_else(modern);
        let text = |name: &str| info.and_then(|info| info.get(name)?.as_str()).unwrap_or_default().to_owned();
        let name = format!("{} {}", text("name"), text("version"));
        if name.trim().is_empty() { "a server without a name".to_owned() } else { name.trim().to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn introductions_of_both_eras_are_read() {
        let modern = json!({"id": 1, "result": {"supportedVersions": ["2026-07-28"], "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "a"}}}});
        let Reading::Introduced(found) = read(&modern, Era::Modern) else { panic!() };
        assert_eq!((found.shared(), found.name().as_str()), (Some(Revision::NEWEST), "a"));
        let legacy = json!({"id": 1, "result": {"protocolVersion": "2025-06-18", "serverInfo": {"name": "b", "version": "2"}}});
        let Reading::Introduced(found) = read(&legacy, Era::Legacy) else { panic!() };
        assert_eq!((found.era, found.name().as_str()), (Era::Legacy, "b 2"));
    }

    #[test]
    fn refusals_and_nonsense_are_told_apart() {
        let unknown = json!({"id": 1, "error": {"code": -32601, "message": "no"}});
        assert!(matches!(read(&unknown, Era::Modern), Reading::Refused(_)));
        assert_eq!(read(&json!({"id": 1, "result": {}}), Era::Modern), Reading::Odd);
        let other = json!({"id": 1, "error": {"code": -32022, "data": {"supported": ["2030-01-01"]}}});
        let Reading::Introduced(found) = read(&other, Era::Modern) else { panic!() };
        assert_eq!(found.shared(), None);
    }
}
