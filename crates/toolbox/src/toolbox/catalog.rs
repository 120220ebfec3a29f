//! Catalog: an immutable snapshot of everything a toolbox offers. A change replaces it.

use super::{builder::BuildError, lists::Listed, name_table::NameTable};
use crate::{
    Permissions, Prompt, Resource, Template, Tool,
    resource::{UriTemplate, Variables},
    schema::{self, Checker},
};
use std::sync::Arc;
use trunkline_protocol::{Caller, Raw};

/// Longest name of a tool or prompt; below: the length beyond which some hosts drop a tool.
const MAX_NAME: usize = 128;
const HOST_NAME: usize = 64;

/// Everything a toolbox offers.
#[derive(Debug, Clone, Default)]
pub(super) struct Catalog {
    pub(super) tools: NameTable<Offer>,
    pub(super) resources: NameTable<OneResource>,
    pub(super) templates: NameTable<Family>,
    pub(super) prompts: NameTable<ListedPrompt>,
}

/// A tool, checked and ready to be called.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) tool: Tool,
    pub(super) name: Arc<str>,
    pub(super) checker: Checker,
    /// Output schema.
    pub(super) output: Option<Checker>,
    /// True if structured content is wrapped in a member `result`.
    pub(super) wraps: bool,
    listing: Raw,
}

#[derive(Debug)]
pub(super) struct OneResource {
    pub(super) resource: Resource,
    listing: Raw,
}

#[derive(Debug)]
pub(super) struct Family {
    pub(super) template: Template,
    pub(super) pattern: UriTemplate,
    listing: Raw,
}

#[derive(Debug)]
pub(super) struct ListedPrompt {
    pub(super) prompt: Prompt,
    listing: Raw,
}

impl Catalog {
    pub(super) fn add_tool(&mut self, tool: Tool) -> Result<(), BuildError> {
        let mut names = vec![tool.name().to_owned()];
        names.extend(tool.aliases.iter().cloned());
        for name in &names {
            check_name(name)?;
        }
        let offer = Offer::new(tool)?;
        self.tools.add(names, offer).map_err(BuildError::NameTaken)
    }

    pub(super) fn add_resource(&mut self, resource: Resource) -> Result<(), BuildError> {
        let names = vec![resource.uri().to_owned()];
        let listing = resource.definition.to_raw();
        self.resources.add(names, OneResource { resource, listing }).map_err(BuildError::NameTaken)
    }

    pub(super) fn add_template(&mut self, template: Template) -> Result<(), BuildError> {
        let text = template.uri_template().to_owned();
        let bad = |source| BuildError::BadTemplate { template: text.clone(), source };
        let pattern = UriTemplate::parse(&text).map_err(bad)?;
        let listing = template.definition.to_raw();
        self.templates.add(vec![text], Family { template, pattern, listing }).map_err(BuildError::NameTaken)
    }

    pub(super) fn add_prompt(&mut self, prompt: Prompt) -> Result<(), BuildError> {
        check_name(prompt.name())?;
        let names = vec![prompt.name().to_owned()];
        let listing = prompt.definition.to_raw();
        self.prompts.add(names, ListedPrompt { prompt, listing }).map_err(BuildError::NameTaken)
    }

    /// The tool of this name, if the caller may see it.
    pub(super) fn tool(&self, name: &str, caller: &Caller) -> Option<&Arc<Offer>> {
        self.tools.get(name).filter(|offer| offer.permissions().allow(caller))
    }

    pub(super) fn prompt(&self, name: &str, caller: &Caller) -> Option<&Arc<ListedPrompt>> {
        self.prompts.get(name).filter(|prompt| prompt.permissions().allow(caller))
    }

    pub(super) fn resource(&self, uri: &str, caller: &Caller) -> Option<&Arc<OneResource>> {
        self.resources.get(uri).filter(|resource| resource.permissions().allow(caller))
    }

    /// The first template that matches the URI, with the values of its variables.
    pub(super) fn family(&self, uri: &str, caller: &Caller) -> Option<(&Arc<Family>, Variables)> {
        let families = self.templates.after(None).map(|(_, family)| family);
        families
            .filter(|family| family.permissions().allow(caller))
            .find_map(|family| Some((family, family.pattern.matches(uri)?)))
    }

    pub(super) fn has_tasks(&self) -> bool {
        self.tools.after(None).any(|(_, offer)| offer.tool.task.is_some())
    }

    pub(super) fn has_completion(&self) -> bool {
        let prompts = self.prompts.after(None).any(|(_, p)| !p.prompt.completers.is_empty());
        prompts || self.templates.after(None).any(|(_, t)| !t.template.completers.is_empty())
    }
}

impl Offer {
    fn new(tool: Tool) -> Result<Self, BuildError> {
        let bad = |source| BuildError::BadSchema { tool: tool.name().to_owned(), source };
        let checker = Checker::new(&tool.definition.input_schema).map_err(bad)?;
        let mut definition = tool.definition();
        let (mut wraps, mut output_checker) = (false, None);
        if let Some(output) = &mut definition.output_schema {
            output_checker = Some(Checker::new(output).map_err(bad)?);
            if let Some(mut members) = output.object()
                && members.remove(schema::WRAP_MARK).is_some()
            {
                wraps = true;
                *output = members.to_raw();
            }
        }
        let name = tool.name().into();
        Ok(Self { name, checker, output: output_checker, wraps, listing: definition.to_raw(), tool })
    }
}

fn check_name(name: &str) -> Result<(), BuildError> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(fits) {
        return Err(BuildError::BadName(name.chars().take(MAX_NAME).collect()));
    }
    if name.len() > HOST_NAME {
        tracing::warn!(name, "this name is longer than {HOST_NAME} characters, which some hosts refuse");
    }
    Ok(())
}

impl Listed for Offer {
    fn listing(&self) -> &Raw {
        &self.listing
    }

    fn permissions(&self) -> &Permissions {
        &self.tool.permissions
    }
}

impl Listed for OneResource {
    fn listing(&self) -> &Raw {
        &self.listing
    }

    fn permissions(&self) -> &Permissions {
        &self.resource.permissions
    }
}

impl Listed for Family {
    fn listing(&self) -> &Raw {
        &self.listing
    }

    fn permissions(&self) -> &Permissions {
        &self.template.permissions
    }
}

impl Listed for ListedPrompt {
    fn listing(&self) -> &Raw {
        &self.listing
    }

    fn permissions(&self) -> &Permissions {
        &self.prompt.permissions
    }
}
