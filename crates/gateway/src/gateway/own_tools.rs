//! Calls of the tools that a view has of its own.

use super::Inner;
use crate::{
    catalog::Catalog,
    disclosure::{self, OwnTool},
    view::View,
};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use trunkline_protocol::{Call, FaultKind, Raw, Reply, message::CallToolResult};

impl Inner {
    /// Answers once the servers that the caller may use are known, as lists do.
    pub(super) fn call_own(
        self: &Arc<Self>,
        catalog: &Catalog,
        view: &View,
        call: Call,
        tool: OwnTool,
    ) -> Reply {
        if tool == OwnTool::Call || !view.awaits_servers(&catalog.policy, &call.caller) {
            return Reply::ready(Ok(answer(catalog, view, &call, tool)));
        }
        let inner = Arc::clone(self);
        Reply::from_future(async move {
            let catalog = inner.wait_for_servers(&call, |_, _, _| false).await;
            match catalog.view(call.view.as_deref()) {
                Some(view) => Ok(answer(&catalog, view, &call, tool)),
                None => Err(super::faults::no_view(call.view.as_deref())),
            }
        })
    }
}

fn answer(catalog: &Catalog, view: &View, call: &Call, tool: OwnTool) -> Raw {
    let policy = &catalog.policy;
    let asker = policy.asker(call);
    let bad = |expected: &str| {
        let text = format!("The arguments of {} must be {expected}", tool.name());
        CallToolResult::failure(FaultKind::InvalidRequest, text).to_raw()
    };
    match tool {
        OwnTool::Search => match arguments(call) {
            Some(wanted) => disclosure::search(view, policy, &asker, &wanted),
            None => bad(r#"{"query": string, "server"?: string, "limit"?: integer}"#),
        },
        OwnTool::Describe => match arguments(call) {
            Some(wanted) => disclosure::describe(view, policy, &asker, &wanted),
            None => bad(r#"{"names": [string]}"#),
        },
        // A call with a tool's name was unwrapped before it came here.
        OwnTool::Call => bad(r#"{"name": string, "arguments"?: object}, with the name of another tool"#),
    }
}

fn arguments<T: DeserializeOwned>(call: &Call) -> Option<T> {
    let arguments = call.params.as_ref()?.member("arguments")?;
    arguments.decode().ok().filter(|_| Raw::is_object(&arguments))
}
