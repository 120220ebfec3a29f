//! Adds the members that every modern result must have, unless the handler set them.

use crate::options::Eras;
use std::sync::LazyLock;
use trunkline_protocol::{
    Object, Raw, Revision,
    message::{ResultType, meta::SERVER_INFO},
    method,
};

/// Methods whose results may be cached; their results must have `ttlMs` and `cacheScope`.
const CACHEABLE: [&str; 6] = [
    method::DISCOVER,
    method::TOOLS_LIST,
    method::PROMPTS_LIST,
    method::RESOURCES_LIST,
    method::RESOURCES_TEMPLATES,
    method::RESOURCES_READ,
];

/// The server's identity, which every modern result carries in `_meta`.
#[derive(Debug)]
pub(crate) struct Identity {
    info: Raw,
    /// A `_meta` with only the identity, for results without `_meta`.
    alone: Raw,
}

impl Identity {
    pub(crate) fn new(info: Raw) -> Self {
        let mut meta = Object::new();
        meta.set(SERVER_INFO, info.clone());
        Self { info, alone: meta.to_raw() }
    }

    /// Adds the identity to the `_meta` of a result; `None` if it already has one.
    fn with_identity(&self, meta: Option<Raw>) -> Option<Raw> {
        match meta.filter(Raw::is_object) {
            None => Some(self.alone.clone()),
            Some(meta) if meta.member(SERVER_INFO).is_some() => None,
            Some(meta) => meta.with(SERVER_INFO, &self.info),
        }
    }
}

/// Adds `resultType`, cache hints and the server's identity. Existing members are kept.
pub(super) fn finish(result: &Raw, name: &str, server: Option<&Identity>) -> Raw {
    let [kind, ttl, scope, meta] = result.pick(["resultType", "ttlMs", "cacheScope", "_meta"]);
    let mut changes: Vec<(&str, &Raw)> = Vec::with_capacity(4);
    // An intermediate result, such as a question, must not be cached.
    let cacheable = CACHEABLE.contains(&name) && ResultType::of(result) == ResultType::Complete;
    if kind.is_none() {
        changes.push(("resultType", &COMPLETE));
    }
    if cacheable && ttl.is_none() {
        changes.push(("ttlMs", &AT_ONCE));
    }
    if cacheable && scope.is_none() {
        changes.push(("cacheScope", &PRIVATE));
    }
    let with_identity = server.and_then(|server| server.with_identity(meta));
    if let Some(with_identity) = &with_identity {
        changes.push(("_meta", with_identity));
    }
    let finished = result.with_all(&changes).unwrap_or_else(|| result.clone());
    if name == method::TOOLS_LIST { without_execution(finished) } else { finished }
}

/// Sets `supportedVersions` to the served revisions, newest first: the handler knows only the
/// newest. Removes the core capability `tasks`, which the modern era has as an extension.
pub(super) fn with_versions(introduction: &Raw, eras: Eras) -> Raw {
    let Some(mut members) = introduction.object() else { return introduction.clone() };
    if let Some(modern) = members.get("capabilities").and_then(|all| all.without(&["tasks"])) {
        members.set("capabilities", modern);
    }
    let spoken = Revision::ALL.iter().rev().filter(|revision| eras.allows(revision.era()));
    let spoken: Vec<&str> = spoken.map(|revision| revision.as_str()).collect();
    members.set("supportedVersions", serde_json::json!(spoken).into());
    members.to_raw()
}

/// Removes `execution.taskSupport` from tools: in the modern era the server decides per call
/// whether its result is a task.
fn without_execution(list: Raw) -> Raw {
    if !list.may_name("execution") {
        return list;
    }
    let tools: Option<Vec<Raw>> = list.member_as("tools");
    let Some(mut tools) = tools.filter(|tools| tools.iter().any(says_execution)) else { return list };
    for tool in tools.iter_mut().filter(|tool| says_execution(tool)) {
        let rest = tool.member("execution").and_then(|execution| execution.without(&["taskSupport"]));
        let bare = match rest.filter(|rest| rest.members().next().is_some()) {
            Some(rest) => tool.with("execution", &rest),
            None => tool.without(&["execution"]),
        };
        *tool = bare.unwrap_or_else(|| tool.clone());
    }
    list.with("tools", &Raw::array(&tools)).unwrap_or(list)
}

fn says_execution(tool: &Raw) -> bool {
    tool.member("execution").is_some_and(|execution| execution.member("taskSupport").is_some())
}

static COMPLETE: LazyLock<Raw> = LazyLock::new(|| Raw::string("complete"));
static AT_ONCE: LazyLock<Raw> = LazyLock::new(|| serde_json::Value::from(0).into());
static PRIVATE: LazyLock<Raw> = LazyLock::new(|| Raw::string("private"));

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::Era;

    #[test]
    fn only_the_revisions_that_are_served_are_named() {
        let introduction = Raw::parse(r#"{"supportedVersions":["x"],"capabilities":{}}"#).unwrap();
        let modern = with_versions(&introduction, Eras::Only(Era::Modern));
        assert_eq!(modern.as_str(), r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#);
        let both: Vec<String> =
            with_versions(&introduction, Eras::Both).member_as("supportedVersions").unwrap();
        assert_eq!((both.len(), both[1].as_str()), (5, "2025-11-25"));
    }

    #[test]
    fn only_task_support_is_removed_from_tools() {
        let list = r#"{"tools":[{"name":"a","execution":{"taskSupport":"optional"}},{"name":"b","execution":{"taskSupport":"optional","x":1.0}},{"name":"c","execution":{}}]}"#;
        let want =
            r#"{"tools":[{"name":"a"},{"name":"b","execution":{"x":1.0}},{"name":"c","execution":{}}]}"#;
        assert_eq!(without_execution(Raw::parse(list).unwrap()).as_str(), want);
    }

    #[test]
    fn what_is_missing_is_added_and_what_is_there_stays() {
        let result = Raw::parse(r#"{"tools":[],"ttlMs":5,"_meta":{"x":1}}"#).unwrap();
        let server = Identity::new(Raw::parse(r#"{"name":"s"}"#).unwrap());
        let finished = finish(&result, method::TOOLS_LIST, Some(&server));
        let want = r#"{"tools":[],"ttlMs":5,"_meta":{"x":1,"io.modelcontextprotocol/serverInfo":{"name":"s"}},"resultType":"complete","cacheScope":"private"}"#;
        assert_eq!(finished.as_str(), want);
        let call = finish(&Raw::empty_object(), method::TOOLS_CALL, None);
        assert_eq!(call.as_str(), r#"{"resultType":"complete"}"#);
    }
}
