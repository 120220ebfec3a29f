//! Sampling: a server queries the client's model.

use super::{ContentBlock, Role, TaskParams, Tool};
use crate::{Number, Raw, view::view};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::slice;

view! {
    /// The parameters of `sampling/createMessage`. Only `max_tokens` is binding; the rest are
    /// hints.
    pub struct CreateMessageParams {
        messages: Vec<SamplingMessage> = "messages",
        max_tokens: Number = "maxTokens",
    } optional {
        model_preferences: ModelPreferences = "modelPreferences",
        system_prompt: String = "systemPrompt",
        include_context: String = "includeContext",
        temperature: Number = "temperature",
        stop_sequences: Vec<String> = "stopSequences",
        metadata: Raw = "metadata",
        /// Like `tool_choice`, from 2025-11-25 and only for clients that declared
        /// `sampling.tools`.
        tools: Vec<Tool> = "tools",
        tool_choice: ToolChoice = "toolChoice",
        /// 2025-11-25.
        task: TaskParams = "task",
        meta: Raw = "_meta",
    }

    /// One message of the conversation.
    pub struct SamplingMessage {
        role: Role = "role",
        content: SampledContent = "content",
    } optional {
        meta: Raw = "_meta",
    }

    /// The result of `sampling/createMessage`.
    pub struct CreateMessageResult {
        role: Role = "role",
        content: SampledContent = "content",
        model: String = "model",
    } optional {
        stop_reason: String = "stopReason",
        meta: Raw = "_meta",
    }

    /// The server's preferences for the choice of a model. Priorities are from 0 to 1.
    pub struct ModelPreferences {
    } optional {
        hints: Vec<ModelHint> = "hints",
        cost_priority: Number = "costPriority",
        speed_priority: Number = "speedPriority",
        intelligence_priority: Number = "intelligencePriority",
    }

    /// A substring of a model's name.
    pub struct ModelHint {
    } optional {
        name: String = "name",
    }

    /// Says if the model may, must or must not use tools.
    pub struct ToolChoice {
    } optional {
        /// `auto`, `required` or `none`.
        mode: String = "mode",
    }
}

/// One block, or (from 2025-11-25) a list of blocks. Serialized in the form in which it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SampledContent {
    One(Box<ContentBlock>),
    Many(Vec<ContentBlock>),
}

impl SampledContent {
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            Self::One(block) => slice::from_ref(block),
            Self::Many(blocks) => blocks,
        }
    }
}

impl From<ContentBlock> for SampledContent {
    fn from(block: ContentBlock) -> Self {
        Self::One(Box::new(block))
    }
}

impl<'de> Deserialize<'de> for SampledContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        if raw.as_bytes().first() == Some(&b'[') {
            return raw.decode().map(Self::Many).map_err(D::Error::custom);
        }
        Ok(ContentBlock::read(raw).into())
    }
}

impl Serialize for SampledContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(block) => block.serialize(serializer),
            Self::Many(blocks) => blocks.serialize(serializer),
        }
    }
}
