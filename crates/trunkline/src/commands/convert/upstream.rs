//! A configured server, reached through a gateway of its own: with the breaker, the limits, the
//! kept lists, the rules and the adapter that it has in `trunkline serve`.

use crate::{
    args::ConnectionArgs,
    commands::Context,
    failure::Failure,
    wire::{
        gateway::{
            Running,
            approvals::{self, Operators},
        },
        store,
    },
};
use serde_json::{Value, json};
use std::sync::Arc;
use trunkline_config::Loaded;
use trunkline_gateway::Gateway;
use trunkline_protocol::{
    Call, Fault, FaultKind, Handler, Outcome, Part, Raw, ServerName,
    message::{CallToolResult, ListToolsResult},
    method,
};

/// A gateway with one server.
pub(super) struct ConfiguredServer {
    running: Arc<Running>,
    view: Arc<str>,
}

impl ConfiguredServer {
    /// Must be called within a runtime.
    pub(super) fn start(context: &Context, mut loaded: Loaded, name: &ServerName) -> Result<Self, Failure> {
        loaded.settings.servers.retain(|server, _| server == name);
        let store = store::open(&loaded.settings)?;
        let approvals = approvals::new(&loaded.settings, store.clone(), Operators::Unreachable);
        let running = Running::start(&loaded, &context.environment, None, approvals, store)?;
        Ok(Self { running, view: format!("server/{name}").into() })
    }

    pub(super) fn gateway(&self) -> &Gateway {
        &self.running.gateway
    }

    pub(super) async fn stop(&self) {
        self.running.stop().await;
    }

    /// Calls a tool that the server offers. Questions of the server are refused.
    pub(super) async fn call(&self, tool: &str, arguments: &Value) -> Result<CallToolResult, Fault> {
        if !self.offers(tool).await? {
            let text = format!("the server does not offer the tool `{tool}`");
            return Err(Fault::new(FaultKind::NotAvailable, text));
        }
        let params = json!({"name": tool, "arguments": arguments});
        let result = self.ask(method::TOOLS_CALL, Some(params.into())).await?;
        result.decode().map_err(|error| Fault::new(FaultKind::BadAnswer, error.to_string()))
    }

    /// True if the list of tools has this name, or goes on.
    async fn offers(&self, tool: &str) -> Result<bool, Fault> {
        let list = self.ask(method::TOOLS_LIST, None).await?;
        let listed: ListToolsResult =
            list.decode().map_err(|error| Fault::new(FaultKind::BadAnswer, error.to_string()))?;
        Ok(listed.next_cursor.is_some()
            || listed.tools.iter().any(|known| known.text_of("name").as_deref() == Some(tool)))
    }

    async fn ask(&self, method: &'static str, params: Option<Raw>) -> Outcome {
        let mut call = Call::new(method, params);
        call.view = Some(self.view.clone());
        let mut reply = self.gateway().call(call);
        loop {
            match reply.next().await {
                Some(Part::Final(outcome)) => return outcome,
                Some(Part::Question(question)) => {
                    let text = "this command answers no questions";
                    question.answer(Err(Fault::new(FaultKind::NotAvailable, text)));
                }
                Some(_) => {}
                None => return Err(Fault::new(FaultKind::ConnectionLost, "the server did not answer")),
            }
        }
    }
}

/// Applies the timeouts of the command line. Refuses the other connection options, which belong in
/// the server's configuration.
pub(super) fn adjust(loaded: &mut Loaded, name: &ServerName, args: &ConnectionArgs) -> Result<(), Failure> {
    let given = [
        ("--header", !args.headers.is_empty()),
        ("--env", !args.variables.is_empty()),
        ("--cwd", args.cwd.is_some()),
        ("--era", args.era.is_some()),
        ("--cacert", !args.ca_files.is_empty()),
        ("--cert", args.cert.is_some()),
        ("--trace", args.trace),
        ("--log-level", args.log_level.is_some()),
    ];
    if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
        let text = format!("{flag} cannot be used with the configured server `{name}`");
        return Err(Failure::usage(text).hint("change its settings in the configuration"));
    }
    let Some(server) = loaded.settings.servers.get_mut(name) else { return Ok(()) };
    let limits = &mut server.options.timeout;
    limits.startup = args.connect_timeout.unwrap_or(limits.startup);
    limits.request = args.timeout.unwrap_or(limits.request);
    limits.ceiling = limits.ceiling.max(limits.request);
    Ok(())
}
