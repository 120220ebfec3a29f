//! Resources: text, binary, one with subscriptions, and a template.

use super::content::{PNG, PNG_TYPE};
use serde_json::json;
use trunkline_toolbox::{ReadRequest, Resource, Template, ToolboxBuilder};

pub(crate) fn add(builder: ToolboxBuilder) -> ToolboxBuilder {
    let text = "This is the content of the static text resource.";
    let family = Template::new("test://template/{id}/data", "data", |_cx, request: ReadRequest| async move {
        let id = &request.variables["id"];
        json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}).to_string()
    });
    builder
        .resource(Resource::text("test://static-text", "static-text", text).description("A text"))
        .resource(
            Resource::bytes("test://static-binary", "static-binary", PNG)
                .mime_type(PNG_TYPE)
                .description("A picture"),
        )
        .resource(
            Resource::text("test://watched-resource", "watched-resource", "Nothing happens here.")
                .description("A text that can be watched"),
        )
        .template(
            family
                .mime_type("application/json")
                .description("Data by their id")
                .complete_from("id", ["1", "2", "123"]),
        )
}
