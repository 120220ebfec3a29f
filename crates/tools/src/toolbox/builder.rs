//! ToolboxBuilder: what goes into a toolbox, checked as a whole.

use super::{Inner, Toolbox, catalog::Catalog};
use crate::{BadSchema, Tool, context::Slots};
use std::sync::{Arc, RwLock};
use trunkline_protocol::message::Implementation;

/// Why a toolbox cannot be built, or a thing not be added to it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("`{0}` cannot be a tool's name: use 1 to 128 of A–Z, a–z, 0–9, `_`, `-` and `.`")]
    BadName(String),
    #[error("the name `{0}` is taken")]
    NameTaken(String),
    #[error("a schema of the tool `{tool}` cannot be used")]
    BadSchema { tool: String, source: BadSchema },
}

/// A toolbox in the making.
#[derive(Debug)]
#[must_use = "a toolbox exists once it is built"]
pub struct ToolboxBuilder {
    info: Implementation,
    instructions: Option<String>,
    tools: Vec<Tool>,
    options: Options,
}

/// The limits of a toolbox as a whole.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) concurrency: usize,
    pub(crate) max_waiting: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { concurrency: 10, max_waiting: 100 }
    }
}

impl ToolboxBuilder {
    pub(super) fn new(name: String, version: String) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            tools: Vec::new(),
            options: Options::default(),
        }
    }

    /// How to use the server, for the model.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Several tools at once, such as a pack.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// How many calls may run at once.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.options.concurrency = calls;
        self
    }

    /// Checks everything: names, schemas, that nothing is there twice.
    pub fn build(self) -> Result<Toolbox, BuildError> {
        let mut catalog = Catalog::default();
        for tool in self.tools {
            catalog.add_tool(tool)?;
        }
        let slots = Slots::new(self.options.concurrency, self.options.max_waiting);
        let inner = Inner {
            info: self.info,
            instructions: self.instructions,
            catalog: RwLock::new(Arc::new(catalog)),
            slots,
            results: super::results::Results::default(),
        };
        Ok(Toolbox { inner: Arc::new(inner) })
    }
}
