//! Observes the traffic to upstreams: spans and metrics.

use super::stack;
use parking_lot::{Mutex, MutexGuard};
use std::{collections::BTreeMap, sync::Arc};
use trunkline_gateway::{
    metrics::{Meter, PerTool, UpstreamFigures},
    trace::Tracer,
    upstream::Upstream,
};
use trunkline_protocol::{Connect, ServerName};

/// The tracer, and a meter per server. A meter outlives its upstream, so that a reload does not
/// reset the counters.
pub(crate) struct Observed {
    tracer: Option<Tracer>,
    meters: Mutex<BTreeMap<ServerName, Meter>>,
}

/// Counts and traces the calls to one server.
pub(crate) struct Observation {
    server: ServerName,
    tracer: Option<Tracer>,
    meter: Meter,
}

impl Observation {
    pub(crate) fn observe(&self, connect: Arc<dyn Connect>) -> Arc<dyn Connect> {
        stack::around_session(connect, &self.server, self.tracer.clone(), self.meter.clone())
    }
}

impl Observed {
    pub(crate) fn new(tracer: Option<Tracer>) -> Self {
        Self { tracer, meters: Mutex::default() }
    }

    /// Wraps a connector, so that its calls are counted and traced.
    pub(crate) fn connect(&self, server: &ServerName, connect: Arc<dyn Connect>) -> Arc<dyn Connect> {
        self.of(server).observe(connect)
    }

    /// Wraps all connectors of a server.
    pub(crate) fn of(&self, server: &ServerName) -> Observation {
        let meter = self.meters().entry(server.clone()).or_insert_with(|| Meter::new(PerTool::No)).clone();
        Observation { server: server.clone(), tracer: self.tracer.clone(), meter }
    }

    pub(crate) fn figures(&self, upstream: &Upstream) -> UpstreamFigures {
        let calls = self.meters().get(upstream.name()).map(Meter::calls).unwrap_or_default();
        UpstreamFigures { calls, ..UpstreamFigures::from(&upstream.status()) }
    }

    /// Drops the meters of removed servers.
    pub(crate) fn forget(&self, gone: impl Fn(&ServerName) -> bool) {
        self.meters().retain(|name, _| !gone(name));
    }

    fn meters(&self) -> MutexGuard<'_, BTreeMap<ServerName, Meter>> {
        self.meters.lock()
    }
}
