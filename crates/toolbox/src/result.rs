//! Return types of tools: text, JSON with a schema, content blocks, a whole result, or nothing.

use crate::{ToolError, schema};
use schemars::JsonSchema;
use serde::Serialize;
use trunkline_protocol::{
    Raw,
    message::{CallToolResult, ContentBlock, InputRequired},
};

/// Structured content: sent as `structuredContent` and, for clients that do not read that field,
/// also as text. The tool's output schema comes from the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// The answer of a tool.
#[derive(Debug, Clone)]
pub enum Answer {
    Complete(CallToolResult),
    /// The tool handles the rounds of questions itself; most tools ask through
    /// [`Context`](crate::Context) instead.
    InputRequired(InputRequired),
}

/// A type that a tool can return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from a tool",
    label = "not an answer of a tool",
    note = "return text, `Json<T>`, content blocks, `CallToolResult`, `()`, or a `Result` of one of these and `ToolError`"
)]
pub trait IntoToolResult {
    fn into_tool_result(self) -> Result<Answer, ToolError>;

    /// The schema of the structured content, if the type has one.
    fn output_schema() -> Option<Raw> {
        None
    }
}

impl From<CallToolResult> for Answer {
    fn from(result: CallToolResult) -> Self {
        Self::Complete(result)
    }
}

impl From<Vec<ContentBlock>> for Answer {
    fn from(content: Vec<ContentBlock>) -> Self {
        Self::Complete(CallToolResult { content: Some(content), ..CallToolResult::default() })
    }
}

impl IntoToolResult for Answer {
    fn into_tool_result(self) -> Result<Answer, ToolError> {
        Ok(self)
    }
}

impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> Result<Answer, ToolError> {
        Ok(self.into())
    }
}

impl IntoToolResult for InputRequired {
    fn into_tool_result(self) -> Result<Answer, ToolError> {
        Ok(Answer::InputRequired(self))
    }
}

impl IntoToolResult for Vec<ContentBlock> {
    fn into_tool_result(self) -> Result<Answer, ToolError> {
        Ok(self.into())
    }
}

impl IntoToolResult for ContentBlock {
    fn into_tool_result(self) -> Result<Answer, ToolError> {
        vec![self].into_tool_result()
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<Answer, ToolError> {
        ContentBlock::text(self).into_tool_result()
    }
}

impl IntoToolResult for &str {
    fn into_tool_result(self) -> Result<Answer, ToolError> {
        ContentBlock::text(self).into_tool_result()
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<Answer, ToolError> {
        Vec::<ContentBlock>::new().into_tool_result()
    }
}

impl<T: IntoToolResult, E: Into<ToolError>> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> Result<Answer, ToolError> {
        self.map_err(Into::into)?.into_tool_result()
    }

    fn output_schema() -> Option<Raw> {
        T::output_schema()
    }
}

impl<T: Serialize + JsonSchema> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> Result<Answer, ToolError> {
        let value = Raw::encode(&self.0)
            .map_err(|e| ToolError::new("the result cannot be written as JSON").detail(e.to_string()))?;
        let mut result = CallToolResult {
            content: Some(vec![ContentBlock::text(value.as_str())]),
            ..CallToolResult::default()
        };
        result.structured_content = Some(value);
        Ok(result.into())
    }

    fn output_schema() -> Option<Raw> {
        Some(schema::of_output::<T>())
    }
}
