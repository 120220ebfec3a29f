//! The layer that cuts long results. It is above the hooks, so that they see whole results, and so
//! that what they let pass is cut like any other result.

use super::{CutResults, results::SCHEME};
use crate::gateway::Gateway;
use futures_util::{StreamExt, stream};
use std::{fmt, sync::Arc};
use trunkline_protocol::{Call, Caller, Handler, Part, Reply, method};

/// A handler whose long results are cut.
pub struct Shortened {
    inner: Arc<dyn Handler>,
    /// Knows how long the results of a tool may be.
    gateway: Gateway,
    results: CutResults,
}

impl Shortened {
    pub fn new(inner: Arc<dyn Handler>, gateway: Gateway, results: CutResults) -> Self {
        Self { inner, gateway, results }
    }

    fn call_tool(&self, call: Call) -> Reply {
        let name = call.params.as_ref().and_then(|params| params.text_of("name"));
        let Some(tool) = name.filter(|_| self.gateway.cuts_results(call.view.as_deref())) else {
            return self.inner.call(call);
        };
        let wanted = Arc::new(Wanted {
            tool: tool.into_owned(),
            view: call.view.clone(),
            caller: Arc::clone(&call.caller),
        });
        let (gateway, results) = (self.gateway.clone(), self.results.clone());
        Reply::new(self.inner.call(call).then(move |part| {
            let (gateway, results, wanted) = (gateway.clone(), results.clone(), Arc::clone(&wanted));
            async move {
                let Part::Final(Ok(result)) = part else { return part };
                // Looked up at the end: the first call of a caller may have made its catalog.
                let most = gateway.result_bytes(&wanted.caller, wanted.view.as_deref(), &wanted.tool);
                Part::Final(Ok(match most {
                    Some(most) => results.fit(result, &wanted.caller, most).await,
                    None => result,
                }))
            }
        }))
    }

    /// Reads the rest of a result that was cut here, or by a gateway behind this one.
    fn read(&self, call: Call) -> Reply {
        let uri = call.params.as_ref().and_then(|params| params.text_of("uri"));
        let Some(uri) = uri.filter(|uri| uri.starts_with(SCHEME)) else { return self.inner.call(call) };
        let (inner, results, uri) = (Arc::clone(&self.inner), self.results.clone(), uri.into_owned());
        let reply = async move {
            match results.read(&uri, &call.caller).await {
                Some(found) => Reply::ready(Ok(found)),
                None => inner.call(call),
            }
        };
        Reply::new(stream::once(reply).flatten())
    }
}

/// A call whose result may be cut.
struct Wanted {
    tool: String,
    view: Option<Arc<str>>,
    caller: Arc<Caller>,
}

impl Handler for Shortened {
    fn call(&self, call: Call) -> Reply {
        match call.method.as_ref() {
            method::TOOLS_CALL => self.call_tool(call),
            method::RESOURCES_READ => self.read(call),
            _ => self.inner.call(call),
        }
    }

    fn inner(&self) -> Option<&dyn Handler> {
        Some(&self.inner)
    }
}

impl fmt::Debug for Shortened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shortened").field("results", &self.results).finish_non_exhaustive()
    }
}
