//! Lowers results: removes or converts everything that a legacy revision does not define.

use trunkline_protocol::{MemberEdit, Object, Raw, Revision, message::meta, method};

/// Members of results that only the modern era defines.
const MODERN_ONLY: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// Converts a result to this revision.
pub(super) fn lower(result: &Raw, name: &str, revision: Revision) -> Raw {
    let mut structured = None;
    let lowered = result.edit_members(|member| {
        if MODERN_ONLY.iter().any(|name| member.is(name)) {
            return MemberEdit::LeftOut;
        }
        if member.is("structuredContent") {
            structured = Some(member.value());
        }
        if member.is("_meta") { without_identity(&member.value()) } else { MemberEdit::Kept }
    });
    let lowered = lowered.unwrap_or_else(|| result.clone());
    match name {
        method::TOOLS_CALL => lower_call(lowered, structured.as_ref(), revision),
        method::PROMPTS_GET => edited(lowered, |members| lower_messages(members, revision)),
        method::TOOLS_LIST if may_have_odd_tools(&lowered, revision) => {
            edited(lowered, |members| lower_tools(members, revision))
        }
        _ => lowered,
    }
}

fn without_identity(own: &Raw) -> MemberEdit {
    match own.without(&[meta::SERVER_INFO]) {
        None => MemberEdit::Kept,
        Some(rest) if rest == Raw::empty_object() => MemberEdit::LeftOut,
        Some(rest) => MemberEdit::Became(rest),
    }
}

fn edited(result: Raw, edit: impl FnOnce(&mut Object)) -> Raw {
    let Some(mut members) = result.object() else { return result };
    edit(&mut members);
    members.to_raw()
}

/// Before the modern era, structured content must be an object. Any other value is removed, and
/// added as text if the result has no text block.
fn lower_call(result: Raw, structured: Option<&Raw>, revision: Revision) -> Raw {
    let odd = structured.filter(|content| !content.is_object());
    let knows_all = revision.has_audio() && revision.has_resource_links();
    if knows_all && odd.is_none() {
        return result;
    }
    edited(result, |members| lower_content(members, odd, revision))
}

fn lower_content(members: &mut Object, odd: Option<&Raw>, revision: Revision) {
    let content: Option<Vec<Raw>> = members.get("content").and_then(|raw| raw.decode().ok());
    let content = content.unwrap_or_default();
    let mut lowered: Vec<Raw> = content.iter().map(|block| lower_block(block, revision)).collect();
    if let Some(odd) = odd {
        members.remove("structuredContent");
        let is_text = |block: &Raw| block.member_as::<String>("type").as_deref() == Some("text");
        if !content.iter().any(is_text) {
            lowered.push(serde_json::json!({"type": "text", "text": odd.as_str()}).into());
        }
    }
    if lowered != content
        && let Ok(raw) = Raw::encode(&lowered)
    {
        members.set("content", raw);
    }
}

fn lower_messages(members: &mut Object, revision: Revision) {
    let messages: Option<Vec<Raw>> = members.get("messages").and_then(|raw| raw.decode().ok());
    let Some(messages) = messages.filter(|_| !revision.has_resource_links()) else { return };
    let lower = |message: &Raw| {
        let Some(mut members) = message.object() else { return message.clone() };
        if let Some(content) = members.get("content").map(|block| lower_block(block, revision)) {
            members.set("content", content);
        }
        members.to_raw()
    };
    if let Ok(raw) = Raw::encode(&messages.iter().map(lower).collect::<Vec<_>>()) {
        members.set("messages", raw);
    }
}

/// Converts a content block whose type the revision does not have.
fn lower_block(block: &Raw, revision: Revision) -> Raw {
    let text = |name: &str| block.member_as::<String>(name).unwrap_or_default();
    match text("type").as_str() {
        "audio" if !revision.has_audio() => {
            let resource = serde_json::json!({"uri": "attachment:audio", "mimeType": text("mimeType"), "blob": text("data")});
            serde_json::json!({"type": "resource", "resource": resource}).into()
        }
        "resource_link" if !revision.has_resource_links() => {
            serde_json::json!({"type": "text", "text": format!("{}: {}", text("name"), text("uri"))}).into()
        }
        _ => block.clone(),
    }
}

