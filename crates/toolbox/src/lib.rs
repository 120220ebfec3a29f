//! The tool-writing API.
//!
//! A [`Tool`] is an async function with typed arguments, plus its metadata. A [`Toolbox`] holds
//! tools, resources and prompts and answers calls to them; it is independent of any transport and
//! can be tested with [`Toolbox::test`].
//!
//! ```
//! use trunkline_toolbox::{Json, JsonSchema, Tool, ToolError, Toolbox};
//!
//! #[derive(serde::Deserialize, JsonSchema)]
//! struct Add { a: i64, b: i64 }
//!
//! #[derive(serde::Serialize, JsonSchema)]
//! struct Sum { sum: i64 }
//!
//! async fn add(args: Add) -> Result<Json<Sum>, ToolError> {
//!     let sum = args.a.checked_add(args.b).ok_or_else(|| ToolError::new("the sum is too large"))?;
//!     Ok(Json(Sum { sum }))
//! }
//!
//! let toolbox = Toolbox::new("calculator", "1.0")
//!     .tool(Tool::new("add", add).description("Adds two whole numbers").read_only().idempotent())
//!     .build()?;
//! # Ok::<(), trunkline_toolbox::BuildError>(())
//! ```

mod completion;
mod context;
mod error;
mod prompt;
mod resource;
mod result;
mod schema;
mod setters;
mod tool;
mod toolbox;

pub use completion::CompletionRequest;
pub use context::{Context, Elicited};
pub use error::ToolError;
pub use prompt::{IntoPrompt, Prompt, PromptFn};
pub use resource::{BadTemplate, IntoContents, ReadRequest, Resource, Template};
pub use result::{Answer, IntoToolResult, Json};
pub use schema::{BadSchema, of_output as output_schema};
pub use schemars::{self, JsonSchema};
pub use tool::{
    HookCall, HookOutcome, IntoHook, Limits, Metadata, Permissions, Priority, TaskMode, Tool, ToolFn,
};
pub use toolbox::{Asked, BuildError, Handle, Run, Toolbox, ToolboxBuilder, Trial};

/// The guide's examples, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/writing-tools.md")]
struct Guide;
