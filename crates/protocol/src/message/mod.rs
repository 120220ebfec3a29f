//! Typed views of the specification's messages, one file per area. A view keeps the members that
//! it does not name.
//!
//! A view covers all revisions: it names the members of all of them, and members that only some
//! revisions have are optional.

mod cache;
pub mod completion;
mod content;
mod descriptor;
mod elicitation;
mod form;
mod headers;
mod lifecycle;
mod list;
mod logging;
pub mod meta;
mod mrtr;
mod progress;
mod prompts;
mod resources;
mod roots;
mod sampling;
mod subscriptions;
mod task_state;
mod tasks;
mod tasks_extension;
mod tools;
mod trace_parent;
pub mod truncated;

pub use cache::{CacheHints, CacheScope};
pub use completion::{
    CompleteParams, CompleteResult, Completion, CompletionArgument, CompletionContext, PromptReference,
    Reference, ResourceReference,
};
pub use content::{
    AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent, ToolResultContent,
    ToolUseContent,
};
pub use descriptor::{Annotations, Icon, Role};
pub use elicitation::{Action, ElicitResult, Elicitation, ElicitationComplete, FormParams, UrlParams};
pub use form::{BadForm, Choice, Field, FieldKind, TextFormat, read_form};
pub use headers::{BadHeaderParam, HeaderKind, HeaderParam, header_params, header_values, may_want_headers};
pub use lifecycle::{
    ClientCapabilities, DiscoverResult, ElicitationCapability, Implementation, InitializeParams,
    InitializeResult, ListCapability, ResourcesCapability, SamplingCapability, ServerCapabilities,
    TasksCapability,
};
pub use list::{BadItem, PageParams, next_cursor, read_items};
pub use logging::{Level, LogParams, SetLevelParams, UnknownLevel};
pub use meta::RequestMeta;
pub use mrtr::{InputRequest, InputRequests, InputRequired, InputResponses, ResultType};
pub use progress::{CancelledParams, ProgressParams, ProgressToken};
pub use prompts::{
    GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
};
pub use resources::{
    BlobContents, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceParams, ResourceTemplate, TextContents,
};
pub use roots::{ListRootsResult, Root};
pub use sampling::{
    CreateMessageParams, CreateMessageResult, ModelHint, ModelPreferences, SampledContent, SamplingMessage,
    ToolChoice,
};
pub use subscriptions::{Acknowledged, ListenParams, SubscriptionFilter, UNSOLICITED};
pub use task_state::{TaskState, UnreadableTask};
pub use tasks::{
    CreateTaskResult, ExtensionTask, ListTasksResult, RelatedTask, Task, TaskError, TaskIdParams, TaskParams,
    TaskStatus, Ttl, UpdateTaskParams,
};
pub use tasks_extension::{
    TASKS_EXTENSION, declare_tasks, declares_tasks, follow_tasks, tasks_needed, undeclare_tasks,
};
pub use tools::{
    CallToolParams, CallToolResult, ListToolsResult, TaskSupport, Tool, ToolAnnotations, ToolExecution,
    failure_kind, says_error,
};
pub use trace_parent::{BadTraceParent, Sampled, TraceParent};
