//! Traces: each call becomes a span of a trace that may have begun elsewhere (W3C Trace Context in
//! `_meta`).
//!
//! A call passes [`Traced`] twice. In front of the gateway it opens the *server* span and writes
//! its id into `_meta.traceparent`; around a session ([`Traced::session`]) it opens the *client*
//! span below that, and the upstream sees its id. The messages themselves carry the link between
//! spans. `tracestate` and `baggage` are not changed.
//!
//! Sampling is decided where the trace begins; later hops follow. Without a [`Tracer`] messages
//! are not changed. A recorded [`Span`] goes into a bounded queue; another task takes it from
//! [`Spans`] and sends it.

mod conventions;
mod open_span;
mod span;
#[cfg(test)]
mod tests;
mod traced;
mod tracer;

pub use span::{About, Ending, Side, Span};
pub use traced::Traced;
pub use tracer::{Spans, TraceOptions, Tracer, tracer};
