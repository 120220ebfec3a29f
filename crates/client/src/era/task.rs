//! Converts tasks of revision 2025-11-25 into the form of the tasks extension.

use trunkline_protocol::{ErrorObject, Object, Raw, message::meta::RELATED_TASK};

/// Members with another name in the extension: old and new name.
const RENAMED: [(&str, &str); 2] = [("ttl", "ttlMs"), ("pollInterval", "pollIntervalMs")];

/// Converts the result of a call that became a task: its members move to the top level and it gets
/// `resultType`. `None` if the result is not a task.
pub(crate) fn flat_created(result: &Raw) -> Option<Raw> {
    let created = result.object()?;
    let task = created.get("task")?.object()?;
    let mut flat = Object::new();
    flat.set("resultType", Raw::string("task"));
    rename(&task, &mut flat);
    if let Some(meta) = created.get("_meta") {
        flat.set("_meta", meta.clone());
    }
    Some(flat.to_raw())
}

/// Converts a task as `tasks/get` returns it.
pub(crate) fn flat(task: &Raw) -> Object {
    let mut flat = Object::new();
    flat.set("resultType", Raw::string("complete"));
    rename(&task.object().unwrap_or_default(), &mut flat);
    flat
}

/// Adds the outcome of a task. A tool result with `isError` is still a completed task.
pub(crate) fn add_outcome(task: &mut Object, outcome: Result<Raw, ErrorObject>) {
    match outcome {
        Ok(result) => {
            task.set("status", Raw::string("completed"));
            task.set("result", unrelated(&result));
        }
        Err(error) => {
            task.set("status", Raw::string("failed"));
            let mut object = Object::new();
            object.set("code", serde_json::Value::from(error.code).into());
            object.set("message", Raw::string(&error.message));
            if let Some(data) = error.data {
                object.set("data", data);
            }
            task.set("error", object.to_raw());
        }
    }
}

fn rename(from: &Object, to: &mut Object) {
    for (name, value) in from.iter() {
        let renamed = RENAMED.iter().find(|(old, _)| *old == name).map(|(_, new)| *new);
        to.set(renamed.unwrap_or(name).to_owned(), value.clone());
    }
    if to.get("ttlMs").is_none() {
        to.set("ttlMs", Raw::null());
    }
}

/// The result without the `related-task` key of `_meta`, and with a `resultType`.
fn unrelated(result: &Raw) -> Raw {
    let bare = trunkline_protocol::message::meta::remove(Some(result), [RELATED_TASK]);
    let bare = bare.unwrap_or_else(|_| result.clone());
    let Some(mut members) = bare.object() else { return bare };
    if members.get("resultType").is_none() {
        members.set("resultType", Raw::string("complete"));
    }
    members.to_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nested_task_becomes_a_flat_one_and_keeps_what_else_it_says() {
        let nested = r#"{"task":{"taskId":"t","status":"working","ttl":60000,"pollInterval":5,"x":1},"_meta":{"a":1}}"#;
        let flat = flat_created(&Raw::parse(nested).unwrap()).unwrap();
        let want = r#"{"resultType":"task","taskId":"t","status":"working","ttlMs":60000,"pollIntervalMs":5,"x":1,"_meta":{"a":1}}"#;
        assert_eq!(flat.as_str(), want);
        assert!(flat_created(&Raw::parse(r#"{"content":[]}"#).unwrap()).is_none());
    }

    #[test]
    fn a_failed_tool_has_completed_its_task() {
        let mut task = flat(&Raw::parse(r#"{"taskId":"t","status":"failed","ttl":null}"#).unwrap());
        let result = r#"{"isError":true,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}"#;
        add_outcome(&mut task, Ok(Raw::parse(result).unwrap()));
        let want = r#"{"resultType":"complete","taskId":"t","status":"completed","ttlMs":null,"result":{"isError":true,"resultType":"complete"}}"#;
        assert_eq!(task.to_raw().as_str(), want);
    }
}
