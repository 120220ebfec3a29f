//! The lists of one server, and those that could not be read.

use super::Kind;
use crate::{
    failure::Failure,
    render::listing::{self, Schemas},
    terminal::Screen,
};
use clap::ValueEnum;
use std::{collections::BTreeSet, sync::Arc, time::Duration};
use tokio::time::{Instant, sleep};
use trunkline_client::{Client, Listing, ServerInfo};
use trunkline_protocol::{
    Fault, FaultKind, Object, Raw,
    message::{Prompt, Resource, ResourceTemplate, Tool},
};

/// Time between two attempts to get complete lists.
const PAUSE: Duration = Duration::from_millis(500);

/// The server's lists; `None` for a list that the server does not support or that failed.
#[derive(Default)]
pub(super) struct Lists {
    tools: Option<Arc<Listing<Tool>>>,
    resources: Option<Arc<Listing<Resource>>>,
    templates: Option<Arc<Listing<ResourceTemplate>>>,
    prompts: Option<Arc<Listing<Prompt>>>,
    failed: Vec<(Kind, Fault)>,
}

impl Lists {
    /// Reads the lists that were asked for by name, or all. With `wait`, again and again until no
    /// server behind a gateway is missing or the time is over.
    pub(super) async fn fetch(client: &Client, asked: &[Kind], wait: Option<Duration>) -> Self {
        let end = wait.map(|wait| Instant::now() + wait);
        loop {
            let lists = Self::fetch_once(client, asked).await;
            if lists.starting().is_empty() || end.is_none_or(|end| Instant::now() + PAUSE > end) {
                return lists;
            }
            sleep(PAUSE).await;
            client.invalidate();
        }
    }

    async fn fetch_once(client: &Client, asked: &[Kind]) -> Self {
        let mut lists = Self::default();
        for kind in if asked.is_empty() { Kind::value_variants() } else { asked } {
            let failed = match kind {
                Kind::Tools => keep(&mut lists.tools, client.tools().await),
                Kind::Resources => keep(&mut lists.resources, client.resources().await),
                Kind::Templates => keep(&mut lists.templates, client.resource_templates().await),
                Kind::Prompts => keep(&mut lists.prompts, client.prompts().await),
            };
            // Only a list that was asked for by name must exist.
            let failed = failed.filter(|fault| !asked.is_empty() || !is_unsupported(fault));
            lists.failed.extend(failed.map(|fault| (*kind, fault)));
        }
        lists
    }

    pub(super) fn tools(&self) -> &[Tool] {
        self.tools.as_ref().map_or(&[], |list| &list.items)
    }

    pub(super) fn to_text(&self, schemas: Schemas) -> String {
        let mut text = String::new();
        text.extend(self.tools.iter().map(|list| listing::tools(&list.items, schemas)));
        text.extend(self.resources.iter().map(|list| listing::resources(&list.items)));
        text.extend(self.templates.iter().map(|list| listing::templates(&list.items)));
        text.extend(self.prompts.iter().map(|list| listing::prompts(&list.items)));
        text
    }

    /// The items exactly as the server sent them.
    pub(super) fn to_json(&self, server: &ServerInfo) -> Result<Object, serde_json::Error> {
        let mut all = Object::new();
        all.set("server", server_json(server)?.to_raw());
        let lists = [
            ("tools", self.tools.as_ref().map(|list| Raw::encode(&list.items))),
            ("resources", self.resources.as_ref().map(|list| Raw::encode(&list.items))),
            ("resourceTemplates", self.templates.as_ref().map(|list| Raw::encode(&list.items))),
            ("prompts", self.prompts.as_ref().map(|list| Raw::encode(&list.items))),
        ];
        for (name, items) in lists {
            if let Some(items) = items {
                all.set(name, items?);
            }
        }
        for (member, servers) in [("stillStarting", self.starting()), ("unavailable", self.unavailable())] {
            if !servers.is_empty() {
                all.set(member, Raw::encode(&servers)?);
            }
        }
        if !self.failed.is_empty() {
            let mut errors = Object::new();
            for (kind, fault) in &self.failed {
                errors.set(kind.member(), Raw::encode(&fault.report())?);
            }
            all.set("errors", errors.to_raw());
        }
        Ok(all)
    }

