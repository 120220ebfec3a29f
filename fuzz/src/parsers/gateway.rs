//! The gateway's public names: for any lists of servers, every public name is routed to the server
//! that listed it, names that were not issued are refused, and forwarded parameters are not
//! changed.
//!
//! An input is lines. The first character of each gives the kind of the rest: `a` and `b` a
//! resource of the server with this name, `A` and `B` a template, `1` and `2` a tool, `r` a URI to
//! read, and `c`, `s` and `t` a forged cursor, request state and task id.

use serde_json::{Value, json};
use std::{
    cell::LazyCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use tokio::{
    runtime::Runtime,
    sync::{broadcast, watch},
};
use trunkline_gateway::{
    Gateway, GatewayOptions,
    gateway::Source,
    upstream::{Event, Offer},
};
use trunkline_protocol::{
    Call, Caller, Fault, Handler, Object, Raw, Reply, Revision, ServerName, message::Implementation, method,
};

/// Items per page; small, so that most lists have several pages.
const PAGE: usize = 2;
/// Maximum number of lines used.
const MOST: usize = 40;

pub fn holds(data: &[u8]) {
    thread_local! {
        static RUNTIME: LazyCell<Runtime> = LazyCell::new(|| {
            tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime can be made")
        });
    }
    let text = String::from_utf8_lossy(data);
    let lines: Vec<(char, &str)> = text
        .lines()
        .take(MOST)
        .filter_map(|line| line.chars().next().map(|first| (first, &line[first.len_utf8()..])))
        .collect();
    RUNTIME.with(|runtime| runtime.block_on(async { Bench::new(&lines).judges(&lines).await }));
}

/// A server that answers with the parameters it received and with all of its URIs.
struct Echo {
    name: ServerName,
    offer: Arc<Offer>,
    resources: BTreeSet<String>,
    changes: watch::Sender<u64>,
    events: broadcast::Sender<Event>,
}

struct Bench {
    gateway: Gateway,
    servers: [Arc<Echo>; 2],
}

/// The target of a public name: a server, and the name on that server.
type Meant = (String, String);

impl Bench {
    fn new(lines: &[(char, &str)]) -> Self {
        let servers = [("a", ['a', 'A', '1']), ("b", ['b', 'B', '2'])].map(|(name, signs)| {
            let [resources, templates, tools] = signs.map(|sign| {
                lines.iter().filter(|(first, _)| *first == sign).map(|(_, rest)| *rest).collect::<Vec<_>>()
            });
            Arc::new(Echo::new(name, &resources, &templates, &tools))
        });
        let mut options = GatewayOptions::new(Implementation::new("fuzz", "1"));
        options.servers = servers.iter().map(|server| Arc::clone(server) as Arc<dyn Source>).collect();
        options.page_size = PAGE;
        Self { gateway: Gateway::new(options).expect("no rules are no bad rules"), servers }
    }

    async fn judges(&self, lines: &[(char, &str)]) {
        let public = self.resources_lead_back().await;
        self.tools_lead_back(&public).await;
        for (first, rest) in lines {
            match first {
                'r' => self.is_read_by_whom_it_names(rest).await,
                'c' => self.is_refused(method::RESOURCES_LIST, json!({"cursor": rest})).await,
                's' => {
                    let params = json!({"uri": "a:b", "requestState": rest});
                    self.is_refused(method::RESOURCES_READ, params).await;
                }
                't' => self.is_refused(method::TASKS_GET, json!({"taskId": rest})).await,
                _ => {}
            }
        }
    }

    /// Checks that every resource is listed once and read from its server; returns the public
    /// URIs.
    async fn resources_lead_back(&self) -> BTreeMap<Meant, String> {
        let mut public = BTreeMap::new();
        for uri in self.listed(method::RESOURCES_LIST, "resources", "uri").await {
            let result =
                self.ask(method::RESOURCES_READ, json!({"uri": uri, "x": 1.50})).await.expect("listed");
            let meant = meant(&result, "uri");
            assert!(self.server(&meant.0).resources.contains(&meant.1), "{uri} leads to {meant:?}");
            assert_eq!(result["contents"][0]["uri"], uri.as_str());
            assert!(public.insert(meant, uri).is_none(), "listed twice");
        }
        for server in &self.servers {
            for uri in &server.resources {
                assert!(public.contains_key(&(server.name.to_string(), uri.clone())), "{uri} is not listed");
            }
        }
        public
    }

    /// Checks that every tool is called on its server and that its links have public URIs.
    async fn tools_lead_back(&self, public: &BTreeMap<Meant, String>) {
        let mut seen = BTreeSet::new();
        for name in self.listed(method::TOOLS_LIST, "tools", "name").await {
            let result =
                self.ask(method::TOOLS_CALL, json!({"name": name, "x": 1.50})).await.expect("listed");
            let meant = meant(&result, "name");
            let server = self.server(&meant.0);
            for (link, uri) in result["content"].as_array().expect("links").iter().zip(&server.resources) {
                assert_eq!(link["uri"], public[&(meant.0.clone(), uri.clone())].as_str());
            }
            assert!(seen.insert(meant), "two names of one tool");
        }
    }

    async fn is_read_by_whom_it_names(&self, uri: &str) {
        let Ok(result) = self.ask(method::RESOURCES_READ, json!({"uri": uri, "x": 1.50})).await else {
            return;
        };
        let (server, inner) = meant(&result, "uri");
        match uri.strip_prefix("trunkline:") {
            Some(rest) => assert_eq!(rest, format!("{server}/{inner}")),
            None => assert_eq!(inner, uri),
        }
        assert_eq!(result["contents"][0]["uri"], uri);
    }

    async fn is_refused(&self, method: &'static str, params: Value) {
        assert!(self.ask(method, params).await.is_err(), "this was never issued");
    }

    /// Returns the names on all pages of a list; asserts that they are unique.
    async fn listed(&self, method: &'static str, member: &str, key: &str) -> Vec<String> {
        let (mut names, mut params) = (Vec::new(), json!({}));
        loop {
            let page = self.ask(method, params).await.expect("a list");
            let items = page[member].as_array().expect("a list");
            assert!(items.len() <= PAGE);
            names.extend(items.iter().map(|item| item[key].as_str().expect("a name").to_owned()));
            let Some(cursor) = page["nextCursor"].as_str() else { break };
            params = json!({"cursor": cursor});
        }
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        names
    }

    async fn ask(&self, method: &'static str, params: Value) -> Result<Value, Fault> {
        let mut call = Call::new(method, Some(params.into()));
        call.caller = Arc::new(Caller::named("ada"));
        let result = self.gateway.call(call).outcome().await?;
        Ok(result.decode().expect("a result"))
    }

    fn server(&self, name: &str) -> &Echo {
        self.servers.iter().find(|server| server.name.as_ref() == name).expect("one of ours")
    }
}

/// Returns the target of a call; asserts that nothing else in the parameters was changed.
fn meant(result: &Value, member: &str) -> Meant {
    let asked = result["asked"].as_str().expect("as it came");
    let params: Value = serde_json::from_str(asked).expect("JSON");
    let inner = params[member].as_str().expect("a name").to_owned();
    assert_eq!(asked, format!("{{\"{member}\":{},\"x\":1.5}}", json!(inner)));
    (result["server"].as_str().expect("a name").to_owned(), inner)
}

impl Echo {
    fn new(name: &str, resources: &[&str], templates: &[&str], tools: &[&str]) -> Self {
        let list = |texts: &[&str], key: &str| -> Arc<[Raw]> {
            texts.iter().map(|text| json!({key: text, "inputSchema": {"type": "object"}}).into()).collect()
        };
        let capabilities = json!({"tools": {}, "resources": {}});
        let introduction = json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities});
        let offer = Offer {
            introduction: introduction.into(),
            revision: Revision::NEWEST,
            tools: list(tools, "name"),
            prompts: Arc::default(),
            resources: list(resources, "uri"),
            templates: list(templates, "uriTemplate"),
            beside: std::array::from_fn(|_| Object::new()),
            announced: [0; 4],
            faults: Default::default(),
            stale: false,
            signs_in: false,
            own_tools: &[],
        };
        Self {
            name: name.parse().expect("a short name"),
            offer: Arc::new(offer),
            resources: resources.iter().filter(|uri| !uri.is_empty()).map(ToString::to_string).collect(),
            changes: watch::Sender::new(0),
            events: broadcast::Sender::new(1),
        }
    }
}

impl Handler for Echo {
    fn call(&self, call: Call) -> Reply {
        let asked = call.params.as_ref().map(ToString::to_string);
        let uri = call.params.as_ref().and_then(|params| params.member("uri"));
        let links: Vec<Value> = self
            .resources
            .iter()
            .map(|uri| json!({"type": "resource_link", "uri": uri, "name": "r"}))
            .collect();
        let result = json!({
            "server": self.name.as_ref(),
            "asked": asked,
            "content": links,
            "contents": [{"uri": uri, "text": ""}],
        });
        Reply::ready(Ok(result.into()))
    }
}

impl Source for Echo {
    fn name(&self) -> &ServerName {
        &self.name
    }

    fn offer(&self) -> Option<Arc<Offer>> {
        Some(Arc::clone(&self.offer))
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    fn wake(&self) {}
}
