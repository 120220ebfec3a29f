//! The gateway with fake servers.

mod disclosure;
mod fake;
mod listening;
mod listing;
mod names;
mod passing;
mod personal;
mod policy;
mod reload;
mod resources;
mod rewrites;
mod rules;
mod speed;
mod states;
mod tasks;
mod upstream;
mod views;

use super::{Gateway, GatewayOptions, Source};
use crate::catalog::Rules;
use fake::Fake;
use serde_json::{Value, json};
use std::sync::Arc;
use trunkline_protocol::{
    Call, Caller, Fault, Handler, Raw, Reply, Revision, message::Implementation, method,
};

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned()).unwrap()
}

fn gateway(servers: &[&Arc<Fake>], rules: Rules) -> Gateway {
    with_options(servers, rules, |_| {})
}

fn with_options(servers: &[&Arc<Fake>], rules: Rules, change: impl FnOnce(&mut GatewayOptions)) -> Gateway {
    let mut options = GatewayOptions::new(Implementation::new("gate", "1"));
    options.servers = sources(servers);
    options.rules = rules;
    change(&mut options);
    Gateway::new(options).unwrap()
}

fn sources(servers: &[&Arc<Fake>]) -> Vec<Arc<dyn Source>> {
    servers.iter().map(|server| Arc::clone(*server) as Arc<dyn Source>).collect()
}

fn caller(id: &str, roles: &[&str]) -> Arc<Caller> {
    let roles = roles.iter().map(|role| (*role).to_owned()).collect();
    Arc::new(Caller { roles, ..Caller::named(id) })
}

/// The caller and the view of a test call.
struct Client {
    caller: Arc<Caller>,
    view: Option<Arc<str>>,
    revision: Revision,
}

fn client() -> Client {
    Client { caller: Caller::local(), view: None, revision: Revision::NEWEST }
}

impl Client {
    fn named(id: &str, roles: &[&str]) -> Self {
        Self { caller: caller(id, roles), view: None, revision: Revision::NEWEST }
    }

    fn speaking(mut self, revision: Revision) -> Self {
        self.revision = revision;
        self
    }

    fn at(mut self, view: &str) -> Self {
        self.view = Some(view.into());
        self
    }

    fn start(&self, gateway: &Gateway, method: &'static str, params: &Value) -> Reply {
        let mut call = Call::new(method, Some(params.clone().into()));
        call.caller = Arc::clone(&self.caller);
        call.view.clone_from(&self.view);
        call.revision = self.revision;
        gateway.call(call)
    }

    async fn ask(&self, gateway: &Gateway, method: &'static str, params: Value) -> Result<Raw, Fault> {
        self.start(gateway, method, &params).outcome().await
    }

    async fn names(&self, gateway: &Gateway, method: &'static str) -> Vec<String> {
        let list: Value = self.ask(gateway, method, json!({})).await.unwrap().decode().unwrap();
        let (member, key) = match method {
            method::TOOLS_LIST => ("tools", "name"),
            method::PROMPTS_LIST => ("prompts", "name"),
            method::RESOURCES_LIST => ("resources", "uri"),
            _ => ("resourceTemplates", "uriTemplate"),
        };
        list[member].as_array().unwrap().iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
    }
}

/// Runs `change` and waits for the next snapshot.
async fn next_snapshot(gateway: &Gateway, change: impl FnOnce()) {
    let mut snapshots = gateway.inner.changed.subscribe();
    change();
    let seen = tokio::time::timeout(std::time::Duration::from_mins(1), snapshots.changed()).await;
    seen.expect("the catalog follows its servers").unwrap();
}
