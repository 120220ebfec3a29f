//! Converts a tool's questions to the form of a legacy client's revision.

use super::seal::unguessable;
use serde_json::{Map, Value};
use trunkline_protocol::{Object, Raw, Revision, method};

/// A question in the form of one revision.
pub(crate) struct Lowered {
    pub(crate) params: Option<Raw>,
    /// The `elicitationId` that we generated for a URL elicitation. The client gets
    /// `notifications/elicitation/complete` with it before the response.
    pub(crate) elicitation_id: Option<String>,
}

/// Converts the parameters of a question; `None` if the revision cannot express it.
pub(crate) fn lower_question(name: &str, params: Option<&Raw>, revision: Revision) -> Option<Lowered> {
    if name != method::ELICIT {
        return Some(Lowered { params: params.cloned(), elicitation_id: None });
    }
    if !revision.has_elicitation() {
        return None;
    }
    let mut members = params.and_then(Raw::object).unwrap_or_default();
    let is_url = members.get("mode").and_then(|raw| raw.decode::<String>().ok()).as_deref() == Some("url");
    if is_url {
        return revision.has_url_elicitation().then(|| lower_url_elicitation(members));
    }
    if !revision.has_url_elicitation() {
        members.remove("mode");
        let schema = members.get("requestedSchema").and_then(|raw| raw.decode::<Value>().ok());
        if let Some(mut schema) = schema {
            flatten_choices(&mut schema)?;
            members.set("requestedSchema", schema.into());
        }
    }
    Some(Lowered { params: Some(members.to_raw()), elicitation_id: None })
}

fn lower_url_elicitation(mut members: Object) -> Lowered {
    if members.get("elicitationId").is_some() {
        return Lowered { params: Some(members.to_raw()), elicitation_id: None };
    }
    let id = unguessable();
    members.set("elicitationId", Raw::string(&id));
    Lowered { params: Some(members.to_raw()), elicitation_id: Some(id) }
}

/// Replaces `oneOf` choices with titles by `enum` and `enumNames`. `None` if a field is
/// multiple-choice, which older revisions cannot express.
fn flatten_choices(schema: &mut Value) -> Option<()> {
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else {
        return Some(());
    };
    for field in properties.values_mut().filter_map(Value::as_object_mut) {
        if field.get("type").and_then(Value::as_str) == Some("array") {
            return None;
        }
        flatten_titles(field);
    }
    Some(())
}

fn flatten_titles(field: &mut Map<String, Value>) {
    let Some(Value::Array(options)) = field.remove("oneOf") else { return };
    let values: Vec<Value> = options.iter().filter_map(|option| option.get("const").cloned()).collect();
    let titles = options.iter().map(|option| option.get("title").or(option.get("const")).cloned());
    field.insert("enumNames".to_owned(), titles.map(Option::unwrap_or_default).collect());
    field.insert("enum".to_owned(), Value::Array(values));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lowered(params: Value, revision: Revision) -> Option<Lowered> {
        lower_question(method::ELICIT, Some(&params.into()), revision)
    }

    #[test]
    fn a_visit_gets_an_id_that_only_the_newest_legacy_clients_know() {
        let params = || json!({"mode": "url", "message": "m", "url": "https://a.example/"});
        let question = lowered(params(), Revision::V2025_11_25).unwrap();
        let id: String = question.params.unwrap().member_as("elicitationId").unwrap();
        assert_eq!(question.elicitation_id, Some(id));
        assert!(lowered(params(), Revision::V2025_06_18).is_none());
        let theirs = json!({"mode": "url", "elicitationId": "theirs"});
        assert_eq!(lowered(theirs, Revision::V2025_11_25).unwrap().elicitation_id, None);
    }

    #[test]
    fn titled_choices_become_two_lists_and_several_at_once_are_not_asked() {
        let titled = json!({"mode": "form", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]}}}});
        let older = lowered(titled.clone(), Revision::V2025_06_18).unwrap().params.unwrap();
        let want = json!({"requestedSchema": {"type": "object", "properties": {"a": {"type": "string", "enum": ["x"], "enumNames": ["X"]}}}});
        assert_eq!(older.decode::<Value>().unwrap(), want);
        assert_eq!(lowered(titled.clone(), Revision::V2025_11_25).unwrap().params.unwrap(), titled.into());
        let several = json!({"requestedSchema": {"properties": {"a": {"type": "array"}}}});
        assert!(lowered(several, Revision::V2025_06_18).is_none());
    }
}
