//! The tracer: samples traces, and queues spans without blocking.

use super::Span;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tokio::sync::mpsc;
use trunkline_protocol::message::{Sampled, TraceParent};
use uuid::Uuid;

/// Default length of the queue.
const DEFAULT_QUEUE: usize = 4096;

/// 2^56: the last 56 bits of every trace id are random.
const ALL: u128 = 1 << 56;

/// Sampling and queue size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TraceOptions {
    /// The share of traces beginning here that are recorded, from 0 to 1. Traces that began
    /// elsewhere keep the sampling decision made there.
    pub ratio: f64,
    /// Most queued spans; further ones are dropped and counted.
    pub queue: usize,
}

/// Records spans. Clones share everything.
#[derive(Debug, Clone)]
pub struct Tracer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// A trace is recorded if the random part of its id is below this.
    below: u128,
    queue: mpsc::Sender<Span>,
    recorded: AtomicU64,
    dropped: AtomicU64,
}

/// The receiving end of the queue. It ends when all tracers are dropped.
#[derive(Debug)]
pub struct Spans {
    queue: mpsc::Receiver<Span>,
}

/// A tracer, and the receiving end of its queue.
pub fn tracer(options: TraceOptions) -> (Tracer, Spans) {
    let (sender, queue) = mpsc::channel(options.queue.max(1));
    let counters = (AtomicU64::new(0), AtomicU64::new(0));
    let inner =
        Inner { below: below(options.ratio), queue: sender, recorded: counters.0, dropped: counters.1 };
    (Tracer(Arc::new(inner)), Spans { queue })
}

impl Tracer {
    /// Spans that were queued, sent or not.
    pub fn recorded(&self) -> u64 {
        self.0.recorded.load(Ordering::Relaxed)
    }

    /// Spans that were dropped because the queue was full, or that could not be sent.
    pub fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }

    /// Counts spans that were taken from the queue and could not be sent.
    pub fn lost(&self, spans: u64) {
        self.0.dropped.fetch_add(spans, Ordering::Relaxed);
    }

    /// The context of a span below `parent`, or of the first span of a new trace.
    pub(super) fn next(&self, parent: Option<TraceParent>) -> TraceParent {
        let Some(parent) = parent else {
            let id = Uuid::new_v4().into_bytes();
            let drawn = u128::from_be_bytes(id) % ALL;
            let sampled = if drawn < self.0.below { Sampled::Yes } else { Sampled::No };
            return TraceParent::root(id, span_id(), sampled);
        };
        parent.child(span_id())
    }

    pub(super) fn record(&self, span: Span) {
        self.0.recorded.fetch_add(1, Ordering::Relaxed);
        if self.0.queue.try_send(span).is_err() {
            self.0.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Spans {
    /// Waits for spans and takes at most `limit` of them; returns none when all tracers are
    /// dropped.
    pub async fn next_batch(&mut self, limit: usize) -> Vec<Span> {
        let mut batch = Vec::new();
        self.queue.recv_many(&mut batch, limit).await;
        batch
    }

    /// Takes at most `limit` queued spans without waiting.
    pub fn take(&mut self, limit: usize) -> Vec<Span> {
        std::iter::from_fn(|| self.queue.try_recv().ok()).take(limit).collect()
    }
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self { ratio: 1.0, queue: DEFAULT_QUEUE }
    }
}

/// The last eight bytes of a UUID; the first of them is never zero.
fn span_id() -> [u8; 8] {
    let [_, _, _, _, _, _, _, _, id @ ..] = Uuid::new_v4().into_bytes();
    id
}

fn below(ratio: f64) -> u128 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "the ratio is held between 0 and 1, and 2^56 has an exact float"
    )]
    let bound = (ratio.clamp(0.0, 1.0) * ALL as f64) as u128;
    bound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_decides_about_traces_that_begin_here_and_about_no_others() {
        let share = |ratio| {
            let (tracer, _spans) = tracer(TraceOptions { ratio, ..TraceOptions::default() });
            (0..4000).filter(|_| tracer.next(None).is_sampled()).count()
        };
        assert_eq!((share(0.0), share(1.0)), (0, 4000));
        assert!((800..1200).contains(&share(0.25)), "far outside of random variation");
        let (none, _spans) = tracer(TraceOptions { ratio: 0.0, ..TraceOptions::default() });
        let parent = TraceParent::root([7; 16], [8; 8], Sampled::Yes);
        let child = none.next(Some(parent));
        assert!(child.is_sampled() && child.trace_id == [7; 16] && child.span_id != [8; 8]);
    }
}