fn may_have_odd_tools(list: &Raw, revision: Revision) -> bool {
    list.may_name("outputSchema") || (!revision.has_core_tasks() && list.may_name("execution"))
}

/// Removes output schemas of non-object types: older clients would refuse the whole list.
fn lower_tools(members: &mut Object, revision: Revision) {
    let tools: Option<Vec<Raw>> = members.get("tools").and_then(|raw| raw.decode().ok());
    let Some(tools) = tools else { return };
    let is_object = |schema: &Raw| schema.member_as::<String>("type").as_deref() == Some("object");
    let lowered: Vec<Raw> = tools
        .iter()
        .map(|tool| {
            let odd = tool.member("outputSchema").is_some_and(|schema| !is_object(&schema));
            let unknown = !revision.has_core_tasks() && tool.member("execution").is_some();
            if !odd && !unknown {
                return tool.clone();
            }
            let mut tool = tool.object().unwrap_or_default();
            if odd {
                tool.remove("outputSchema");
            }
            if unknown {
                tool.remove("execution");
            }
            tool.to_raw()
        })
        .collect();
    if lowered != tools
        && let Ok(raw) = Raw::encode(&lowered)
    {
        members.set("tools", raw);
    }
}

/// Sets `taskSupport` to `optional` for all tools, unless the list already has `execution`.
pub(super) fn with_task_support(list: &Raw) -> Raw {
    let Some(mut members) = list.object() else { return list.clone() };
    let tools: Option<Vec<Raw>> = members.get("tools").and_then(|raw| raw.decode().ok());
    let silent = |tools: &Vec<Raw>| tools.iter().all(|tool| tool.member("execution").is_none());
    let Some(tools) = tools.filter(silent) else { return list.clone() };
    let support = |tool: &Raw| {
        let mut tool = tool.object().unwrap_or_default();
        tool.set("execution", serde_json::json!({"taskSupport": "optional"}).into());
        tool.to_raw()
    };
    if let Ok(raw) = Raw::encode(&tools.iter().map(support).collect::<Vec<_>>()) {
        members.set("tools", raw);
    }
    members.to_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lowered(text: &str, name: &str, revision: Revision) -> String {
        lower(&Raw::parse(text.to_owned()).unwrap(), name, revision).to_string()
    }

    #[test]
    fn what_only_the_modern_era_has_is_left_out_and_the_rest_stays() {
        let modern = r#"{"resultType":"complete","x":1e400,"ttlMs":0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{},"a":1}}"#;
        let want = r#"{"x":1e400,"_meta":{"a":1}}"#;
        assert_eq!(lowered(modern, method::PROMPTS_LIST, Revision::V2025_11_25), want);
    }

    #[test]
    fn later_kinds_of_content_reach_older_clients_in_forms_they_know() {
        let result = r#"{"content":[{"type":"audio","data":"AA==","mimeType":"audio/wav"},{"type":"resource_link","uri":"a:b","name":"n"},{"type":"text","text":"t"}],"structuredContent":[1]}"#;
        let oldest = lowered(result, method::TOOLS_CALL, Revision::V2024_11_05);
        assert!(oldest.contains(r#""blob":"AA==""#) && oldest.contains(r#""text":"n: a:b""#), "{oldest}");
        assert!(!oldest.contains("structuredContent"));
        let newer = lowered(result, method::TOOLS_CALL, Revision::V2025_11_25);
        assert!(newer.contains(r#""type":"audio""#) && newer.contains("resource_link"));
    }

    #[test]
    fn an_output_schema_that_is_no_objects_is_left_out() {
        let list = r#"{"tools":[{"name":"a","outputSchema":{"type":"array"}},{"name":"b","outputSchema":{"type":"object"}}]}"#;
        let want = r#"{"tools":[{"name":"a"},{"name":"b","outputSchema":{"type":"object"}}]}"#;
        assert_eq!(lowered(list, method::TOOLS_LIST, Revision::V2025_06_18), want);
    }
}
