//! What is told about the work while it goes on: traces to a collector, and an access log.
//!
//! Both stand beside the work: a call leaves a small value in a bounded queue, and somebody else sends or writes it. What finds
//! the queue full is dropped and counted.

mod access_log;
mod args;
mod export;
mod settings;
mod span_data;
#[cfg(test)]
mod tests;

use crate::{environment::Environment, failure::Failure};
use access_log::AccessLog;
use export::Export;
use std::fmt::Write;
use trunkline_config::Settings;
use trunkline_gateway::trace::Tracer;
use trunkline_serve::AccessHook;

pub(crate) use args::TelemetryArgs;
pub(crate) use settings::TraceSettings;

/// Traces and access log of one process.
#[derive(Debug)]
pub(crate) struct Telemetry {
    export: Option<Export>,
    access_log: Option<AccessLog>,
}

/// What the configuration says about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Configured<'a> {
    pub(crate) telemetry: &'a trunkline_config::Telemetry,
    pub(crate) access_log: &'a trunkline_config::AccessLog,
}

impl<'a> From<&'a Settings> for Configured<'a> {
    fn from(settings: &'a Settings) -> Self {
        Self { telemetry: &settings.telemetry, access_log: &settings.access_log }
    }
}

impl Telemetry {
    /// Starts what options, environment and configuration ask for; without any, nothing. Needs the runtime.
    pub(crate) fn start(
        args: &TelemetryArgs,
        settings: Configured<'_>,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let traces = TraceSettings::read(environment, settings.telemetry)?;
        let access_log = args.access_log(settings.access_log).map(AccessLog::open).transpose()?;
        Ok(Self { export: traces.map(Export::start).transpose()?, access_log })
    }

    /// Records spans; `wire::stack` decides where.
    pub(crate) fn tracer(&self) -> Option<Tracer> {
        self.export.as_ref().map(|export| export.tracer().clone())
    }

    /// Takes access records; `wire::stack` hands it to all that write them.
    pub(crate) fn access_hook(&self) -> Option<AccessHook> {
        self.access_log.as_ref().map(AccessLog::hook)
    }

    /// What became of spans and lines, in the text format of Prometheus.
    pub(crate) fn metrics(&self) -> impl Fn() -> String + Send + Sync + 'static {
        let tracer = self.tracer();
        let dropped = self.access_log.as_ref().map(AccessLog::dropped);
        move || {
            let mut page = String::new();
            let mut line = |name: &str, help: &str, value: u64| {
                let written = writeln!(page, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}");
                written.expect("a String takes all text");
            };
            if let Some(tracer) = &tracer {
                line("trunkline_spans_total", "Spans recorded.", tracer.recorded());
                line("trunkline_spans_dropped_total", "Spans that could not be sent.", tracer.dropped());
            }
            if let Some(dropped) = &dropped {
                let help = "Lines that could not be written.";
                line(
                    "trunkline_access_log_dropped_total",
                    help,
                    dropped.load(std::sync::atomic::Ordering::Relaxed),
                );
            }
            page
        }
    }

    /// Sends and writes what is left, within a bound.
    pub(crate) async fn finish(self) {
        if let Some(export) = self.export {
            export.finish().await;
        }
        if let Some(log) = self.access_log {
            log.finish().await;
        }
    }
}
