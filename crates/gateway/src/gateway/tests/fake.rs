//! A fake server with a configurable offer, which records its calls.

use crate::{
    gateway::Source,
    upstream::{Event, Offer},
};
use serde_json::{Value, json};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};
use tokio::sync::{broadcast, watch};
use trunkline_protocol::{Call, Handler, Notification, Notify, Object, Raw, Reply, Revision, ServerName};

type Answer = dyn Fn(&Call) -> Reply + Send + Sync;

pub(super) struct Fake {
    name: ServerName,
    offer: Mutex<Option<Arc<Offer>>>,
    changes: watch::Sender<u64>,
    events: broadcast::Sender<Event>,
    calls: Mutex<Vec<Call>>,
    notices: Mutex<Vec<Notify>>,
    wakes: AtomicUsize,
    answer: Mutex<Arc<Answer>>,
}

/// The offer of a fake.
#[derive(Clone)]
pub(super) struct Lists {
    pub(super) capabilities: Value,
    pub(super) instructions: Option<&'static str>,
    pub(super) tools: Vec<Raw>,
    pub(super) prompts: Vec<Raw>,
    pub(super) resources: Vec<Raw>,
    pub(super) templates: Vec<Raw>,
    /// Number of announced changes of the server's tools.
    pub(super) announced: u64,
    /// Members of the tool list in addition to the items.
    pub(super) beside: Object,
    pub(super) stale: bool,
}

impl Default for Lists {
    fn default() -> Self {
        Self {
            capabilities: json!({"tools": {}, "prompts": {}, "resources": {"subscribe": true}}),
            instructions: None,
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            announced: 0,
            beside: Object::new(),
            stale: false,
        }
    }
}

impl Lists {
    pub(super) fn tools(names: &[&str]) -> Self {
        Self { tools: names.iter().map(|name| tool(name)).collect(), ..Self::default() }
    }

    pub(super) fn resources(uris: &[&str]) -> Self {
        let resource = |uri: &&str| json!({"uri": uri, "name": "r"}).into();
        Self { resources: uris.iter().map(resource).collect(), ..Self::default() }
    }

    pub(super) fn offer(self) -> Arc<Offer> {
        let mut introduction =
            json!({"supportedVersions": ["2026-07-28"], "capabilities": self.capabilities});
        if let Some(text) = self.instructions {
            introduction["instructions"] = text.into();
        }
        Arc::new(Offer {
            introduction: introduction.into(),
            revision: Revision::NEWEST,
            tools: self.tools.into(),
            prompts: self.prompts.into(),
            resources: self.resources.into(),
            templates: self.templates.into(),
            beside: [self.beside, Object::new(), Object::new(), Object::new()],
            announced: [self.announced, 0, 0, 0],
            faults: Default::default(),
            stale: self.stale,
            signs_in: false,
            own_tools: &[],
        })
    }
}

pub(super) fn tool(name: &str) -> Raw {
    json!({"name": name, "inputSchema": {"type": "object"}}).into()
}

impl Fake {
    /// A server that answers every call with its own name, the method and the parameters.
    pub(super) fn new(name: &str, lists: Lists) -> Arc<Self> {
        let fake = Self::unconnected(name);
        *fake.offer.lock().unwrap() = Some(lists.offer());
        fake
    }

    /// A server that has not connected yet.
    pub(super) fn unconnected(name: &str) -> Arc<Self> {
        let echo = {
            let name = name.to_owned();
            move |call: &Call| {
                let echo = json!({"server": name, "method": call.method, "params": call.params});
                Reply::ready(Ok(echo.into()))
            }
        };
        Arc::new(Self {
            name: name.parse().unwrap(),
            offer: Mutex::default(),
            changes: watch::Sender::new(0),
            events: broadcast::Sender::new(16),
            calls: Mutex::default(),
            notices: Mutex::default(),
            wakes: AtomicUsize::new(0),
            answer: Mutex::new(Arc::new(echo)),
        })
    }

    pub(super) fn answers(
        self: &Arc<Self>,
        answer: impl Fn(&Call) -> Reply + Send + Sync + 'static,
    ) -> Arc<Self> {
        *self.answer.lock().unwrap() = Arc::new(answer);
        Arc::clone(self)
    }

    pub(super) fn offers(&self, lists: Lists) {
        *self.offer.lock().unwrap() = Some(lists.offer());
        self.changes.send_modify(|count| *count += 1);
    }

    /// Sends a notification that belongs to no call.
    pub(super) fn says(&self, notification: Notification, principal: Option<&str>) {
        self.events.send(Event { notification, principal: principal.map(Into::into) }).unwrap();
    }

    pub(super) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    pub(super) fn notices(&self) -> Vec<Notify> {
        self.notices.lock().unwrap().clone()
    }

    pub(super) fn wakes(&self) -> usize {
        self.wakes.load(Ordering::Relaxed)
    }
}

impl Handler for Fake {
    fn call(&self, call: Call) -> Reply {
        assert!(call.view.is_none(), "a view is not sent to the server");
        let answer = Arc::clone(&self.answer.lock().unwrap());
        self.calls.lock().unwrap().push(call.clone());
        answer(&call)
    }

    fn notify(&self, notice: Notify) {
        self.notices.lock().unwrap().push(notice);
    }
}

impl Source for Fake {
    fn name(&self) -> &ServerName {
        &self.name
    }

    fn offer(&self) -> Option<Arc<Offer>> {
        self.offer.lock().unwrap().clone()
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    fn wake(&self) {
        self.wakes.fetch_add(1, Ordering::Relaxed);
    }
}
