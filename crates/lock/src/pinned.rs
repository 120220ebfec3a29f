//! Pinned: the accepted definitions of one server.

use crate::canonical::{canonical, hash};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The accepted definitions of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pinned {
    /// The server's own name and version, and its package if the command names a version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The definitions by name, as the server listed them.
    pub tools: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, Value>,
    /// Resource templates, by their URI templates.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub templates: BTreeMap<String, Value>,
    /// The hash of each definition, by kind and name: `tool search`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hashes: BTreeMap<String, String>,
}

/// The kinds of definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Tool,
    Prompt,
    Template,
    Instructions,
}

impl Kind {
    pub const LISTED: [Self; 3] = [Self::Tool, Self::Prompt, Self::Template];

    pub fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Template => "template",
            Self::Instructions => "instructions",
        }
    }

    /// The member of a definition that names it.
    pub fn named_by(self) -> &'static str {
        if self == Self::Template { "uriTemplate" } else { "name" }
    }

    /// The key of a definition's hash.
    pub fn key(self, name: &str) -> String {
        if self == Self::Instructions { self.word().to_owned() } else { format!("{} {name}", self.word()) }
    }
}

impl Pinned {
    pub fn list(&self, kind: Kind) -> &BTreeMap<String, Value> {
        static NONE: BTreeMap<String, Value> = BTreeMap::new();
        match kind {
            Kind::Tool => &self.tools,
            Kind::Prompt => &self.prompts,
            Kind::Template => &self.templates,
            Kind::Instructions => &NONE,
        }
    }

    /// Accepts a definition in its canonical form.
    pub fn pin(&mut self, kind: Kind, name: &str, definition: &Value) {
        let list = match kind {
            Kind::Tool => &mut self.tools,
            Kind::Prompt => &mut self.prompts,
            Kind::Template => &mut self.templates,
            Kind::Instructions => {
                self.instructions = definition.as_str().map(str::to_owned);
                self.seal();
                return;
            }
        };
        list.insert(name.to_owned(), canonical(definition));
        self.hashes.insert(kind.key(name), hash(definition));
    }

    /// Accepts that a definition is gone.
    pub fn unpin(&mut self, kind: Kind, name: &str) {
        match kind {
            Kind::Tool => self.tools.remove(name),
            Kind::Prompt => self.prompts.remove(name),
            Kind::Template => self.templates.remove(name),
            Kind::Instructions => self.instructions.take().map(Value::String),
        };
        self.hashes.remove(&kind.key(name));
    }

    /// Writes the hashes of all definitions.
    pub fn seal(&mut self) {
        self.hashes = self.computed();
    }

    /// The hashes of the definitions as they are in the file.
    pub fn computed(&self) -> BTreeMap<String, String> {
        let listed = Kind::LISTED.into_iter().flat_map(|kind| {
            self.list(kind).iter().map(move |(name, definition)| (kind.key(name), hash(definition)))
        });
        let text = self.instructions.as_ref();
        let instructions = text.map(|text| (Kind::Instructions.key(""), hash(&Value::String(text.clone()))));
        listed.chain(instructions).collect()
    }
}
