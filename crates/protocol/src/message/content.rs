//! Content blocks of tool results, prompts and sampling messages.

use super::{Annotations, Icon, ResourceContents};
use crate::{
    Number, Raw,
    view::{choice, view},
};

choice! {
    /// One block of content.
    pub enum ContentBlock by "type" {
        Text(TextContent) = "text",
        Image(ImageContent) = "image",
        Audio(AudioContent) = "audio",
        ResourceLink(ResourceLink) = "resource_link",
        Resource(EmbeddedResource) = "resource",
        /// Sampling only.
        ToolUse(ToolUseContent) = "tool_use",
        /// Sampling only.
        ToolResult(ToolResultContent) = "tool_result",
    }
}

view! {
    /// Text.
    pub struct TextContent tagged "type" = "text" {
        text: String = "text",
    } optional {
        annotations: Annotations = "annotations",
        meta: Raw = "_meta",
    }

    /// An image, in base64.
    pub struct ImageContent tagged "type" = "image" {
        data: String = "data",
        mime_type: String = "mimeType",
    } optional {
        annotations: Annotations = "annotations",
        meta: Raw = "_meta",
    }

    /// Audio, in base64; from 2025-03-26.
    pub struct AudioContent tagged "type" = "audio" {
        data: String = "data",
        mime_type: String = "mimeType",
    } optional {
        annotations: Annotations = "annotations",
        meta: Raw = "_meta",
    }

    /// A link to a resource; from 2025-06-18. The resource need not be in the server's list.
    pub struct ResourceLink tagged "type" = "resource_link" {
        uri: String = "uri",
        name: String = "name",
    } optional {
        title: String = "title",
        description: String = "description",
        mime_type: String = "mimeType",
        size: Number = "size",
        icons: Vec<Icon> = "icons",
        annotations: Annotations = "annotations",
        meta: Raw = "_meta",
    }

    /// The contents of a resource, embedded in the message.
    pub struct EmbeddedResource tagged "type" = "resource" {
        resource: ResourceContents = "resource",
    } optional {
        annotations: Annotations = "annotations",
        meta: Raw = "_meta",
    }

    /// A tool call by the model; from 2025-11-25.
    pub struct ToolUseContent tagged "type" = "tool_use" {
        id: String = "id",
        name: String = "name",
        input: Raw = "input",
    } optional {
        meta: Raw = "_meta",
    }

    /// The result of a tool call, for the model; from 2025-11-25.
    pub struct ToolResultContent tagged "type" = "tool_result" {
        tool_use_id: String = "toolUseId",
        content: Vec<ContentBlock> = "content",
    } optional {
        structured_content: Raw = "structuredContent",
        is_error: bool = "isError",
        meta: Raw = "_meta",
    }
}

impl ContentBlock {
    pub fn text(text: impl Into<String>) -> Self {
        TextContent::new(text).into()
    }
}
