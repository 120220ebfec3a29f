//! Prompts: message templates that a server offers to users.

use super::{CacheScope, ContentBlock, Icon, InputResponses, Role, list::items};
use crate::{Number, Raw, view::view};

view! {
    /// A prompt as a server lists it.
    pub struct Prompt {
        name: String = "name",
    } optional {
        title: String = "title",
        description: String = "description",
        arguments: Vec<PromptArgument> = "arguments",
        icons: Vec<Icon> = "icons",
        meta: Raw = "_meta",
    }

    /// An argument of a prompt.
    pub struct PromptArgument {
        name: String = "name",
    } optional {
        title: String = "title",
        description: String = "description",
        required: bool = "required",
    }

    /// The result of `prompts/list`.
    pub struct ListPromptsResult {
        prompts: Vec<Raw> = "prompts",
    } optional {
        next_cursor: String = "nextCursor",
        result_type: String = "resultType",
        ttl_ms: Number = "ttlMs",
        cache_scope: CacheScope = "cacheScope",
        meta: Raw = "_meta",
    }

    /// The parameters of `prompts/get`.
    pub struct GetPromptParams {
        name: String = "name",
    } optional {
        /// An object of strings.
        arguments: Raw = "arguments",
        input_responses: InputResponses = "inputResponses",
        request_state: String = "requestState",
        meta: Raw = "_meta",
    }

    /// The result of `prompts/get`.
    pub struct GetPromptResult {
        messages: Vec<PromptMessage> = "messages",
    } optional {
        description: String = "description",
        result_type: String = "resultType",
        meta: Raw = "_meta",
    }

    /// One message of a prompt.
    pub struct PromptMessage {
        role: Role = "role",
        content: ContentBlock = "content",
    } optional {
    }
}

items!(ListPromptsResult, prompts: Prompt);
