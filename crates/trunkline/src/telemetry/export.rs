//! Exports spans to a collector, over OTLP with our own HTTP client.

use super::{TraceSettings, span_data::span_data};
use crate::failure::Failure;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_http::{HttpClient as OtlpClient, HttpError};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{Resource, trace::SpanExporter as _};
use std::time::Duration;
use tokio::{sync::watch, task::JoinHandle};
use trunkline_gateway::trace::{Span, Spans, TraceOptions, Tracer, tracer};
use trunkline_transport::{
    body,
    http::{HttpClient, HttpOptions, Target},
};

/// Maximum number of spans per batch.
const BATCH: usize = 512;
/// Maximum time that a span waits for its batch to fill.
const GATHER: Duration = Duration::from_secs(1);
/// Time limit for the final flush.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum size of a collector's response.
const ANSWER_LIMIT: usize = 64 * 1024;

/// Handle of the export task.
#[derive(Debug)]
pub(super) struct Export {
    tracer: Tracer,
    stop: watch::Sender<Go>,
    sending: JoinHandle<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Go {
    On,
    ToTheEnd,
}

impl Export {
    /// Starts the export in the background.
    pub(super) fn start(settings: TraceSettings) -> Result<Self, Failure> {
        let options = TraceOptions { ratio: settings.ratio, ..TraceOptions::default() };
        let exporter = exporter(settings)?;
        let (tracer, spans) = tracer(options);
        let (stop, told) = watch::channel(Go::On);
        let sender = Sender { exporter, tracer: tracer.clone(), scope: scope(), failing: false };
        Ok(Self { tracer, stop, sending: tokio::spawn(sender.run(spans, told)) })
    }

    pub(super) fn tracer(&self) -> &Tracer {
        &self.tracer
    }

    /// Sends the remaining spans, at most for `FLUSH_TIMEOUT`.
    pub(super) async fn finish(self) {
        self.stop.send_replace(Go::ToTheEnd);
        let aborting = self.sending.abort_handle();
        if tokio::time::timeout(FLUSH_TIMEOUT, self.sending).await.is_err() {
            aborting.abort();
            tracing::warn!("the last spans could not be exported in time");
        }
    }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("trunkline").with_version(env!("CARGO_PKG_VERSION")).build()
}

fn exporter(settings: TraceSettings) -> Result<SpanExporter, Failure> {
    let options = HttpOptions { head_timeout: Some(settings.timeout), ..HttpOptions::default() };
    let client = HttpClient::new(options).map_err(|error| Failure::usage(error.to_string()))?;
    let mut exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Carrier { client, timeout: settings.timeout })
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(settings.endpoint)
        .with_headers(settings.headers)
        .with_timeout(settings.timeout)
        .build()
        .map_err(|error| Failure::usage(format!("traces cannot be sent: {error}")))?;
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let resource = Resource::builder_empty().with_service_name(settings.service_name).with_attribute(version);
    exporter.set_resource(&resource.build());
    Ok(exporter)
}

struct Sender {
    exporter: SpanExporter,
    tracer: Tracer,
    scope: InstrumentationScope,
    /// True if the last batch failed, so that an unreachable collector is reported only once.
    failing: bool,
}

impl Sender {
    async fn run(mut self, mut spans: Spans, mut told: watch::Receiver<Go>) {
        loop {
            let mut batch = tokio::select! {
                batch = spans.next_batch(BATCH) => batch,
                _ = told.wait_for(|go| *go == Go::ToTheEnd) => break,
            };
            if batch.is_empty() {
                return;
            }
            if batch.len() < BATCH {
                tokio::select! {
                    () = tokio::time::sleep(GATHER) => {}
                    _ = told.wait_for(|go| *go == Go::ToTheEnd) => {}
                }
                batch.extend(spans.take(BATCH - batch.len()));
            }
            self.send(&batch).await;
        }
        loop {
            let batch = spans.take(BATCH);
            if batch.is_empty() {
                return;
            }
            self.send(&batch).await;
        }
    }

    async fn send(&mut self, batch: &[Span]) {
        let spans = batch.iter().map(|span| span_data(span, &self.scope)).collect();
        match self.exporter.export(spans).await {
            Ok(()) => self.failing = false,
            Err(error) => {
                self.tracer.lost(batch.len() as u64);
                if !self.failing {
                    tracing::warn!(%error, spans = batch.len(), "spans could not be sent; further failures are only counted");
                }
                self.failing = true;
            }
        }
    }
}

/// Adapts our HTTP client to the exporter's interface.
#[derive(Debug)]
struct Carrier {
    client: HttpClient,
    timeout: Duration,
}

impl OtlpClient for Carrier {
    fn send_bytes<'a, 'async_trait>(
        &'a self,
        request: Request<Bytes>,
    ) -> BoxFuture<'async_trait, Result<Response<Bytes>, HttpError>>
    where
        'a: 'async_trait,
        Self: 'async_trait,
    {
        let (client, timeout) = (self.client.clone(), self.timeout);
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let target = Target::parse(&head.uri.to_string())?;
            let (head, body) = client.send(head.method, &target, head.headers, body).await?.into_parts();
            let body = tokio::time::timeout(timeout, body::read(body, ANSWER_LIMIT)).await??;
            Ok(Response::from_parts(head, body))
        })
    }
}
