//! Catalog: all that a toolbox offers at one moment. It is never changed, only replaced by another one.

use super::builder::BuildError;
use crate::schema::Checker;
use crate::{Tool, schema};
use std::{collections::HashMap, sync::Arc};
use trunkline_protocol::{Caller, Raw};

/// The longest name a tool may have, and the length beyond which some hosts drop it.
const MAX_NAME: usize = 128;
const HOST_NAME: usize = 64;

/// What a toolbox offers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalog {
    pub(crate) tools: Shelf<Offer>,
}

/// A tool, checked and ready to be called.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) tool: Tool,
    pub(crate) name: Arc<str>,
    pub(crate) checker: Checker,
    /// The structured content goes below `result`.
    pub(crate) wraps: bool,
    pub(crate) listing: Raw,
}

/// Things of one kind in the order they came, each findable by its names.
#[derive(Debug)]
pub(crate) struct Shelf<T> {
    items: Vec<(u64, Arc<T>)>,
    by_name: HashMap<String, u64>,
    next: u64,
}

impl<T> Shelf<T> {
    /// Adds a thing under its names; `Err` is the name that is taken.
    pub(crate) fn add(&mut self, names: Vec<String>, item: T) -> Result<(), String> {
        if let Some(taken) = names.iter().find(|name| self.by_name.contains_key(*name)) {
            return Err(taken.clone());
        }
        for name in names {
            self.by_name.insert(name, self.next);
        }
        self.items.push((self.next, Arc::new(item)));
        self.next += 1;
        Ok(())
    }

    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let Some(number) = self.by_name.get(name).copied() else { return false };
        self.by_name.retain(|_, n| *n != number);
        self.items.retain(|(n, _)| *n != number);
        true
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<T>> {
        let number = self.by_name.get(name)?;
        let at = self.items.binary_search_by_key(number, |(n, _)| *n).ok()?;
        Some(&self.items[at].1)
    }

    /// Everything that came after the given number, with the numbers.
    pub(crate) fn after(&self, last: Option<u64>) -> impl Iterator<Item = (u64, &Arc<T>)> {
        let start = last.map_or(0, |last| self.items.partition_point(|(n, _)| *n <= last));
        self.items[start..].iter().map(|(n, item)| (*n, item))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl Catalog {
    pub(crate) fn add_tool(&mut self, tool: Tool) -> Result<(), BuildError> {
        let mut names = vec![tool.name().to_owned()];
        names.extend(tool.aliases.iter().cloned());
        for name in &names {
            check_name(name)?;
        }
        let offer = Offer::new(tool)?;
        self.tools.add(names, offer).map_err(BuildError::NameTaken)
    }

    /// The tool of this name, if the caller may know of it.
    pub(crate) fn tool(&self, name: &str, caller: &Caller) -> Option<&Arc<Offer>> {
        self.tools.get(name).filter(|offer| offer.tool.permissions.allow(caller))
    }
}

impl Offer {
    fn new(tool: Tool) -> Result<Self, BuildError> {
        let bad = |source| BuildError::BadSchema { tool: tool.name().to_owned(), source };
        let checker = Checker::new(&tool.definition.input_schema).map_err(bad)?;
        let mut definition = tool.definition();
        let mut wraps = false;
        if let Some(output) = &mut definition.output_schema {
            Checker::new(output).map_err(bad)?;
            if let Some(mut members) = output.object()
                && members.remove(schema::WRAP_MARK).is_some()
            {
                wraps = true;
                *output = members.to_raw();
            }
        }
        let name = tool.name().into();
        Ok(Self { name, checker, wraps, listing: definition.to_raw(), tool })
    }
}

fn check_name(name: &str) -> Result<(), BuildError> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(fits) {
        return Err(BuildError::BadName(name.chars().take(MAX_NAME).collect()));
    }
    if name.len() > HOST_NAME {
        tracing::warn!(
            name,
            "this tool's name is longer than {HOST_NAME} characters, which some hosts refuse"
        );
    }
    Ok(())
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self { items: Vec::new(), by_name: HashMap::new(), next: 1 }
    }
}

impl<T> Clone for Shelf<T> {
    fn clone(&self) -> Self {
        Self { items: self.items.clone(), by_name: self.by_name.clone(), next: self.next }
    }
}
