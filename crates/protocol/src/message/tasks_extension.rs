//! The extension with which a modern server may answer a call with a task: its declaration, and
//! the fault for clients that do not declare it.

use super::meta::CLIENT_CAPABILITIES;
use crate::{Fault, FaultKind, Object, Raw};

pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// True if these capabilities of a client or server declare the extension.
pub fn declares_tasks(capabilities: &Raw) -> bool {
    capabilities.member("extensions").is_some_and(|extensions| extensions.member(TASKS_EXTENSION).is_some())
}

/// Adds the extension to capabilities.
pub fn declare_tasks(capabilities: &mut Object) {
    let mut extensions = capabilities.get("extensions").and_then(Raw::object).unwrap_or_default();
    extensions.set(TASKS_EXTENSION, Raw::empty_object());
    capabilities.set("extensions", extensions.to_raw());
}

/// Removes the extension from capabilities, and `extensions` if nothing else is in it.
pub fn undeclare_tasks(capabilities: &mut Object) {
    let Some(mut extensions) = capabilities.get("extensions").and_then(Raw::object) else { return };
    extensions.remove(TASKS_EXTENSION);
    if extensions.is_empty() {
        capabilities.remove("extensions");
    } else {
        capabilities.set("extensions", extensions.to_raw());
    }
}

/// Declares in the `_meta` of a request that its client supports tasks.
pub fn follow_tasks(meta: &mut Object) {
    let mut capabilities = meta.get(CLIENT_CAPABILITIES).and_then(Raw::object).unwrap_or_default();
    declare_tasks(&mut capabilities);
    meta.set(CLIENT_CAPABILITIES, capabilities.to_raw());
}

/// The fault for a client that does not declare the extension: it would not understand a task, so
/// it must declare it first.
pub fn tasks_needed() -> Fault {
    let data = serde_json::json!({"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}});
    Fault::new(FaultKind::ClientCapabilityMissing, "the client must declare the tasks extension")
        .with_data(data.into())
}
