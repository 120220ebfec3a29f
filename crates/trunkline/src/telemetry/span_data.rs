//! Converts our spans to those of the OpenTelemetry SDK.

use opentelemetry::{
    InstrumentationScope, KeyValue,
    trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId},
};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use trunkline_gateway::trace::{Side, Span};

pub(super) fn span_data(span: &Span, scope: &InstrumentationScope) -> SpanData {
    // An unparsable `tracestate` is left out of the export, but still forwarded unchanged in
    // calls.
    let trace_state = span.trace_state.as_deref().and_then(|text| text.parse().ok()).unwrap_or_default();
    let context = SpanContext::new(
        TraceId::from_bytes(span.trace_id),
        SpanId::from_bytes(span.span_id),
        TraceFlags::new(span.flags),
        false,
        trace_state,
    );
    SpanData {
        span_context: context,
        parent_span_id: span.parent.map_or(SpanId::INVALID, SpanId::from_bytes),
        parent_span_is_remote: span.parent.is_some() && span.side == Side::Server,
        span_kind: if span.side == Side::Server { SpanKind::Server } else { SpanKind::Client },
        name: span.name().into(),
        start_time: span.started,
        end_time: span.started + span.took,
        attributes: span.attributes().into_iter().map(|(name, value)| KeyValue::new(name, value)).collect(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: span.ending.description().map_or(Status::Unset, Status::error),
        instrumentation_scope: scope.clone(),
    }
}
