//! `ToolboxBuilder`: collects the contents of a toolbox and checks them as a whole.

use super::{
    Inner, Toolbox, catalog::Catalog, cursor::Cursors, listeners::Listeners, results::Results, tasks::Tasks,
};
use crate::{
    BadSchema, BadTemplate, Prompt, Resource, Template, Tool,
    context::{Metas, Slots},
};
use parking_lot::RwLock;
use std::{sync::Arc, time::Duration};
use trunkline_protocol::message::{Icon, Implementation};

/// The reason why a toolbox cannot be built or an item cannot be added to it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    #[error("`{0}` cannot be a name: use 1 to 128 of A–Z, a–z, 0–9, `_`, `-` and `.`")]
    BadName(String),
    #[error("the name `{0}` is already used")]
    NameTaken(String),
    #[error("a schema of the tool `{tool}` cannot be used")]
    BadSchema { tool: String, source: BadSchema },
    #[error("the template `{template}` cannot be used")]
    BadTemplate { template: String, source: BadTemplate },
}

#[derive(Debug)]
#[must_use = "a toolbox exists once it is built"]
pub struct ToolboxBuilder {
    info: Implementation,
    instructions: Option<String>,
    tools: Vec<Tool>,
    resources: Vec<Resource>,
    templates: Vec<Template>,
    prompts: Vec<Prompt>,
    options: Options,
}

/// The limits of a toolbox as a whole.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) concurrency: usize,
    pub(super) max_waiting: usize,
    pub(super) page_size: usize,
    pub(super) task_ttl: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { concurrency: 10, max_waiting: 100, page_size: 250, task_ttl: Duration::from_hours(1) }
    }
}

impl ToolboxBuilder {
    pub(super) fn new(name: String, version: String) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            tools: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            prompts: Vec::new(),
            options: Options::default(),
        }
    }

    /// Sets the server's name shown to people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.info.icons = Some(icons);
        self
    }

    pub fn website(mut self, url: impl Into<String>) -> Self {
        self.info.website_url = Some(url.into());
        self
    }

    /// Sets the instructions that tell a model how to use the server.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds several tools, such as a pack.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools.extend(tools);
        self
    }

    pub fn resource(mut self, resource: Resource) -> Self {
        self.resources.push(resource);
        self
    }

    pub fn template(mut self, template: Template) -> Self {
        self.templates.push(template);
        self
    }

    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// Sets the maximum number of concurrent calls; default 10.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.options.concurrency = calls;
        self
    }

    /// Sets how many calls may wait for a slot before further ones are refused; default 100.
    pub fn max_waiting(mut self, calls: usize) -> Self {
        self.options.max_waiting = calls;
        self
    }

    /// Sets the number of items on a page of a list; default 250.
    pub fn page_size(mut self, items: usize) -> Self {
        self.options.page_size = items.max(1);
        self
    }

    /// Sets how long a task is kept after its creation; default one hour.
    pub fn task_ttl(mut self, ttl: Duration) -> Self {
        self.options.task_ttl = ttl;
        self
    }

    /// Checks names, schemas and templates, and refuses duplicates.
    pub fn build(self) -> Result<Toolbox, BuildError> {
        let mut catalog = Catalog::default();
        for tool in self.tools {
            catalog.add_tool(tool)?;
        }
        for resource in self.resources {
            catalog.add_resource(resource)?;
        }
        for template in self.templates {
            catalog.add_template(template)?;
        }
        for prompt in self.prompts {
            catalog.add_prompt(prompt)?;
        }
        let inner = Inner {
            info: self.info,
            instructions: self.instructions,
            catalog: RwLock::new(Arc::new(catalog)),
            slots: Slots::new(self.options.concurrency, self.options.max_waiting),
            metas: Metas::default(),
            results: Results::default(),
            cursors: Cursors::default(),
            listeners: Listeners::default(),
            tasks: Tasks::new(self.options.task_ttl),
            options: self.options,
        };
        Ok(Toolbox { inner: Arc::new(inner) })
    }
}
