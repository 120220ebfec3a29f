//! A call whose result a hook may withhold: nothing of the result may reach the client in another
//! way.

use trunkline_protocol::{
    Call, Notification, Object, Part, Raw,
    message::{meta::CLIENT_CAPABILITIES, undeclare_tasks},
    method,
};

/// The members of a progress notification that are numbers.
const NUMBERS: [&str; 3] = ["progressToken", "progress", "total"];

/// The call without the means to get its result later, as that of a task.
pub(super) fn answered_at_once(mut call: Call) -> Call {
    let Some(mut params) = call.params.as_ref().and_then(Raw::object) else { return call };
    params.remove("task");
    if let Some(mut meta) = params.get("_meta").and_then(Raw::object)
        && let Some(mut capabilities) = meta.get(CLIENT_CAPABILITIES).and_then(Raw::object)
    {
        undeclare_tasks(&mut capabilities);
        meta.set(CLIENT_CAPABILITIES, capabilities.to_raw());
        params.set("_meta", meta.to_raw());
    }
    call.params = Some(params.to_raw());
    call
}

/// The part as far as it shows nothing of the result: progress without texts and parts. `None` for
/// log messages and whatever else a server tells meanwhile. Questions pass, since the call cannot
/// go on without them.
pub(super) fn without_content(part: Part) -> Option<Part> {
    let Part::Notification(notification) = part else { return Some(part) };
    if notification.method != method::PROGRESS {
        return None;
    }
    let params = notification.params.as_ref().and_then(Raw::object)?;
    let mut numbers = Object::new();
    for name in NUMBERS {
        if let Some(value) = params.get(name) {
            numbers.set(name, value.clone());
        }
    }
    Some(Part::Notification(Notification::new(method::PROGRESS, Some(numbers.to_raw()))))
}
