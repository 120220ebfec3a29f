//! Tools: their definitions, calls and results.

use super::{CacheScope, ContentBlock, Icon, InputResponses, TaskParams, list::items, meta};
use crate::{
    FaultKind, Number, Object, RareMember, Raw,
    view::{view, words},
};

view! {
    /// A tool as a server lists it.
    pub struct Tool {
        name: String = "name",
        input_schema: Raw = "inputSchema",
    } optional {
        title: String = "title",
        description: String = "description",
        output_schema: Raw = "outputSchema",
        annotations: ToolAnnotations = "annotations",
        icons: Vec<Icon> = "icons",
        /// 2025-11-25.
        execution: ToolExecution = "execution",
        meta: Raw = "_meta",
    }

    /// Hints, which an untrusted server may falsify. The defaults are: not read-only, destructive,
    /// not idempotent, open world.
    pub struct ToolAnnotations {
    } optional {
        title: String = "title",
        read_only_hint: bool = "readOnlyHint",
        destructive_hint: bool = "destructiveHint",
        idempotent_hint: bool = "idempotentHint",
        open_world_hint: bool = "openWorldHint",
    }

    /// The ways in which a tool may be run, in 2025-11-25.
    pub struct ToolExecution {
    } optional {
        task_support: TaskSupport = "taskSupport",
    }

    /// The result of `tools/list`.
    pub struct ListToolsResult {
        tools: Vec<Raw> = "tools",
    } optional {
        next_cursor: String = "nextCursor",
        result_type: String = "resultType",
        ttl_ms: Number = "ttlMs",
        cache_scope: CacheScope = "cacheScope",
        meta: Raw = "_meta",
    }

    /// The parameters of `tools/call`.
    pub struct CallToolParams {
        name: String = "name",
    } optional {
        arguments: Raw = "arguments",
        /// 2025-11-25.
        task: TaskParams = "task",
        input_responses: InputResponses = "inputResponses",
        request_state: String = "requestState",
        meta: Raw = "_meta",
    }

    /// The result of `tools/call`.
    pub struct CallToolResult {
    } optional {
        /// Required by the specification, but some servers send only structured content.
        content: Vec<ContentBlock> = "content",
        /// Any JSON, including `null`; only an object before 2026-07-28.
        structured_content: Raw = "structuredContent",
        is_error: bool = "isError",
        result_type: String = "resultType",
        meta: Raw = "_meta",
    }
}

words! {
    /// Says if a tool may, must or must not run as a task, in 2025-11-25. Absent means forbidden.
    pub enum TaskSupport {
        Forbidden = "forbidden",
        Optional = "optional",
        Required = "required",
    }
}

items!(ListToolsResult, tools: Tool);

/// True if the result of `tools/call` has `isError: true`. No other member is decoded.
pub fn says_error(result: &Raw) -> bool {
    static IS_ERROR: RareMember = RareMember::new("isError");
    IS_ERROR.is_true(result)
}

/// The kind of a failed result, if its `_meta` has a code of the catalogue (requirement S4).
pub fn failure_kind(result: &Raw) -> Option<FaultKind> {
    let code = meta::get(Some(result), meta::CODE)?.text()?.into_owned();
    crate::fault::CATALOGUE.iter().find(|(_, entry)| entry.code == code).map(|(kind, _)| *kind)
}

impl CallToolResult {
    /// A failure that the model can read, with its code of the catalogue in `_meta`.
    pub fn failure(kind: FaultKind, text: impl Into<String>) -> Self {
        let mut members = Object::new();
        members.set(meta::CODE, Raw::string(kind.entry().code));
        Self {
            content: Some(vec![ContentBlock::text(text)]),
            is_error: Some(true),
            meta: Some(members.to_raw()),
            ..Self::default()
        }
    }
}

impl Tool {
    /// The name to show to users.
    pub fn display_name(&self) -> &str {
        let annotated = self.annotations.as_ref().and_then(|a| a.title.as_deref());
        self.title.as_deref().or(annotated).unwrap_or(&self.name)
    }

    pub fn task_support(&self) -> TaskSupport {
        let declared = self.execution.as_ref().and_then(|e| e.task_support.clone());
        declared.unwrap_or(TaskSupport::Forbidden)
    }
}

impl CallToolResult {
    /// The content blocks; empty if there are none.
    pub fn blocks(&self) -> &[ContentBlock] {
        self.content.as_deref().unwrap_or_default()
    }

    pub fn failed(&self) -> bool {
        self.is_error == Some(true)
    }
}
