//! Traces: each call as a step of a trace that may have begun elsewhere (W3C Trace Context in `_meta`).
//!
//! [`Traced`] stands twice in the way of a call. At the door it makes the *server* span and puts its id into
//! `_meta.traceparent`; before an upstream ([`connect`]) it makes the *client* span below that, and the upstream sees its id. So
//! the links are in the messages themselves, and nothing else has to be handed through. `tracestate` and `baggage` travel as they came.
//!
//! Whether a trace is recorded is decided where it begins, and everybody after that follows. Without a [`Tracer`] messages pass
//! untouched. What is recorded is a small [`Span`] in a bounded queue; another task takes it from [`Spans`] and sends it.

mod connect;
mod conventions;
mod open_span;
mod span;
#[cfg(test)]
mod tests;
mod traced;
mod tracer;

pub use connect::connect;
pub use span::{About, Ending, Side, Span};
pub use traced::Traced;
pub use tracer::{Spans, TraceOptions, Tracer, tracer};
