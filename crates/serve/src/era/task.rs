//! Converts tasks of the tasks extension to the form of 2025-11-25.

use super::{legacy::lifted_meta, lower::lower};
use crate::session::Session;
use trunkline_protocol::{Object, Raw, Revision, message::follow_tasks, method};

/// Members with another name: (extension, 2025-11-25).
const RENAMED: [(&str, &str); 2] = [("ttlMs", "ttl"), ("pollIntervalMs", "pollInterval")];
/// Members that are not part of a task in 2025-11-25.
const LEFT_OUT: [&str; 5] = ["resultType", "inputRequests", "result", "error", "_meta"];

/// Converts a task. In 2025-11-25, a task whose tool result has `isError` is `failed`.
pub(crate) fn nested(task: &Raw) -> Raw {
    let members = task.object().unwrap_or_default();
    let mut nested = Object::new();
    for (name, value) in members.iter().filter(|(name, _)| !LEFT_OUT.contains(name)) {
        let renamed = RENAMED.iter().find(|(new, _)| *new == name).map(|(_, old)| *old);
        nested.set(renamed.unwrap_or(name).to_owned(), value.clone());
    }
    if nested.get("ttl").is_none() {
        nested.set("ttl", Raw::null());
    }
    let failed = members.get("result").and_then(|result| result.member_as::<bool>("isError")) == Some(true);
    if failed {
        nested.set("status", Raw::string("failed"));
    }
    nested.to_raw()
}

/// Converts the result of a tool call to this revision.
pub(crate) fn finished_call(result: &Raw, revision: Revision) -> Raw {
    lower(result, method::TOOLS_CALL, revision)
}

/// The `_meta` of the session and of one request, declaring support for the tasks extension.
pub(crate) fn task_meta(session: &Session, own: Option<&Raw>) -> Object {
    let mut meta = lifted_meta(session, own);
    follow_tasks(&mut meta);
    meta
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_task_becomes_a_nested_one() {
        let flat = r#"{"resultType":"complete","taskId":"t","status":"completed","ttlMs":5,"pollIntervalMs":7,"createdAt":"c","x":1,"result":{"isError":true}}"#;
        let want = r#"{"taskId":"t","status":"failed","ttl":5,"pollInterval":7,"createdAt":"c","x":1}"#;
        assert_eq!(nested(&Raw::parse(flat).unwrap()).as_str(), want);
    }
}
