//! The listed tools, resources, templates and prompts, each with its position in the evidence.

use super::{Case, FrameRef, Step};
use crate::{
    outcome::{Finding, Skip},
    probes,
};
use serde_json::Value;

/// The lists a server may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    Tools,
    Resources,
    Templates,
    Prompts,
}

/// One entry of a list.
#[derive(Debug, Clone)]
pub struct Item<'a> {
    pub list: List,
    pub value: &'a Value,
    pub frame: FrameRef,
    /// Pointer from the root of its frame.
    pub pointer: String,
    /// Index in the whole list, over all pages.
    pub index: usize,
}

impl List {
    pub const ALL: [Self; 4] = [Self::Tools, Self::Resources, Self::Templates, Self::Prompts];

    pub fn method(self) -> &'static str {
        match self {
            Self::Tools => "tools/list",
            Self::Resources => "resources/list",
            Self::Templates => "resources/templates/list",
            Self::Prompts => "prompts/list",
        }
    }

    /// The member of the result that holds the items.
    pub fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    pub fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources | Self::Templates => "resources",
            Self::Prompts => "prompts",
        }
    }

    /// The step under which the probe `lists` asks for its pages.
    pub fn step(self) -> Step {
        Step(self.method())
    }

    /// The list whose pages have this step.
    pub fn of(step: Step) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.step() == step)
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Tools => "tool",
            Self::Resources => "resource",
            Self::Templates => "template",
            Self::Prompts => "prompt",
        }
    }
}

impl<'a> Item<'a> {
    pub fn text(&self, member: &str) -> Option<&'a str> {
        self.value.get(member)?.as_str()
    }

    /// `tool echo`, or `tool 3` when it has no name.
    pub fn label(&self) -> String {
        let name = self.text("name").map_or_else(|| (self.index + 1).to_string(), str::to_owned);
        format!("{} {name}", self.list.noun())
    }

    /// A finding that points into this item; `below` is a pointer relative to the item.
    pub fn finding(&self, message: impl Into<String>, below: &str) -> Finding {
        Finding::new(message).about(self.label()).at(self.frame, format!("{}{below}", self.pointer))
    }
}

pub(super) fn items<'a>(case: &Case<'a>, which: List) -> Result<Vec<Item<'a>>, Skip> {
    let pages = case.all(&probes::LISTS, which.step())?;
    if pages.iter().all(|page| page.result().is_none()) {
        let why = format!("`{}` gave no list: {}", which.method(), pages[0].describe());
        return Err(Skip::NotVerified(why));
    }
    let mut items = Vec::new();
    for page in pages {
        let (Some(result), Some(frame)) = (page.result(), page.answer_ref()) else { continue };
        let entries = result.get(which.member()).and_then(Value::as_array).into_iter().flatten();
        for (number, value) in entries.enumerate() {
            let pointer = format!("/result/{}/{number}", which.member());
            items.push(Item { list: which, value, frame, pointer, index: items.len() });
        }
    }
    Ok(items)
}
