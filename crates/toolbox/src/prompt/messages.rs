//! Return types of prompts: one user text, messages, or a whole result.

use crate::ToolError;
use trunkline_protocol::message::{ContentBlock, GetPromptResult, PromptMessage, Role};

/// A type that a prompt can return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned from a prompt",
    note = "return text, `PromptMessage`s, `GetPromptResult`, or a `Result` of one of these and `ToolError`"
)]
pub trait IntoPrompt {
    fn into_prompt(self) -> Result<GetPromptResult, ToolError>;
}

impl IntoPrompt for GetPromptResult {
    fn into_prompt(self) -> Result<GetPromptResult, ToolError> {
        Ok(self)
    }
}

impl IntoPrompt for Vec<PromptMessage> {
    fn into_prompt(self) -> Result<GetPromptResult, ToolError> {
        Ok(GetPromptResult::new(self))
    }
}

impl IntoPrompt for PromptMessage {
    fn into_prompt(self) -> Result<GetPromptResult, ToolError> {
        vec![self].into_prompt()
    }
}

impl IntoPrompt for ContentBlock {
    fn into_prompt(self) -> Result<GetPromptResult, ToolError> {
        PromptMessage::new(Role::User, self).into_prompt()
    }
}

impl IntoPrompt for String {
    fn into_prompt(self) -> Result<GetPromptResult, ToolError> {
        ContentBlock::text(self).into_prompt()
    }
}

impl IntoPrompt for &str {
    fn into_prompt(self) -> Result<GetPromptResult, ToolError> {
        ContentBlock::text(self).into_prompt()
    }
}

impl<T: IntoPrompt, E: Into<ToolError>> IntoPrompt for Result<T, E> {
    fn into_prompt(self) -> Result<GetPromptResult, ToolError> {
        self.map_err(Into::into)?.into_prompt()
    }
}
