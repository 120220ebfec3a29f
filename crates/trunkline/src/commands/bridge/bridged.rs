//! The handlers of a bridge: they forward calls to its one upstream.

use crate::wire::gate::RoleScopes;
use futures_util::stream;
use std::sync::Arc;
use tokio::sync::watch;
use trunkline_gateway::{
    Gateway, GatewayOptions, StateOptions, States,
    catalog::{BadRules, Rules},
    upstream::Upstream,
};
use trunkline_protocol::{
    Call, Caller, Fault, Handler, Notification, Notify, Part, Raw, Reply, Revision,
    message::{Implementation, UNSOLICITED, meta},
    method,
};
use trunkline_serve::CallerTest;

/// The handler of a bridge to a server without rules: it passes everything on.
pub(super) struct Bridged {
    upstream: Arc<Upstream>,
    states: Arc<States>,
}

/// The handler of a bridge to a configured server with rules: a gateway with this server alone,
/// which applies them as `trunkline serve` does at `/mcp/server/<name>`.
pub(super) struct Ruled {
    gateway: Gateway,
    view: Arc<str>,
}

/// Facts about the server for the startup message.
pub(super) struct About {
    pub(super) name: Option<String>,
    pub(super) revision: Option<&'static str>,
}

/// Connects at start, so that an unreachable server is reported before a client arrives.
pub(super) async fn probe(upstream: &Upstream) -> Result<About, Fault> {
    let mut call = Call::new(method::DISCOVER, None);
    call.caller = Caller::local();
    let introduction: Raw = upstream.call(call).outcome().await?;
    let identity = meta::get(Some(&introduction), meta::SERVER_INFO);
    Ok(About {
        name: identity.and_then(|identity| identity.member_as("name")),
        revision: upstream.revision().map(Revision::as_str),
    })
}

impl Bridged {
    pub(super) fn new(upstream: Arc<Upstream>) -> Self {
        Self { upstream, states: Arc::new(States::new(&StateOptions::default())) }
    }
}

impl Ruled {
    pub(super) fn new(upstream: &Arc<Upstream>, rules: Rules) -> Result<Self, BadRules> {
        let identity = Implementation::new("trunkline", env!("CARGO_PKG_VERSION"));
        let mut options = GatewayOptions::new(identity);
        options.servers = vec![upstream.clone()];
        options.rules = rules;
        let view = format!("server/{}", upstream.name()).into();
        Ok(Self { gateway: Gateway::new(options)?, view })
    }

    /// The token scopes that would give a role.
    pub(super) fn role_scopes(&self) -> RoleScopes {
        let gateway = self.gateway.clone();
        Arc::new(move |caller: &Caller| gateway.helpful_scopes(caller))
    }

    /// The test for callers that may see the metrics.
    pub(super) fn may_operate(&self) -> CallerTest {
        let gateway = self.gateway.clone();
        Arc::new(move |caller: &Caller| gateway.may_operate(caller))
    }
}

impl Handler for Ruled {
    fn call(&self, mut call: Call) -> Reply {
        call.view = Some(self.view.clone());
        self.gateway.call(call)
    }

    fn notify(&self, notice: Notify) {
        self.gateway.notify(notice);
    }
}

impl Handler for Bridged {
    fn call(&self, mut call: Call) -> Reply {
        if call.method == method::LISTEN {
            if Caller::is_ourselves(&call.caller) {
                // Our own subscription must not open a session with the server.
                return changes(self.upstream.watch());
            }
            call.params = call.params.map(without_asides);
        }
        self.states.around(self.upstream.name(), call, |call| self.upstream.call(call))
    }

    fn notify(&self, notice: Notify) {
        self.upstream.notify(notice);
    }
}

/// Removes the filter member that only a gateway understands. A single server sends those
/// notifications to its clients anyway.
fn without_asides(params: Raw) -> Raw {
    let filter = params.member("notifications").and_then(|filter| filter.object());
    let Some(mut filter) = filter else { return params };
    if filter.remove(UNSOLICITED).is_none() {
        return params;
    }
    params.with("notifications", &filter.to_raw()).unwrap_or(params)
}

/// A stream of `tools/list_changed`, one for every change of the upstream.
fn changes(watch: watch::Receiver<u64>) -> Reply {
    Reply::new(stream::unfold(watch, |mut watch| async move {
        watch.changed().await.ok()?;
        Some((Part::Notification(Notification::new(method::TOOLS_CHANGED, None)), watch))
    }))
}