    /// Warns about everything that is missing from the lists. `status` is the command that tells
    /// why a server behind a gateway is not available.
    pub(super) fn warn(&self, screen: &Screen, status: &str) {
        let lists = [
            (Kind::Tools, self.tools.as_ref().map(|list| &list.bad)),
            (Kind::Resources, self.resources.as_ref().map(|list| &list.bad)),
            (Kind::Templates, self.templates.as_ref().map(|list| &list.bad)),
            (Kind::Prompts, self.prompts.as_ref().map(|list| &list.bad)),
        ];
        for (kind, bad) in lists {
            bad.into_iter().flatten().for_each(|item| screen.warn(&format!("{}: {item}", kind.name())));
        }
        let named = |servers: BTreeSet<String>| servers.into_iter().collect::<Vec<_>>().join(", ");
        let (starting, unavailable) = (named(self.starting()), named(self.unavailable()));
        if !starting.is_empty() {
            screen.warn(&format!("still starting: {starting}; `--wait` waits for these servers"));
        }
        if !unavailable.is_empty() {
            screen.warn(&format!("not available: {unavailable}; `{status}` says why"));
        }
    }

    /// Warns about lists that failed. Returns the failure that ends the command: that of the tools,
    /// or of a list that was asked for by name.
    pub(super) fn verdict(mut self, screen: &Screen, asked: &[Kind]) -> Result<(), Failure> {
        let is_fatal = |(kind, _): &(Kind, Fault)| *kind == Kind::Tools || asked.contains(kind);
        let fatal = self.failed.iter().position(is_fatal).map(|at| self.failed.remove(at));
        for (kind, fault) in &self.failed {
            screen.warn(&format!("the {} cannot be listed: {}", kind.name(), fault.message()));
        }
        match fatal {
            Some((kind, fault)) => Err(Failure::from(fault).during(format!("listing the {}", kind.name()))),
            None => Ok(()),
        }
    }

    /// Servers behind a gateway that are starting, so that their items are not listed yet.
    fn starting(&self) -> BTreeSet<String> {
        let lists = [
            self.tools.as_ref().map(|list| &list.missing),
            self.resources.as_ref().map(|list| &list.missing),
            self.templates.as_ref().map(|list| &list.missing),
            self.prompts.as_ref().map(|list| &list.missing),
        ];
        let missing: BTreeSet<String> = lists.into_iter().flatten().flatten().cloned().collect();
        &missing - &self.unavailable()
    }

    /// Servers behind a gateway that could not be reached.
    fn unavailable(&self) -> BTreeSet<String> {
        let lists = [
            self.tools.as_ref().map(|list| &list.failed),
            self.resources.as_ref().map(|list| &list.failed),
            self.templates.as_ref().map(|list| &list.failed),
            self.prompts.as_ref().map(|list| &list.failed),
        ];
        lists.into_iter().flatten().flatten().cloned().collect()
    }
}

/// Keeps a list. Returns the fault if it failed.
fn keep<T>(place: &mut Option<T>, list: Result<T, Fault>) -> Option<Fault> {
    list.map(|list| *place = Some(list)).err()
}

/// True if the server does not have such a list.
fn is_unsupported(fault: &Fault) -> bool {
    matches!(fault.kind(), FaultKind::CapabilityMissing | FaultKind::NotAvailable)
}

fn server_json(server: &ServerInfo) -> Result<Object, serde_json::Error> {
    let mut about = Object::new();
    about.set("name", Raw::encode(&server.name)?);
    about.set("title", Raw::encode(&server.title)?);
    about.set("version", Raw::encode(&server.version)?);
    about.set("revision", Raw::string(server.revision.as_str()));
    about.set("era", Raw::string(&server.era().to_string()));
    about.set("transport", Raw::string(&server.transport.to_string()));
    about.set("capabilities", server.capabilities.clone());
    about.set("instructions", Raw::encode(&server.instructions)?);
    Ok(about)
}
