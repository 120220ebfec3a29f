//! Telemetry: traces to a collector, and an access log.
//!
//! Neither blocks a call: a call puts a small value into a bounded queue, and a background task or
//! thread sends or writes it. Values that find the queue full are dropped and counted.

mod access_log;
mod args;
mod export;
mod head_otlp;
mod head_syslog;
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
pub(crate) use head_otlp::otlp_sink;
pub(crate) use head_syslog::SyslogTarget;
pub(crate) use settings::TraceSettings;

/// Traces and access log of one process.
#[derive(Debug)]
pub(crate) struct Telemetry {
    export: Option<Export>,
    access_log: Option<AccessLog>,
}

/// The telemetry part of the configuration.
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
    /// Starts the telemetry that options, environment and configuration enable. Must be called
    /// within a tokio runtime.
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

    /// Receives access records; `wire::stack` passes the hook to all layers that write them.
    pub(crate) fn access_hook(&self) -> Option<AccessHook> {
        self.access_log.as_ref().map(AccessLog::hook)
    }

    /// Counters of exported and lost spans and lines, in the Prometheus text format.
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

    /// Flushes spans and lines, within a time limit.
    pub(crate) async fn finish(self) {
        if let Some(export) = self.export {
            export.finish().await;
        }
        if let Some(log) = self.access_log {
            log.finish().await;
        }
    }
}
