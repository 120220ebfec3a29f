//! The stack: all layers that a call passes, in order. Only this file decides the order.
//!
//! A call enters at the first line of a list and goes down; its reply comes back up through the
//! same layers. HTTP, stdio, the bridge and the tests all build their handler here.
//!
//! To add a layer, write it in a file of its own as a [`Handler`] around a [`Handler`], and add a
//! field and an entry to [`Stack`] (in front of everything) or a step to [`around_session`] (in
//! front of one server); `CONTRIBUTING.md` has the steps. Translation between the protocol eras,
//! tasks of 2025-11-25 included, is no layer: `serve` does it before a call enters the stack,
//! `client` after it has left.

use crate::telemetry::Telemetry;
use std::sync::Arc;
use trunkline_config::Errors;
use trunkline_gateway::{
    Gateway,
    audit::{Audited, ReadOnly, Trail},
    classic::Classic,
    cut::{CutResults, Shortened},
    disclosure::Unwrapped,
    hook::{Hooked, Hooks},
    limit::{Limited, Rates},
    metrics::Meter,
    trace::{Traced, Tracer},
    upstream::layered,
};
use trunkline_protocol::{Caller, Connect, Handler, ServerName};
use trunkline_serve::{Logged, ServeOptions};

/// The inputs of the layers in front of a handler. A layer whose input is `None` is left out.
pub(crate) struct Stack<'a> {
    pub(crate) telemetry: &'a Telemetry,
    /// The trail, and the predicate for tools that are known to be read-only.
    pub(crate) audit: Option<(Trail, ReadOnly)>,
    pub(crate) rates: Option<Arc<Rates>>,
    pub(crate) hooks: Option<Arc<Hooks>>,
    pub(crate) errors: Errors,
    /// The gateway whose views may disclose tools by search.
    pub(crate) gateway: Option<Gateway>,
    /// The place for the rest of long results, if the gateway's settings may limit them.
    pub(crate) cut_results: Option<CutResults>,
}

impl Stack<'_> {
    /// Puts the layers around `handler`, and into `options` the parts that the HTTP front shares
    /// with them: the hook of the access log, because it and the `Logged` layer write one record
    /// together, and the usage of the rates, which it shows to callers.
    pub(crate) fn around(self, handler: Arc<dyn Handler>, options: &mut ServeOptions) -> Arc<dyn Handler> {
        let Self { telemetry, audit, rates, hooks, errors, gateway, cut_results } = self;
        options.access = telemetry.access_hook();
        let access = options.access.clone();
        options.quota_of =
            rates.clone().map(|rates| Arc::new(move |caller: &Caller| rates.usage(caller)) as _);
        let cutting = cut_results.zip(gateway.clone());
        let layers = [
            // Turns a call of `call_tool` into a call of the tool that it names. First, so that
            // every other layer sees the real call.
            gateway.map(|gateway| layer(|next| Unwrapped::new(next, gateway))),
            // Turns failed tool calls into classic errors. Above all layers that record, so that
            // records tell failures apart as usual.
            (errors == Errors::Classic).then(|| layer(Classic::new)),
            // Opens the server span. Above the layers that record, so that they see a trace id in
            // `_meta`, even if the client sent none.
            telemetry.tracer().map(|tracer| layer(|next| Traced::server(next, Some(tracer)))),
            // Writes the access record. Below tracing, because the record names the trace.
            access.map(|hook| layer(|next| Logged::new(next, hook))),
            // Writes a start and an end record to the audit trail. Above the limits, so that calls
            // they refuse are recorded as well.
            audit.map(|(trail, read_only)| layer(|next| Audited::new(next, trail, read_only))),
            // Refuses callers and tools above their rate. Above hooks and servers, so that a
            // refused call costs them nothing.
            rates.map(|rates| layer(move |next| Limited::new(next, rates))),
            // Cuts long results. Above the hooks, so that they see whole results; below the rates,
            // so that reading the rest of one is counted.
            cutting.map(|(results, gateway)| layer(move |next| Shortened::new(next, gateway, results))),
            // Runs the operator's hooks. Last, so that they see what a server would get, and their
            // denials are recorded.
            hooks.map(|hooks| layer(move |next| Hooked::new(next, hooks))),
        ];
        layers.into_iter().flatten().rev().fold(handler, |next, layer| layer(next))
    }
}

/// The layers between the gateway and each session with one server.
pub(crate) fn around_session(
    connect: Arc<dyn Connect>,
    server: &ServerName,
    tracer: Option<Tracer>,
    meter: Meter,
) -> Arc<dyn Connect> {
    let server: Arc<str> = server.to_string().into();
    // Counts and times what is sent. Innermost, so that it measures the server and no layer of
    // ours.
    let connect = layered(connect, move |session| meter.around(session));
    // Opens the client span, whose id the server sees as its parent.
    match tracer {
        None => connect,
        Some(tracer) => {
            layered(connect, move |session| Traced::session(session, tracer.clone(), server.clone()))
        }
    }
}

type Layer<'a> = Box<dyn FnOnce(Arc<dyn Handler>) -> Arc<dyn Handler> + 'a>;

fn layer<'a, H: Handler + 'static>(wrap: impl FnOnce(Arc<dyn Handler>) -> H + 'a) -> Layer<'a> {
    Box::new(|next| Arc::new(wrap(next)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        environment::Environment,
        telemetry::{Configured, TelemetryArgs},
    };
    use std::{fs, time::Duration};
    use trunkline_gateway::{
        audit::Options,
        limit::{Limits, Quota},
    };
    use trunkline_protocol::{Call, FaultKind, Raw, Reply, method};

    struct Server;

    impl Handler for Server {
        fn call(&self, _: Call) -> Reply {
            Reply::ready(Ok(Raw::empty_object()))
        }
    }

    #[tokio::test]
    async fn calls_above_the_rate_are_in_the_audit_trail() {
        let (traces, log) = <(trunkline_config::Telemetry, trunkline_config::AccessLog)>::default();
        let configured = Configured { telemetry: &traces, access_log: &log };
        let none = Environment::of([]);
        let telemetry = Telemetry::start(&TelemetryArgs::default(), configured, &none).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let trail = Trail::open(folder.path(), Options::default()).unwrap();
        let once = Quota::new(1.try_into().unwrap(), Duration::from_hours(1));
        let stack = Stack {
            telemetry: &telemetry,
            audit: Some((trail, Arc::new(|_: Option<&str>, _: &str| false))),
            rates: Some(Rates::new(&Limits { per_caller: Some(once), ..Limits::default() })),
            hooks: None,
            errors: Errors::Standard,
            gateway: None,
            cut_results: None,
        };
        let handler = stack.around(Arc::new(Server), &mut ServeOptions::default());
        let ask = || handler.call(Call::new(method::TOOLS_LIST, None)).outcome();
        ask().await.unwrap();
        assert_eq!(ask().await.unwrap_err().kind(), FaultKind::RateLimited);
        drop(handler);
        let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let text: String = files.filter_map(|file| fs::read_to_string(file).ok()).collect();
        assert_eq!(text.matches("E213").count(), 1, "{text}");
    }
}
