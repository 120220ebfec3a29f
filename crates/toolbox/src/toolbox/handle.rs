//! Handle: changes a toolbox at run time.

use super::{Inner, catalog::Catalog, listeners::Change};
use crate::{BuildError, Prompt, Resource, Template, Tool};
use std::sync::Arc;

/// Changes a toolbox at run time; subscribers are notified.
#[derive(Debug, Clone)]
pub struct Handle(pub(super) Arc<Inner>);

impl Handle {
    pub fn add_tool(&self, tool: Tool) -> Result<(), BuildError> {
        self.change(&Change::Tools, |catalog| catalog.add_tool(tool))
    }

    /// Returns true if it existed.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.take(&Change::Tools, |catalog| catalog.tools.remove(name))
    }

    pub fn add_resource(&self, resource: Resource) -> Result<(), BuildError> {
        self.change(&Change::Resources, |catalog| catalog.add_resource(resource))
    }

    /// Returns true if it existed.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.take(&Change::Resources, |catalog| catalog.resources.remove(uri))
    }

    pub fn add_template(&self, template: Template) -> Result<(), BuildError> {
        self.change(&Change::Resources, |catalog| catalog.add_template(template))
    }

    /// Returns true if it existed.
    pub fn remove_template(&self, uri_template: &str) -> bool {
        self.take(&Change::Resources, |catalog| catalog.templates.remove(uri_template))
    }

    pub fn add_prompt(&self, prompt: Prompt) -> Result<(), BuildError> {
        self.change(&Change::Prompts, |catalog| catalog.add_prompt(prompt))
    }

    /// Returns true if it existed.
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.take(&Change::Prompts, |catalog| catalog.prompts.remove(name))
    }

    /// Notifies the subscribers of this resource that it changed.
    pub fn resource_updated(&self, uri: impl Into<String>) {
        self.0.listeners.tell(&Change::Resource(uri.into()));
    }

    fn change(
        &self,
        what: &Change,
        change: impl FnOnce(&mut Catalog) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        let mut current = self.0.catalog.write();
        let mut next = Catalog::clone(&current);
        change(&mut next)?;
        *current = Arc::new(next);
        drop(current);
        self.0.listeners.tell(what);
        Ok(())
    }

    fn take(&self, what: &Change, take: impl FnOnce(&mut Catalog) -> bool) -> bool {
        let mut current = self.0.catalog.write();
        let mut next = Catalog::clone(&current);
        let was_there = take(&mut next);
        *current = Arc::new(next);
        drop(current);
        if was_there {
            self.0.listeners.tell(what);
        }
        was_there
    }
}
