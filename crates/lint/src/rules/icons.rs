//! Finds all icons of a server.

use crate::evidence::{Case, FrameRef, List};
use serde_json::Value;

/// All objects with icons: label, frame, pointer, value.
pub(in crate::rules) fn owners<'a>(case: &Case<'a>) -> Vec<(String, FrameRef, String, &'a Value)> {
    let mut owners = Vec::new();
    for list in List::ALL {
        for item in case.list(list).unwrap_or_default() {
            owners.push((item.label(), item.frame, item.pointer.clone(), item.value));
        }
    }
    for pointer in ["/result/serverInfo", "/result/_meta/io.modelcontextprotocol~1serverInfo"] {
        if let Some(introduced) = case.introduced()
            && let (Some(frame), Some(info)) =
                (introduced.answer_ref(), introduced.answer().and_then(|it| it.pointer(pointer)))
        {
            owners.push(("server".to_owned(), frame, pointer.to_owned(), info));
        }
    }
    owners.retain(|(.., value)| value.get("icons").is_some());
    owners
}
