//! The answer type of the packs' tools: data for programs, and text for people.

use schemars::JsonSchema;
use serde::Serialize;
use trunkline_protocol::{
    Raw,
    message::{CallToolResult, ContentBlock},
};

use trunkline_toolbox::{Answer, IntoToolResult, Json, ToolError};

/// An answer as text and as structured data.
#[derive(Debug)]
pub(crate) struct TextAndData<T> {
    pub(crate) text: String,
    pub(crate) data: T,
}

impl<T: Serialize + JsonSchema> IntoToolResult for TextAndData<T> {
    fn into_tool_result(self) -> Result<Answer, ToolError> {
        let mut answer = Json(self.data).into_tool_result()?;
        if let Answer::Complete(CallToolResult { content, .. }) = &mut answer {
            *content = Some(vec![ContentBlock::text(self.text)]);
        }
        Ok(answer)
    }

    fn output_schema() -> Option<Raw> {
        Json::<T>::output_schema()
    }
}
