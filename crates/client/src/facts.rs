//! Facts about a tool that a call needs: the arguments to send as headers, and its task support.

use crate::{connection::Inner, era::Ask, handshake, server::Carrier};
use parking_lot::{Mutex, MutexGuard};
use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::BuildHasher,
    sync::Arc,
    time::Duration,
};
use trunkline_protocol::{
    Era, Object, Raw,
    message::{HeaderParam, TaskSupport, Tool, header_params, may_want_headers, next_cursor},
    method,
};
use trunkline_resilience::timeout;

/// Page limit when the list is read for facts.
const MAX_PAGES: usize = 100;
/// Limit of cached tools.
const MAX_TOOLS: usize = 10_000;
/// Timeout of reading the list.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The known tools of one server.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    tools: Mutex<Tools>,
    hasher: RandomState,
}

/// The state of knowledge about one tool.
#[derive(Debug)]
pub(crate) enum Known {
    Fact(Arc<Fact>),
    /// The tool has no facts.
    None,
    /// The server must be asked.
    Unsure,
}

#[derive(Debug, Default)]
struct Tools {
    by_name: HashMap<String, Arc<Fact>>,
    /// The whole list was read, so a tool that is missing here has no facts.
    whole: bool,
    /// Hash of the page that was read last, to skip an identical one.
    last: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Fact {
    pub(crate) headers: Vec<HeaderParam>,
    pub(crate) task: TaskSupport,
}

impl Facts {
    pub(crate) fn forget(&self) {
        *self.known() = Tools::default();
    }

    /// Reads facts from a page of the list.
    fn learn(&self, page: &Raw) {
        let hash = self.hasher.hash_one(page.as_bytes());
        let mut known = self.known();
        if known.last.replace(hash) == Some(hash) {
            return;
        }
        let tools: Vec<Raw> = page.member_as("tools").unwrap_or_default();
        for tool in tools.iter().filter_map(|raw| raw.decode::<Tool>().ok()) {
            if known.by_name.len() < MAX_TOOLS {
                let headers = header_params(&tool.input_schema).unwrap_or_default();
                let fact = Fact { headers, task: tool.task_support() };
                known.by_name.insert(tool.name, Arc::new(fact));
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, Tools> {
        self.tools.lock()
    }
}

impl Inner {
    /// The cached facts of a tool.
    pub(crate) fn known_fact(&self, tool: &str) -> Known {
        if !self.needs_facts() {
            return Known::None;
        }
        let known = self.facts.known();
        match known.by_name.get(tool) {
            Some(fact) => Known::Fact(fact.clone()),
            None if known.whole => Known::None,
            None => Known::Unsure,
        }
    }

    /// Reads the server's list and returns the facts of a tool.
    pub(crate) async fn find_fact(&self, tool: &str) -> Option<Arc<Fact>> {
        if timeout(TIMEOUT, self.look()).await.is_none() {
            tracing::debug!("the server did not return its tool list in time");
        }
        self.facts.known().by_name.get(tool).cloned()
    }

    /// Modern HTTP servers want arguments as headers; servers of 2025-11-25 may require tasks.
    fn needs_facts(&self) -> bool {
        match self.speech.era() {
            Era::Modern => self.has_header_rules(),
            Era::Legacy => self.runs_tasks(),
        }
    }

    /// True if this server wants arguments as headers.
    pub(crate) fn has_header_rules(&self) -> bool {
        self.speech.era() == Era::Modern && self.server.transport == Carrier::StreamableHttp
    }

    /// True if the server runs calls as tasks of the core protocol.
    pub(crate) fn runs_tasks(&self) -> bool {
        self.speech.revision.has_core_tasks() && self.server.has_capability("tasks.requests.tools.call")
    }

    async fn look(&self) {
        let mut params = Object::new();
        for _ in 0..MAX_PAGES {
            let mut exchange = self.exchange(&Ask::new(method::TOOLS_LIST, params.clone()));
            let Ok(Ok(page)) = handshake::answer(&mut exchange).await else { return };
            self.learn(&page);
            let Some(cursor) = next_cursor(&page) else { break };
            params.set("cursor", Raw::string(&cursor));
        }
        self.facts.known().whole = true;
    }

    /// Reads facts from a list that is relayed to a caller.
    pub(crate) fn learn(&self, page: &Raw) {
        if self.needs_facts() {
            self.facts.learn(page);
        }
    }
}

/// Removes tools with invalid header rules from a list, as modern HTTP clients must.
pub(crate) fn without_bad_headers(page: Raw) -> Raw {
    if !may_want_headers(&page) {
        return page;
    }
    let Some(mut members) = page.object() else { return page };
    let Some(tools) = members.get("tools").and_then(|raw| raw.decode::<Vec<Raw>>().ok()) else { return page };
    let is_bad = |tool: &Raw| {
        let verdict = tool.member("inputSchema").map(|schema| header_params(&schema));
        if let Some(Err(error)) = &verdict {
            let name: String = tool.member_as("name").unwrap_or_default();
            tracing::warn!(tool = name, %error, "the tool is dropped, because its header rules are invalid");
        }
        matches!(verdict, Some(Err(_)))
    };
    let kept: Vec<&Raw> = tools.iter().filter(|tool| !is_bad(tool)).collect();
    if kept.len() == tools.len() {
        return page;
    }
    match Raw::encode(&kept) {
        Ok(kept) => {
            members.set("tools", kept);
            members.to_raw()
        }
        Err(_) => page,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(header: &str) -> Raw {
        let property = serde_json::json!({"type": "string", "x-mcp-header": header});
        let schema = serde_json::json!({"type": "object", "properties": {"a": property}});
        serde_json::json!({"tools": [{"name": "t", "inputSchema": schema}]}).into()
    }

    #[test]
    fn the_page_that_came_last_counts_however_often_it_comes() {
        let facts = Facts::default();
        for header in ["One", "One", "Two", "One"] {
            facts.learn(&page(header));
            assert_eq!(facts.known().by_name["t"].headers[0].header, header);
        }
        facts.forget();
        assert!(facts.known().by_name.is_empty());
        facts.learn(&page("One"));
        assert_eq!(facts.known().by_name.len(), 1);
    }
}
