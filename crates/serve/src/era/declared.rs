//! Converts capabilities between the eras: the client's to modern, the server's to legacy.

use trunkline_protocol::{
    Object, Raw, Revision,
    message::{declares_tasks, undeclare_tasks},
};

/// The client's capabilities without those that its revision does not define. `tasks` is removed
/// too, because no modern request can start a task at the client.
pub(super) fn declared(capabilities: &Raw, revision: Revision) -> Raw {
    let mut converted = capabilities.object().unwrap_or_default();
    converted.remove("tasks");
    if !revision.has_elicitation() {
        converted.remove("elicitation");
    }
    if !revision.has_url_elicitation() {
        keep_out(&mut converted, "elicitation", "url");
        keep_out(&mut converted, "sampling", "tools");
        keep_out(&mut converted, "sampling", "context");
    }
    converted.to_raw()
}

fn keep_out(capabilities: &mut Object, name: &'static str, part: &str) {
    if let Some(mut inner) = capabilities.get(name).and_then(Raw::object)
        && inner.remove(part).is_some()
    {
        capabilities.set(name, inner.to_raw());
    }
}

/// The server's capabilities for a client of this revision. In 2025-11-25, tasks are a core
/// capability and not an extension; older revisions have none.
pub(super) fn offered(capabilities: Option<&Raw>, revision: Revision) -> Raw {
    let mut offered = capabilities.and_then(Raw::object).unwrap_or_default();
    let runs_tasks = capabilities.is_some_and(declares_tasks);
    if runs_tasks {
        undeclare_tasks(&mut offered);
    }
    if !revision.has_core_tasks() {
        offered.remove("tasks");
    } else if runs_tasks {
        offered.set("tasks", with_own_methods(offered.get("tasks")));
    }
    if !revision.declares_completions() {
        offered.remove("completions");
    }
    offered.to_raw()
}

/// The server's `tasks`, with those that this endpoint serves itself, whatever the server can do.
fn with_own_methods(theirs: Option<&Raw>) -> Raw {
    let mut tasks = theirs.and_then(Raw::object).unwrap_or_default();
    for (name, value) in [
        ("list", Raw::empty_object()),
        ("cancel", Raw::empty_object()),
        ("requests", serde_json::json!({"tools": {"call": {}}}).into()),
    ] {
        if tasks.get(name).is_none() {
            tasks.set(name, value);
        }
    }
    tasks.to_raw()
}

/// Removes `tasks.list` from the capabilities in an `initialize` result. A client without an
/// identity of its own must not see the tasks of other such clients.
pub(crate) fn without_task_list(result: Raw) -> Raw {
    let capabilities = result.member("capabilities").and_then(|raw| raw.object());
    let tasks = capabilities.as_ref().and_then(|all| all.get("tasks")).and_then(Raw::object);
    let (Some(mut capabilities), Some(mut tasks)) = (capabilities, tasks) else { return result };
    tasks.remove("list");
    capabilities.set("tasks", tasks.to_raw());
    result.with("capabilities", &capabilities.to_raw()).unwrap_or(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &'static str) -> Raw {
        Raw::parse(text).unwrap()
    }

    #[test]
    fn a_client_declares_no_more_than_its_revision_has() {
        let all = raw(r#"{"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"tasks":{},"x":{}}"#);
        let converted = |revision| declared(&all, revision).to_string();
        assert_eq!(converted(Revision::V2025_03_26), r#"{"sampling":{},"x":{}}"#);
        assert_eq!(converted(Revision::V2025_06_18), r#"{"sampling":{},"elicitation":{"form":{}},"x":{}}"#);
        assert!(converted(Revision::V2025_11_25).contains("url"));
    }

    #[test]
    fn the_list_of_tasks_alone_can_be_taken_away() {
        let whole = raw(r#"{"capabilities":{"tasks":{"list":{},"cancel":{}},"tools":{}},"x":1}"#);
        let less = without_task_list(whole).to_string();
        assert_eq!(less, r#"{"capabilities":{"tasks":{"cancel":{}},"tools":{}},"x":1}"#);
        let none = raw(r#"{"capabilities":{"tools":{}}}"#);
        assert_eq!(without_task_list(none.clone()).to_string(), none.to_string());
    }

    #[test]
    fn tasks_are_offered_to_those_who_know_them() {
        let offer = raw(r#"{"extensions":{"io.modelcontextprotocol/tasks":{}},"completions":{}}"#);
        assert!(offered(Some(&offer), Revision::V2025_11_25).member("tasks").is_some());
        assert!(offered(Some(&offer), Revision::V2025_06_18).member("tasks").is_none());
        assert!(offered(Some(&offer), Revision::V2024_11_05).member("completions").is_none());
        let theirs =
            raw(r#"{"tasks":{"cancel":{},"requests":{"tools":{"call":{"x":1.0}}},"list":{}},"tools":{}}"#);
        let mut lifted = theirs.object().unwrap();
        trunkline_protocol::message::declare_tasks(&mut lifted);
        assert_eq!(offered(Some(&lifted.to_raw()), Revision::V2025_11_25), theirs);
    }
}
